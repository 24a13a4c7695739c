import type { ToolResultPart } from 'ai'
import { messageOf, SkillrailError } from '#core/errors'
import { isObject, type JsonObject, type JsonValue } from '#core/json'
import type { RequestedCall } from './sdk.ts'

/** The result of a call: `output` for events, `text` and `pictures` for the model. */
export interface Answer {
  output: JsonValue
  text: string
  isError: boolean
  pictures?: readonly Picture[] | undefined
}

/** A picture in the form of MCP; `data` is base64. */
interface Picture {
  type: 'image'
  mimeType: string
  data: string
}

function isPicture(value: JsonValue): value is JsonObject & Picture {
  if (!isObject(value) || value['type'] !== 'image') return false
  return typeof value['data'] === 'string' && typeof value['mimeType'] === 'string'
}

/** `name` is the name in the conversation. */
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

/** @param keepsLength for the instructions of a skill, which must not be cut. */
export function answerOf(output: JsonValue, keepsLength = false): Answer {
  const values = Array.isArray(output) ? output : [output]
  const pictures = values.filter(isPicture)
  if (pictures.length > 0) {
    // Events and texts mention a picture without its data.
    const withoutData = values.map((value) =>
      isPicture(value) ? { type: 'image', mimeType: value.mimeType } : value,
    )
    return { ...answerOf(withoutData, keepsLength), pictures }
  }
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  if (keepsLength || text.length <= longestResult) return { output, text, isError: false }
  const shortText = cutMiddle(text)
  return { output: shortText, text: shortText, isError: false }
}

export function failure(sentence: string): Answer {
  const text = cutMiddle(sentence.startsWith('Error: ') ? sentence : `Error: ${sentence}`)
  return { output: text, text, isError: true }
}

/** Returns the text of an error for the model: the message, and the hint of a Skillrail error. */
export function failureText(error: unknown): string {
  const message = messageOf(error) || 'the tool failed and did not say why.'
  return error instanceof SkillrailError ? `${message} ${error.hint ?? ''}`.trim() : message
}

const longestResult = 50_000

/** Keeps the beginning and the end of a long text, with a notice of what is missing in between. */
export function cutMiddle(text: string): string {
  if (text.length <= longestResult) return text
  const tail = Math.floor(longestResult / 5)
  const notice = `[${text.length - longestResult} of ${text.length} characters were left out here: the result is too long. Ask for less.]`
  // A cut can leave half of a character that has two code units.
  const start = text.slice(0, longestResult - tail).replace(/[\uD800-\uDBFF]$/, '')
  const end = text.slice(-tail).replace(/^[\uDC00-\uDFFF]/, '')
  return `${start}\n${notice}\n${end}`
}
