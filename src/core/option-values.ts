import { UsageError } from './errors.ts'
import { cell } from './text.ts'

interface Range {
  least: number
  most: number
}

/** The tokens of an option `--budget`. */
export const budgetRange: Range = { least: 0, most: 999_999_999 }

/** Returns the value of an option for a whole number, which must consist of digits. */
export function wholeNumber(option: string, text: string, { least, most }: Range): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  throw unexpectedValue(option, text, `a whole number from ${least} to ${most}`)
}

/**
 * Returns the milliseconds of an option in seconds, with or without a fraction: a whole number of at least
 * 1, as timers require.
 * @throws {UsageError} for any other text.
 */
export function milliseconds(option: string, text: string): number {
  const number = Number(text)
  if (/^\d+(?:\.\d+)?$/.test(text) && number > 0 && number <= longestSeconds) {
    return Math.max(1, Math.round(number * 1000))
  }
  throw unexpectedValue(option, text, `a number of seconds above 0, at most ${longestSeconds}`)
}

/** The maximum of the platform's timers. */
const longestSeconds = 2_147_483

function unexpectedValue(option: string, text: string, expected: string): UsageError {
  const actual = text.trim() === '' ? 'empty' : cell(text, 40)
  const message = `${option} is ${actual}; expected ${expected}`
  return new UsageError({ code: 'option-number', message })
}

/** Returns the comma-separated names of an option; an empty text has none. */
export function commaNames(text: string): string[] {
  return text.split(',').flatMap((name) => name.trim() || [])
}
