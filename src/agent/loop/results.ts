import type { ToolResultPart } from 'ai'
import { messageOf, SkillrailError } from '#core/errors'
import { isObject, type JsonObject, type JsonValue } from '#core/json'
import type { RequestedCall } from './sdk.ts'

/** What came of a call: for events, and as the model reads it. */
export interface Answer {
  output: JsonValue
  text: string
  isError: boolean
  pictures?: readonly Picture[] | undefined
}

/** As MCP writes one; `data` is base64. */
interface Picture {
  type: 'image'
  mimeType: string
  data: string
}

function isPicture(value: JsonValue): value is JsonObject & Picture {
  if (!isObject(value) || value['type'] !== 'image') return false
  return typeof value['data'] === 'string' && typeof value['mimeType'] === 'string'
}

/** `name` is the one that goes into the history. */
export type AnsweredCall = Answer & Pick<RequestedCall, 'id' | 'name' | 'input'>

export function resultPart({ id, name, ...answer }: AnsweredCall): ToolResultPart {
  return { type: 'tool-result', toolCallId: id, toolName: name, output: modelOutput(answer) }
}

export function modelOutput({ text, isError, pictures = [] }: Answer): ToolResultPart['output'] {
  if (pictures.length === 0) return { type: isError ? 'error-text' : 'text', value: text }
  const files = pictures.map(({ mimeType: mediaType, data }) => {
    return { type: 'file' as const, mediaType, data: { type: 'data' as const, data } }
  })
  return { type: 'content', value: [{ type: 'text', text }, ...files] }
}

/** Cut instructions of a skill would be worse than none: they stay whole. */
export function answerOf(output: JsonValue, isWhole = false): Answer {
  const all = Array.isArray(output) ? output : [output]
  const pictures = all.filter(isPicture)
  if (pictures.length > 0) {
    // Whoever looks at events and texts wants to know of a picture, not to read it.
    const shown = all.map((one) =>
      isPicture(one) ? { type: 'image', mimeType: one.mimeType } : one,
    )
    return { ...answerOf(shown, isWhole), pictures }
  }
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  if (isWhole || text.length <= longestResult) return { output, text, isError: false }
  const cut = cutText(text)
  return { output: cut, text: cut, isError: false }
}

export function failure(sentence: string): Answer {
  const text = cutText(sentence.startsWith('Error: ') ? sentence : `Error: ${sentence}`)
  return { output: text, text, isError: true }
}

/** What a model is told of an error: its message, and the hint of one of ours. */
export function failureText(error: unknown): string {
  const message = messageOf(error) || 'the tool failed and did not say why.'
  return error instanceof SkillrailError ? `${message} ${error.hint ?? ''}`.trim() : message
}

const longestResult = 50_000

/** Keeps the beginning and the end, and says in between how much is missing. */
export function cutText(text: string): string {
  if (text.length <= longestResult) return text
  const tail = Math.floor(longestResult / 5)
  const notice = `[${text.length - longestResult} of ${text.length} characters were left out here: the result is too long. Ask for less.]`
  // A cut through a character of two code units leaves half of it.
  const start = text.slice(0, longestResult - tail).replace(/[\uD800-\uDBFF]$/, '')
  const end = text.slice(-tail).replace(/^[\uDC00-\uDFFF]/, '')
  return `${start}\n${notice}\n${end}`
}
