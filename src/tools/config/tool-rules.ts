import type { ToolSummary } from '#tools/model'
import { matchesName, permissionOf, type ToolPermissions } from '#tools/workflow/match'
import type { ClientToolRule, ServerClient, ServerDefinition } from './model.ts'

type Rules = Pick<ServerDefinition, 'name' | 'source' | 'allow' | 'deny' | 'clientRules'>

/** Whether the configuration of a server allows calls of a tool. */
export function allowsTool(server: Rules, tool: string): boolean {
  const { allow, deny, clientRules = [] } = server
  const name = clientToolName(server.source.client, server.name, tool)
  const isDenied = clientRules.some(
    (rules) => rules.findLast(({ pattern }) => matchesName(pattern, name))?.isAllowed === false,
  )
  return (allow === undefined || allow.includes(tool)) && deny?.includes(tool) !== true && !isDenied
}

/** Whether the configuration of a tool's server, or the setting `tools.deny`, forbids every call of it. */
export function isDenied(
  { id, name, server }: Pick<ToolSummary, 'id' | 'name' | 'server'>,
  servers: readonly Rules[],
  permissions: ToolPermissions | undefined,
): boolean {
  const definition = servers.find((one) => one.name === server)
  const isForbidden = definition !== undefined && !allowsTool(definition, name)
  return isForbidden || permissionOf(id, permissions) === 'deny'
}

/** Returns the client's name for a server's tool, as its rules contain it. Tried with the real clients. */
export function clientToolName(client: ServerClient, server: string, tool: string): string {
  const isOpenCode = client === 'opencode'
  const [prefix, separator] = isOpenCode ? ['', '_'] : ['mcp__', '__']
  return `${prefix}${server}${separator}${tool}`.replaceAll(/[^\w-]/g, '_')
}

/**
 * Returns what a rule of `permissions.deny` denies, for example `mcp__notes__delete_*`. A server's name
 * alone denies all of its tools. Conditions in parentheses about the input are not compared: the tool is
 * denied.
 */
export function denialRules(rule: string): ClientToolRule[] {
  const [pattern = ''] = rule.split('(', 1).map((part) => part.trim())
  const isAllowed = false
  return [
    { pattern, isAllowed },
    { pattern: `${pattern}__*`, isAllowed },
  ]
}
