import { type Diagnostic, nearest } from '../../base/index.ts'
import { parseAllowedTools } from '../../skill/index.ts'
import { handsAnywhere } from '../hands/hands.ts'
import { wireName } from '../tool-names.ts'
import type { DefinedAgent } from './check-references.ts'
import { readMcpName } from './mcp-name.ts'
import { toolSelectors } from './tool-selector.ts'

export interface KnownTools {
  /** Names of the MCP servers that are configured. */
  servers: readonly string[]
}

/**
 * Tools that subagents name and that cannot be meant: none of the built-in ones, or those of a server
 * that is not configured. Only warnings, because a program may bring a tool of any name. Tools of
 * skills and servers (`name.tool`, `name__tool`) cannot be known without starting something. How a tool
 * of a server is called here is a remark.
 */
export function checkTools(agents: readonly DefinedAgent[], { servers }: KnownTools): Diagnostic[] {
  return agents.flatMap(({ config, path, places }) => {
    const named = namedIn(config.tools).flatMap((tool): Diagnostic[] => {
      const found = tool.startsWith('mcp__') ? ofServer(tool, servers) : unknownTool(tool)
      return found === undefined ? [] : [{ ...found, path, ...places?.get('tools') }]
    })
    const inText = mcpNamesIn(config.systemPrompt).flatMap((tool): Diagnostic[] => {
      const found = otherwiseCalled(tool, servers)
      return found === undefined ? [] : [{ ...found, path }]
    })
    return [...named, ...inText]
  })
}

type Problem = Pick<Diagnostic, 'code' | 'severity' | 'message' | 'hint'>

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
    severity: 'warning',
    message: `\`tools\` names ${name}, and there is no built-in tool called so`,
    hint:
      meant === undefined
        ? `It counts only where a program brings it. Built in are ${names.join(', ')}.`
        : `Did you mean ${meant}?`,
  }
}

function ofServer(name: string, servers: readonly string[]): Problem | undefined {
  const read = readMcpName(name, servers)
  if (read === undefined) return undefined
  const { server, tool } = read
  if (!servers.includes(server)) return unknownServer(name, server.toLowerCase(), servers)
  if (tool === '' || tool.includes('*')) return undefined
  return {
    code: 'agent-tool-of-server',
    severity: 'info',
    message: `\`tools\` names ${name}, which is called ${server}.${tool} here`,
    hint: `Whoever delegates needs the server: --mcp-server ${server}, or \`mcp\` in a program.`,
  }
}

/** The names that other clients give to tools of servers, in a prompt. */
function mcpNamesIn(prompt: DefinedAgent['config']['systemPrompt']): string[] {
  const text = typeof prompt === 'string' ? prompt : ''
  return [...new Set(text.match(/\bmcp__[\w-]*\w/g))]
}

function otherwiseCalled(name: string, servers: readonly string[]): Problem | undefined {
  const read = readMcpName(name, servers)
  if (read === undefined || read.tool === '') return undefined
  const called = wireName(`${read.server}.${read.tool}`)
  return {
    code: 'agent-text-tool',
    severity: 'info',
    message: `the text names ${name}, and the model has this tool as ${called}`,
    hint: `Write ${called}, so that the model finds it.`,
  }
}

function unknownServer(name: string, wanted: string, servers: readonly string[]): Problem {
  const meant = nearest(wanted, servers)
  const guess = meant === undefined ? '' : `Did you mean mcp__${meant}? `
  const list =
    servers.length === 0 ? 'None is configured.' : `Configured are ${servers.join(', ')}.`
  return {
    code: 'agent-server-unknown',
    severity: 'warning',
    message: `\`tools\` names ${name}, and there is no MCP server called ${wanted}`,
    hint: `${guess}${list}`,
  }
}
