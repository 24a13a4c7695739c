import type { ClientName } from './client-folders.ts'
import { fitsText } from './fits-text.ts'

/** How a client joins the names of a server and of its tool. */
interface NameForm {
  prefix: string
  separator: string
}

/** `mcp__SERVER__TOOL`: the form of most clients, and the one in which a skill names MCP tools. */
const usualForm: NameForm = { prefix: 'mcp__', separator: '__' }

/** Clients with another form; seen with the real clients. */
const otherForms: Partial<Record<ClientName, NameForm>> = {
  copilot: { prefix: '', separator: '-' },
  gemini: { prefix: 'mcp_', separator: '_' },
  opencode: { prefix: '', separator: '_' },
}

function formOf(client: ClientName | undefined): NameForm {
  return (client && otherForms[client]) ?? usualForm
}

/** Returns the form of a client's names of MCP tools, for a message. */
export function mcpNameForm(client?: ClientName): string {
  const { prefix, separator } = formOf(client)
  return `${prefix}SERVER${separator}TOOL`
}

/** The server and the tool of `mcp__SERVER__TOOL`; `mcp__SERVER` means every tool of the server. */
export interface McpPattern {
  server: string
  tool: string
}

/** Returns the parts of a pattern for MCP tools, in which `*` means any characters; undefined for another text. */
export function readMcpPattern(pattern: string): McpPattern | undefined {
  const [prefix, server = '', ...rest] = pattern.split('__')
  if (prefix !== 'mcp') return undefined
  return { server, tool: rest.length === 0 ? '*' : rest.join('__') }
}

/**
 * Whether a tool, as a client names it, fits a pattern.
 *
 * @param client default: one that names tools as the pattern does
 */
export function fitsMcpPattern(
  name: string,
  { server, tool }: McpPattern,
  client?: ClientName,
): boolean {
  const { prefix, separator } = formOf(client)
  return fitsText(foldToolName(name), foldToolName(`${prefix}${server}${separator}${tool}`))
}

/** Returns the name that a client gives to a tool. */
export function mcpName({ server, tool }: McpPattern, client?: ClientName): string {
  const { prefix, separator } = formOf(client)
  return `${prefix}${server}${separator}${tool}`.replaceAll(/[^\w.-]/g, '_')
}

/** Whether the name of a tool has the form that the client gives to MCP tools. */
export function mayBeMcpName(name: string, client?: ClientName): boolean {
  return mcpReadings(name, client).length > 0
}

/**
 * Returns what a client's name of an MCP tool can mean. There is more than one reading if the names contain
 * what separates them.
 */
export function mcpReadings(name: string, client?: ClientName): McpPattern[] {
  const { prefix, separator } = formOf(client)
  if (!name.startsWith(prefix)) return []
  const suffix = name.slice(prefix.length)
  const readings: McpPattern[] = []
  for (let at = suffix.indexOf(separator, 1); at > 0; at = suffix.indexOf(separator, at + 1)) {
    const tool = suffix.slice(at + separator.length)
    if (tool !== '') readings.push({ server: suffix.slice(0, at), tool })
  }
  return readings
}

/** Clients replace other characters in a name with underscores. */
export function foldToolName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}*]/gu, '_')
}
