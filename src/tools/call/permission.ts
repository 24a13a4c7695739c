import { readsOnly } from '../cache/tool-index.ts'
import type { ToolDefinition, ToolSummary } from '../model.ts'
import type { RetrySettings } from './attempts.ts'
import type { CallContext } from './context.ts'
import { ToolRefusedError } from './errors.ts'

/**
 * Refuses a tool that its server's configuration does not allow, and one that is held back. Throws
 * {@link ToolRefusedError}.
 */
export function refuseForbidden(tool: ToolSummary, context: CallContext): void {
  const { allow, deny } = context.rules(tool.server)
  const isNamed = (patterns: readonly string[]): boolean =>
    patterns.some((pattern) => matchesName(pattern, tool.name) || matchesName(pattern, tool.id))
  const isAllowed = allow === undefined || isNamed(allow)
  if (!isAllowed || isNamed(deny ?? [])) {
    throw new ToolRefusedError({
      code: 'tool-denied',
      message: `the configuration of ${tool.server} does not allow ${tool.name}`,
      hint: 'Change the allow and deny lists of the server to call it.',
    })
  }
  refuseHeld(tool, context)
}

/** @throws {ToolRefusedError} for a tool that waits for a user's second look */
export function refuseHeld(tool: ToolSummary, context: CallContext): void {
  const held = context.hold?.(tool)
  if (held !== undefined) throw new ToolRefusedError({ code: 'tool-held-back', ...held })
}

/**
 * Whether a call may be made again after it may have had its effect: the user's settings first,
 * then the hints of a trusted server, then a verb that only reads.
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

/** Whether the name is the pattern, in which `*` stands for any characters. Linear. */
function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first) || name.length < first.length + last.length) return false
  let from = first.length
  const end = name.length - last.length
  for (const part of rest) {
    const found = name.indexOf(part, from)
    if (found < 0 || found + part.length > end) return false
    from = found + part.length
  }
  return name.endsWith(last)
}
