import type { TestedClient } from './cache.ts'

/**
 * `SKILLRAIL_TEST_CLIENTS=short`, for continuous integration: in clients that start slowly, only the hook, the package
 * and a rail are tried. Without it every case is tried.
 */
export const isShort = process.env['SKILLRAIL_TEST_CLIENTS'] === 'short'

/** A start of one of these costs 2 to 11 s of processor time, one of the others 1 to 2 s. */
const slow: ReadonlySet<string> = new Set<TestedClient>(['copilot', 'gemini', 'opencode', 'qwen'])

/** Whether a test with many cases, or with many starts of a client, is tried in this client. */
export function isTried(client: string): boolean {
  return !isShort || !slow.has(client)
}
