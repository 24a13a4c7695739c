import { UsageError } from './errors.ts'
import { cell } from './text.ts'

interface Range {
  least: number
  most: number
}

/** Tokens of an option `--budget`. */
export const budgetRange: Range = { least: 0, most: 999_999_999 }

/** The value of an option that takes a whole number, which is written in digits alone. */
export function wholeNumber(option: string, text: string, { least, most }: Range): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  throw notWanted(option, text, `a whole number from ${least} to ${most}`)
}

/**
 * The milliseconds of an option that takes seconds, whole ones or not: a whole number, at least 1, as
 * timers want it.
 * @throws {UsageError} for a text that is not such a number.
 */
export function milliseconds(option: string, text: string): number {
  const number = Number(text)
  if (/^\d+(?:\.\d+)?$/.test(text) && number > 0 && number <= longestSeconds) {
    return Math.max(1, Math.round(number * 1000))
  }
  throw notWanted(option, text, `a number of seconds above 0, at most ${longestSeconds},`)
}

/** What a timer of the platform takes. */
const longestSeconds = 2_147_483

function notWanted(option: string, text: string, wanted: string): UsageError {
  const given = text.trim() === '' ? 'empty' : cell(text, 40)
  const message = `${option} is ${given}; expected ${wanted}`
  return new UsageError({ code: 'option-number', message })
}

/** The names of an option that takes several, separated by commas; an empty text has none. */
export function commaNames(text: string): string[] {
  return text.split(',').flatMap((name) => name.trim() || [])
}
