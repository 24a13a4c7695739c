import { matchesName } from '#tools/workflow/match'
import type { ClientToolRule, ServerClient, ServerDefinition } from './model.ts'

type Rules = Pick<ServerDefinition, 'name' | 'source' | 'allow' | 'deny' | 'clientRules'>

/** Whether the configuration of a server lets a tool of it be called. */
export function allowsTool(server: Rules, tool: string): boolean {
  const { allow, deny, clientRules = [] } = server
  const name = clientToolName(server.source.client, server.name, tool)
  const isDenied = clientRules.some(
    (rules) => rules.findLast(({ pattern }) => matchesName(pattern, name))?.isAllowed === false,
  )
  return (allow === undefined || allow.includes(tool)) && deny?.includes(tool) !== true && !isDenied
}

/** The name that a client gives to the tool of a server, as its rules have it. Seen with the real clients. */
export function clientToolName(client: ServerClient, server: string, tool: string): string {
  const isOpenCode = client === 'opencode'
  const [prefix, separator] = isOpenCode ? ['', '_'] : ['mcp__', '__']
  return `${prefix}${server}${separator}${tool}`.replaceAll(/[^\w-]/g, '_')
}

/**
 * What a rule of `permissions.deny` denies, such as `mcp__notes__delete_*`. The name of a server alone is for
 * all of its tools. What a rule says of the input in parentheses is not compared: the tool is denied.
 */
export function denialRules(rule: string): ClientToolRule[] {
  const [pattern = ''] = rule.split('(', 1).map((part) => part.trim())
  const isAllowed = false
  return [
    { pattern, isAllowed },
    { pattern: `${pattern}__*`, isAllowed },
  ]
}
