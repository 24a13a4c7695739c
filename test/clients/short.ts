import type { TestedClient } from './cache.ts'

/**
 * `SKILLRAIL_TEST_CLIENTS=short`, for continuous integration: every table of cases is tried in each
 * client, and completely in those that start fast. Without it every case is tried.
 */
export const isShort = process.env['SKILLRAIL_TEST_CLIENTS'] === 'short'

/** A start of one of these costs 2 to 11 s of processor time, one of the others 1 to 2 s. */
const slow: ReadonlySet<string> = new Set<TestedClient>(['copilot', 'gemini', 'opencode', 'qwen'])

export function isSlow(client: string): boolean {
  return slow.has(client)
}

/** All rows; in a short run, only the first row of each slow client. */
export function rowsToTry<Row>(rows: readonly Row[], clientOf: (row: Row) => string): Row[] {
  if (!isShort) return [...rows]
  const seen = new Set<string>()
  return rows.filter((row) => {
    const client = clientOf(row)
    const isFirst = !seen.has(client)
    seen.add(client)
    return isFirst || !isSlow(client)
  })
}
