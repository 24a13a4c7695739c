import type { ToolDefinition } from '../tools/index.ts'

/** What the server says of the tool, in words. */
export function hintText(definition: ToolDefinition | undefined): string {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } =
    definition?.annotations ?? {}
  return [
    named(readOnlyHint, 'reads only', 'writes'),
    named(destructiveHint, 'may destroy', 'destroys nothing'),
    named(idempotentHint, 'may be repeated', 'acts each time'),
    named(openWorldHint, 'reaches outside', 'stays local'),
  ]
    .filter((text) => text !== undefined)
    .join(', ')
}

function named(hint: boolean | undefined, yes: string, no: string): string | undefined {
  if (hint === undefined) return undefined
  return hint ? yes : no
}
