import { isObject } from '../../core/json.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject } from '../model.ts'
import type { RawServer } from './model.ts'

/** A group of servers in a file: the keys that lead to it, and what stands there. */
interface ServerGroup {
  place: readonly string[]
  entries: JsonObject
}

/** How one owner writes servers down. */
export interface ServerShape {
  syntax: 'json' | 'toml'
  /** @param project real path of the workspace, for files that list servers by project. */
  groups(root: JsonObject, project: string): readonly ServerGroup[]
  /** Undefined where the entry is not a server; the reason went to `fields.wrong`. */
  read(fields: Fields): RawServer | undefined
}

/** What an entry is that says nothing but how it is reached. */
const plainServer: RawServer = {
  transport: 'stdio',
  args: [],
  env: {},
  envNames: [],
  headers: {},
  envHeaders: {},
  disabled: false,
}

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
function readStandardServer(fields: Fields): RawServer | undefined {
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

/**
 * Gemini CLI, `mcpServers` in settings.json: `httpUrl` is streamable HTTP, `url` server-sent events
 * unless `type` says otherwise; the time-out is one for all requests, in ms.
 */
export const gemini: ServerShape = {
  ...mcpServers,
  read(fields): RawServer | undefined {
    const server = readStandardServer(fields)
    if (server === undefined) return undefined
    const http = fields.text('httpUrl')
    const byAddress = http === undefined && fields.text('type') === undefined
    return {
      ...server,
      url: http ?? server.url,
      transport: server.transport === 'http' && byAddress ? 'sse' : server.transport,
      allow: fields.texts('includeTools'),
      deny: fields.texts('excludeTools'),
      callTimeoutMs: fields.amount('timeout'),
    }
  },
}

/** Codex, `[mcp_servers.NAME]` in config.toml; time-outs in seconds. */
export const codex: ServerShape = {
  syntax: 'toml',
  groups(root) {
    const entries = root['mcp_servers']
    return isObject(entries) ? [{ place: ['mcp_servers'], entries }] : []
  },
  read(fields): RawServer | undefined {
    const command = fields.text('command')
    const url = fields.text('url')
    if (!command && !url) {
      fields.wrong('it has neither a command nor a url')
      return undefined
    }
    const startup = fields.amount('startup_timeout_sec')
    const call = fields.amount('tool_timeout_sec')
    return {
      ...plainServer,
      transport: command ? 'stdio' : 'http',
      command,
      url,
      args: fields.texts('args') ?? [],
      env: fields.textMap('env'),
      envNames: fields.texts('env_vars') ?? [],
      cwd: fields.text('cwd'),
      headers: fields.textMap('http_headers'),
      envHeaders: fields.textMap('env_http_headers'),
      tokenName: fields.text('bearer_token_env_var'),
      disabled: fields.flag('enabled') === false,
      allow: fields.texts('enabled_tools'),
      deny: fields.texts('disabled_tools'),
      startupTimeoutMs:
        startup === undefined ? fields.amount('startup_timeout_ms') : startup * 1000,
      callTimeoutMs: call === undefined ? undefined : call * 1000,
    }
  },
}

/**
 * OpenCode: `mcp: { NAME: { type: 'local', command: […] } | { type: 'remote', url } }` with `enabled`
 * and one time-out, and since its version 2 `mcp: { servers: { NAME: … } }` with `disabled` and two.
 */
export const openCode: ServerShape = {
  syntax: 'json',
  groups(root) {
    const mcp = root['mcp']
    if (!isObject(mcp)) return []
    const { servers, ...direct } = mcp
    const groups: ServerGroup[] = []
    if (isGroup(servers)) groups.push({ place: ['mcp', 'servers'], entries: servers })
    const entries = isGroup(servers) ? onlyServers(direct) : mcp
    if (Object.keys(entries).length > 0) groups.push({ place: ['mcp'], entries })
    return groups
  },
  read(fields): RawServer | undefined {
    const type = fields.text('type') ?? (fields.has('url') ? 'remote' : 'local')
    if (type === 'local') return readLocal(fields)
    if (type === 'remote') return readRemote(fields)
    fields.wrong(`its type "${type}" is unknown; allowed are local and remote`, 'type')
    return undefined
  },
}

/** A server that is called `servers` has a type, a group of them has not. */
function isGroup(value: unknown): value is JsonObject {
  return isObject(value) && typeof value['type'] !== 'string'
}

/** Version 2 has settings beside the servers; what looks like a server of version 1 still counts. */
function onlyServers(entries: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(entries).filter(
      ([, value]) => isObject(value) && ('command' in value || 'url' in value),
    ),
  )
}

function readLocal(fields: Fields): RawServer | undefined {
  const [command, ...args] = fields.texts('command') ?? []
  if (command === undefined || command === '') {
    fields.wrong('it has no command, which is a list of words', 'command')
    return undefined
  }
  const env = { ...fields.textMap('env'), ...fields.textMap('environment') }
  return { ...plainServer, ...common(fields), command, args, env, cwd: fields.text('cwd') }
}

function readRemote(fields: Fields): RawServer | undefined {
  const url = fields.text('url')
  if (url === undefined || url === '') {
    fields.wrong('it has no url')
    return undefined
  }
  return {
    ...plainServer,
    ...common(fields),
    transport: 'http',
    url,
    headers: fields.textMap('headers'),
  }
}

function common(fields: Fields): Partial<RawServer> & { disabled: boolean } {
  const disabled = fields.flag('disabled') ?? fields.flag('enabled') === false
  const timeouts = fields.has('timeout') ? timeoutsOf(fields) : {}
  return { disabled, ...timeouts }
}

/** In ms: one number for starting and listing, or `{ startup, request }`. */
function timeoutsOf(fields: Fields): Partial<RawServer> {
  const both = fields.objectOrAmount('timeout')
  if (both === undefined) return {}
  if (typeof both === 'number') return { startupTimeoutMs: both }
  const { startup, request } = both
  return {
    ...(typeof startup === 'number' ? { startupTimeoutMs: startup } : {}),
    ...(typeof request === 'number' ? { callTimeoutMs: request } : {}),
  }
}

/** Reads the fields of one entry; a value of the wrong type is reported and counts as missing. */
interface Fields {
  has(key: string): boolean
  text(key: string): string | undefined
  texts(key: string): readonly string[] | undefined
  /** Numbers and booleans among the values become text. */
  textMap(key: string): Readonly<Record<string, string>>
  flag(key: string): boolean | undefined
  /** A number that is not negative. */
  amount(key: string): number | undefined
  objectOrAmount(key: string): JsonObject | number | undefined
  /** Reports that the entry as a whole, or one of its keys, cannot be used. */
  wrong(message: string, key?: string): void
}

export function fieldsOf(
  entry: JsonObject,
  report: {
    /** A value that counts as missing. */
    ignored: (message: string, key: string) => void
    /** A reason why the entry cannot be used. */
    wrong: (message: string, key?: string) => void
  },
): Fields {
  function read<T>(key: string, accept: (value: JsonValue) => T | undefined, kind: string) {
    const value = Object.hasOwn(entry, key) ? entry[key] : undefined
    if (value === undefined || value === null) return undefined
    const accepted = accept(value)
    if (accepted === undefined) report.ignored(`"${key}" must be ${kind}; it is ignored`, key)
    return accepted
  }
  return {
    has: (key) => Object.hasOwn(entry, key) && entry[key] !== null,
    text: (key) => read(key, asText, 'text'),
    texts: (key) => read(key, asTexts, 'a list of texts'),
    textMap: (key) => read(key, asTextMap, 'an object of texts') ?? {},
    flag: (key) =>
      read(key, (value) => (typeof value === 'boolean' ? value : undefined), 'true or false'),
    amount: (key) => read(key, asAmount, 'a number that is not negative'),
    objectOrAmount: (key) =>
      read(key, (value) => (isObject(value) ? value : asAmount(value)), 'a number or an object'),
    wrong: report.wrong,
  }
}

function asText(value: JsonValue): string | undefined {
  return typeof value === 'string' && !value.includes('\0') ? value : undefined
}

function asTexts(value: JsonValue): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const texts = value.flatMap((item) => scalarText(item) ?? [])
  return texts.length === value.length ? texts : undefined
}

function asTextMap(value: JsonValue): Readonly<Record<string, string>> | undefined {
  if (!isObject(value)) return undefined
  const entries = Object.entries(value).filter(([, item]) => item !== null)
  const texts = entries.flatMap(([name, item]) => {
    const text = scalarText(item)
    return text === undefined ? [] : [[name, text] as const]
  })
  return texts.length === entries.length ? Object.fromEntries(texts) : undefined
}

function asAmount(value: JsonValue): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

function scalarText(value: JsonValue): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return asText(value)
}
