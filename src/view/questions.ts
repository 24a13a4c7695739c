import type { Ancestry } from '#core/agent-ancestry'
import { isObject } from '#core/json'
import { redactText, redactValue } from '#core/redact'
import { safeText } from '#core/text'
import { UsageError, type Diagnostic } from '#core/errors'

export interface Failure {
  error: { code: string; message: string; hint?: string | undefined }
  diagnostics?: readonly Diagnostic[] | undefined
}

/** The fields of a question. A missing text is empty, a missing number is 0. */
export interface QuestionFields {
  text(name: string): string
  number(name: string): number
}

/** The program that asks. */
export interface Caller {
  /** Whether an agent client has started it. Looks at the processes of this machine. */
  ancestry(): Ancestry
}

/** @throws {UsageError} when a field with another type is read. */
export function questionFields(body: unknown): QuestionFields {
  const fields = isObject(body) ? body : {}
  return {
    text(name) {
      const value = fields[name] ?? ''
      if (typeof value === 'string') return value
      throw wrongField(name, 'a text')
    },
    number(name) {
      const value = fields[name] ?? 0
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
      throw wrongField(name, 'a whole number from 0')
    },
  }
}

export function wrongField(name: string, expected: string): UsageError {
  return new UsageError({ code: 'question-malformed', message: `${name} must be ${expected}` })
}

/** A copy for the page: secrets masked, invisible characters made visible, in all strings. */
export function forPage(value: unknown): unknown {
  return made(redactValue(value))
}

function made(value: unknown): unknown {
  if (typeof value === 'string') return safeText(value)
  if (Array.isArray(value)) return value.map(made)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [safeText(key), made(item)]))
}

export function shownText(text: string): string {
  return safeText(redactText(text))
}

export interface TextAnswer {
  text: string
  /** Of the whole text, in characters. */
  size: number
  /** Where the next piece begins; undefined at the end. */
  next?: number | undefined
}

/** Characters of a long text that are sent at once. */
const pieceSize = 65_536

/** A piece of a text for the page; secrets are masked before the text is cut. */
export function textPiece(text: string, from: number): TextAnswer {
  const whole = shownText(text)
  const end = from + pieceSize
  const next = end < whole.length ? end : undefined
  return { text: whole.slice(from, end), size: whole.length, next }
}
