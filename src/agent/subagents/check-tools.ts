import { type Diagnostic, nearest } from '../../base/index.ts'
import { parseAllowedTools } from '../../skill/index.ts'
import { handsAnywhere } from '../hands/hands.ts'
import type { DefinedAgent } from './check-references.ts'
import { toolSelectors } from './tool-selector.ts'

export interface KnownTools {
  /** Names of the MCP servers that are configured. */
  servers: readonly string[]
}

/**
 * Tools that subagents name and that cannot be meant: none of the built-in ones, or those of a server
 * that is not configured. Only warnings, because a program may bring a tool of any name. Tools of
 * skills and servers (`name.tool`, `name__tool`) cannot be known without starting something.
 */
export function checkTools(agents: readonly DefinedAgent[], { servers }: KnownTools): Diagnostic[] {
  return agents.flatMap(({ config, path, places }) =>
    namedIn(config.tools).flatMap((tool): Diagnostic[] => {
      const problem = tool.startsWith('mcp__') ? unknownServer(tool, servers) : unknownTool(tool)
      if (problem === undefined) return []
      return [{ ...problem, severity: 'warning', path, ...places?.get('tools') }]
    }),
  )
}

type Problem = Pick<Diagnostic, 'code' | 'message' | 'hint'>

/** Without the patterns behind the names. */
function namedIn(tools: DefinedAgent['config']['tools']): string[] {
  const entries = (tools ?? []).filter((entry) => typeof entry === 'string')
  return [...new Set(entries.flatMap((entry) => parseAllowedTools(entry).map(({ tool }) => tool)))]
}

function unknownTool(name: string): Problem | undefined {
  if (/[*.:/]|__/.test(name)) return undefined
  const hands = handsAnywhere()
  if (toolSelectors([name]).some(({ selects }) => hands.some(selects))) return undefined
  const names = hands.flatMap((hand) => [...(hand.aliases ?? []), hand.name])
  const meant = nearest(name, names)
  return {
    code: 'agent-tool-unknown',
    message: `\`tools\` names ${name}, and there is no built-in tool called so`,
    hint:
      meant === undefined
        ? `It counts only where a program brings it. Built in are ${names.join(', ')}.`
        : `Did you mean ${meant}?`,
  }
}

function unknownServer(name: string, servers: readonly string[]): Problem | undefined {
  const rest = name.slice('mcp__'.length).toLowerCase()
  const known = servers.some((server) => `${rest}__`.startsWith(`${server.toLowerCase()}__`))
  const [wanted = ''] = rest.split('__', 1)
  if (known || wanted.includes('*')) return undefined
  const meant = nearest(wanted, servers)
  const guess = meant === undefined ? '' : `Did you mean mcp__${meant}? `
  const list =
    servers.length === 0 ? 'None is configured.' : `Configured are ${servers.join(', ')}.`
  return {
    code: 'agent-server-unknown',
    message: `\`tools\` names ${name}, and there is no MCP server called ${wanted}`,
    hint: `${guess}${list}`,
  }
}
