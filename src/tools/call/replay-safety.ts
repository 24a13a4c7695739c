import { readsOnly } from '../cache/reads-only.ts'
import type { ToolDefinition } from '../model.ts'
import { matchesName } from './name-pattern.ts'
import type { RetrySettings } from './retry-policy.ts'

/**
 * Whether a call may be made again after it may have had its effect: the user's word first, then
 * the hints of a trusted server, then a verb that only reads.
 */
export function isReplaySafe(
  tool: Pick<ToolDefinition, 'id' | 'name' | 'annotations'>,
  trusted: boolean,
  settings: Pick<RetrySettings, 'replaySafe' | 'neverReplay'>,
): boolean {
  if (settings.neverReplay.some((pattern) => matchesName(pattern, tool.id))) return false
  if (settings.replaySafe.some((pattern) => matchesName(pattern, tool.id))) return true
  if (trusted && tool.annotations?.idempotentHint === true) return true
  return readsOnly(tool, trusted)
}
