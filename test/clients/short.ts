import type { TestedClient } from './cache.ts'

/**
 * `SKILLRAIL_TEST_CLIENTS=short`, for continuous integration: in clients that start slowly, only the hook, the package
 * and a rail are tried, and of each table of cases the first for Copilot CLI. Without it every case is tried.
 */
export const isShort = process.env['SKILLRAIL_TEST_CLIENTS'] === 'short'

/** A start of one of these costs 4 to 11 s of processor time, one of Copilot CLI 2 to 5 s, one of the others 1 to 2 s. */
const slow: ReadonlySet<string> = new Set<TestedClient>(['gemini', 'opencode', 'qwen'])

/** Whether a test with many cases, or with many starts of a client, is tried in this client. */
export function isTried(client: string): boolean {
  return !isShort || !slow.has(client)
}

/** The rows of a table that are tried. */
export function rowsToTry<Row>(rows: readonly Row[], clientOf: (row: Row) => string): Row[] {
  const tried = rows.filter((row) => isTried(clientOf(row)))
  if (!isShort) return tried
  const ofCopilot = tried.filter((row) => clientOf(row) === 'copilot')
  return tried.filter((row) => !ofCopilot.slice(1).includes(row))
}
