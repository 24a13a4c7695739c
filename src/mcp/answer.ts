import { messageOf, safeText, SkillrailError } from '../base/index.ts'
import type { JsonObject } from '../tools/index.ts'
import type { ToolAnswer } from './model.ts'

/** The answer of a call as the protocol has it. */
export interface CallResult {
  content: { type: 'text'; text: string }[]
  structuredContent?: JsonObject
  isError?: boolean
  [key: string]: unknown
}

export function resultOf({ text, notes = [], value, isError }: ToolAnswer): CallResult {
  const texts = notes.length === 0 ? [text] : [notes.join('\n'), text]
  return {
    content: texts.map((one) => ({ type: 'text', text: one })),
    ...(value === undefined ? {} : { structuredContent: value }),
    ...(isError === true ? { isError } : {}),
  }
}

/** What a model reads of a call that was refused or failed: what was wrong, and what to do. */
export function failureResult(error: unknown): CallResult {
  return resultOf({ text: failureText(error), isError: true })
}

export function failureText(error: unknown): string {
  if (!(error instanceof SkillrailError)) return safeText(`Error: ${messageOf(error)}`)
  const { code, message, hint, diagnostics } = error
  const lines = [
    message.startsWith('Error: ') ? message : `Error: ${message}`,
    ...diagnostics.slice(0, 20).map((one) => `${one.path}: ${one.message}`),
    ...(hint === undefined ? [] : [hint]),
    `[${code}]`,
  ]
  return safeText(lines.join('\n'))
}
