import { sha256 } from '../../base/index.ts'
import type { ServerDefinition } from '../../tools/index.ts'
import { AgentUsageError } from '../agent-errors.ts'

/** An MCP server that a program brings along. What it says of its tools is believed by default. */
export interface McpServer {
  name: string
  /** A program to start … */
  command?: string | undefined
  args?: readonly string[] | undefined
  env?: Readonly<Record<string, string>> | undefined
  cwd?: string | undefined
  /** … or the address of one that runs. */
  url?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  allow?: readonly string[] | undefined
  deny?: readonly string[] | undefined
  /** Milliseconds for one call; default 60,000. */
  callTimeoutMs?: number | undefined
  /** Whether its hints, such as that a tool only reads, are believed; default true. */
  trusted?: boolean | undefined
}

/** `project`: every server that is configured; else names of such servers, and servers of one's own. */
export type McpChoice = 'project' | readonly (string | McpServer)[]

/** @throws {AgentUsageError} for one that could not be reached, or in two ways. */
export function definitionOf(server: McpServer): ServerDefinition {
  const { name, command, url, args = [], env = {}, cwd, headers = {} } = server
  if ((command === undefined) === (url === undefined)) {
    throw new AgentUsageError({
      code: 'mcp-server',
      message: `The MCP server ${name} needs either a command or a url.`,
    })
  }
  return {
    name,
    transport:
      url === undefined
        ? { kind: 'stdio', command: command ?? '', args, env, cwd }
        : { kind: 'http', url, headers },
    source: { client: 'claude-code', path: '', scope: 'user' },
    startupTimeoutMs: 30_000,
    callTimeoutMs: server.callTimeoutMs ?? 60_000,
    allow: server.allow,
    deny: server.deny,
    disabled: false,
    trusted: server.trusted ?? true,
    digest: sha256(JSON.stringify(server)),
  }
}
