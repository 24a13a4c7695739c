import type { ServerDefinition } from '../config/model.ts'
import { ToolNotAllowedError } from './errors.ts'

/** Whether the configuration of the server lets a tool be seen and called; `deny` beats `allow`. */
export function allowsTool(
  { allow, deny }: Pick<ServerDefinition, 'allow' | 'deny'>,
  tool: string,
): boolean {
  return (allow === undefined || allow.includes(tool)) && deny?.includes(tool) !== true
}

/** @throws {ToolNotAllowedError} */
export function requireAllowed(definition: ServerDefinition, tool: string): void {
  if (allowsTool(definition, tool)) return
  const { name, source } = definition
  throw new ToolNotAllowedError(
    {
      kind: 'tool-not-found',
      message: `The tool ${tool} of the server ${name} may not be called: its configuration in ${source.path} does not allow it`,
      delivered: 'no',
    },
    { code: 'tool-not-allowed', hint: 'Change the lists of enabled or disabled tools there.' },
  )
}
