import type { ToolCall } from '#trigger/tool-call'

// What is denied where guards apply that nobody can read. The hook loads nothing else for it, so that a part
// of the hook that fails denies the same.

/** While a rail starts, its guards are unknown: commands and MCP tools are denied. */
export function denialAtStart(call: ToolCall | undefined, chain: string): string | undefined {
  if (!mayBeGuarded(call)) return undefined
  return `The chain \`${chain}\` is still starting, so commands and MCP tools are denied. End your turn; then you get the first step.`
}

/** Without its state, a rail's guards are unknown: commands and MCP tools are denied. */
export function denialWithoutState(
  call: ToolCall | undefined,
  { path, reason }: { path: string; reason: string },
): string | undefined {
  if (!mayBeGuarded(call)) return undefined
  return `The state of a rail cannot be read (${path}: ${reason}), so commands and MCP tools are denied. A user can delete that file to end the rail.`
}

/** The same for a record of guards that always apply. */
export function denialWithoutRecord(
  call: ToolCall | undefined,
  { path, reason }: { path: string; reason: string },
): string | undefined {
  if (!mayBeGuarded(call)) return undefined
  return `The guards that a user accepted cannot be read (${path}: ${reason}), so commands and MCP tools are denied. A user can write them again with: skillrail trust`
}

/** A shell line with a patch is an edit, but the same line can run commands. */
function mayBeGuarded(call: ToolCall | undefined): boolean {
  return call === undefined || call.kind === 'shell' || call.command !== ''
}
