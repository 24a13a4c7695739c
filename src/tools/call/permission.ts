import type { ToolSummary } from '../model.ts'
import type { CallContext } from './context.ts'
import { ToolRefusedError } from './errors.ts'
import { matchesName } from './name-pattern.ts'

/**
 * Refuses a tool that its server's configuration does not allow, and one that is held back.
 *
 * @throws {ToolRefusedError}
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

/** @throws {ToolRefusedError} for a tool that waits for a person's second look */
export function refuseHeld(tool: ToolSummary, context: CallContext): void {
  const held = context.hold?.(tool)
  if (held !== undefined) throw new ToolRefusedError({ code: 'tool-held-back', ...held })
}
