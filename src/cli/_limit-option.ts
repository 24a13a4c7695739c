import { UsageError } from '../base/index.ts'

/** The value of `--limit`: a whole number from 1 to 1,000. */
export function readLimit(text: string): number {
  const limit = Number(text)
  if (/^\d{1,4}$/.test(text) && limit >= 1 && limit <= 1_000) return limit
  throw new UsageError({
    code: 'limit',
    message: `--limit is ${text}; a whole number from 1 to 1000 is wanted`,
  })
}
