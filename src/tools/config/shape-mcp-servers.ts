import { isObject } from '../../base/index.ts'
import { type Fields } from './fields.ts'
import type { RawServer } from './model.ts'
import { plainServer, type ServerShape } from './shape.ts'

/**
 * `mcpServers: { NAME: { command, args, env } | { type, url, headers } }`: Claude Desktop, Cursor and
 * Windsurf (whose key for the address is `serverUrl`), `.mcp.json`, and below `servers` VS Code.
 */
export const mcpServers: ServerShape = keyed('mcpServers')
export const vsCodeServers: ServerShape = keyed('servers')

/** `~/.claude.json`: what Claude Code was told for one project, kept in the user's own file. */
export const claudeProject: ServerShape = {
  ...mcpServers,
  groups(root, project) {
    const projects = root['projects']
    const own =
      isObject(projects) && Object.hasOwn(projects, project) ? projects[project] : undefined
    const entries = isObject(own) ? own['mcpServers'] : undefined
    return isObject(entries) ? [{ place: ['projects', project, 'mcpServers'], entries }] : []
  },
}

function keyed(key: string): ServerShape {
  return {
    syntax: 'json',
    groups(root) {
      const entries = Object.hasOwn(root, key) ? root[key] : undefined
      return isObject(entries) ? [{ place: [key], entries }] : []
    },
    read: readStandardServer,
  }
}

/** `type` where it is given, else by what is there. */
export function readStandardServer(fields: Fields): RawServer | undefined {
  const type = fields.text('type')
  const url = fields.text('url') ?? fields.text('serverUrl') ?? fields.text('httpUrl')
  const command = fields.text('command')
  const transport =
    type === undefined
      ? command === undefined
        ? 'http'
        : 'stdio'
      : transportOf.get(type.toLowerCase())
  if (transport === undefined) {
    fields.wrong(`its type "${type}" is unknown; allowed are ${allowedTypes}`, 'type')
    return undefined
  }
  const needed = transport === 'stdio' ? command : url
  if (needed === undefined || needed === '') {
    fields.wrong(
      type === undefined
        ? 'it has neither a command nor a url'
        : `it has no ${transport === 'stdio' ? 'command' : 'url'}`,
    )
    return undefined
  }
  return {
    ...plainServer,
    transport,
    command,
    url,
    args: fields.texts('args') ?? [],
    env: fields.textMap('env'),
    envFile: fields.text('envFile'),
    cwd: fields.text('cwd'),
    headers: fields.textMap('headers'),
    disabled: fields.flag('disabled') ?? fields.flag('enabled') === false,
    deny: fields.texts('disabledTools'),
  }
}

const transportOf: ReadonlyMap<string, RawServer['transport']> = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamablehttp', 'http'],
  ['remote', 'http'],
  ['sse', 'sse'],
])
const allowedTypes = 'stdio, http, streamable-http and sse'
