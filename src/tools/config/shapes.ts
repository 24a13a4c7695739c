import { createRequire } from 'node:module'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { parseEnv } from 'node:util'
import type * as Zod from 'zod'
import { isObject } from '../../core/json.ts'
import { readRegularFile } from '../../core/read-files.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject } from '../model.ts'
import type { RawServer, ServerClient, ServerTransport } from './model.ts'

interface ServerGroup {
  place: readonly string[]
  entries: JsonObject
}

export interface Refusal {
  problem: string
  key?: string | undefined
}

export interface ServerShape {
  syntax: 'json' | 'toml'
  /** Whether the file must be plain JSON. */
  strict?: true
  groups(root: JsonObject): readonly ServerGroup[] | Refusal
  /** Reads an entry; a field that cannot be used is reported and counts as missing. */
  read(entry: JsonObject, onIgnored: (message: string, key: string) => void): RawServer | Refusal
}

export const plainServer: RawServer = {
  transport: 'stdio',
  args: [],
  env: {},
  envNames: [],
  headers: {},
  envHeaders: {},
  disabled: false,
}

type Schemas = ReturnType<typeof schemasOf>
type Fields = Zod.infer<Schemas['entry']>

/** The fields of all clients that Skillrail knows. The description of each says what it must be. */
function schemasOf(z: typeof Zod) {
  const string = z.string().regex(/^[^\0]*$/)
  const scalar = z.union([string, z.number(), z.boolean()]).transform(String)
  const text = string.optional().describe('text')
  const texts = z.array(scalar).optional().describe('a list of texts')
  const textMap = z
    .record(z.string(), scalar.nullable())
    .transform(withoutNull)
    .optional()
    .describe('an object of texts')
  const flag = z.boolean().optional().describe('true or false')
  const amount = z.number().nonnegative().optional().describe('a number that is not negative')
  const time = z.number().optional().catch(undefined)
  const entry = z.object({
    type: text,
    command: text,
    args: texts,
    env: textMap,
    envFile: text,
    cwd: text,
    url: text,
    headers: textMap,
    disabled: flag,
    enabled: flag,
    // Windsurf and Gemini CLI
    serverUrl: text,
    disabledTools: texts,
    httpUrl: text,
    includeTools: texts,
    excludeTools: texts,
    timeout: amount,
    // Codex
    env_vars: texts,
    http_headers: textMap,
    env_http_headers: textMap,
    bearer_token_env_var: text,
    enabled_tools: texts,
    disabled_tools: texts,
    startup_timeout_sec: amount,
    startup_timeout_ms: amount,
    tool_timeout_sec: amount,
  })
  const timeout = z
    .union([z.number().nonnegative(), z.object({ startup: time, request: time })])
    .optional()
    .describe('a number or an object')
  return { entry, openCode: entry.extend({ command: texts, environment: textMap, timeout }) }
}

function withoutNull<Value>(map: Record<string, Value | null>): Record<string, Value> {
  const isSet = (entry: [string, Value | null]): entry is [string, Value] => entry[1] !== null
  return Object.fromEntries(Object.entries(map).filter(isSet))
}

let loaded: Schemas | undefined

function reader<Schema extends Zod.ZodObject>(
  schemaIn: (schemas: Schemas) => Schema,
  define: (fields: Zod.infer<Schema>) => RawServer | Refusal,
): ServerShape['read'] {
  return (entry, onIgnored) => {
    loaded ??= schemasOf(createRequire(import.meta.url)('zod'))
    const schema = schemaIn(loaded)
    const set = withoutNull<JsonValue>(entry)
    const { error } = schema.safeParse(set)
    for (const key of new Set(error?.issues.map(({ path }) => String(path[0])))) {
      onIgnored(`"${key}" must be ${schema.shape[key]?.description}; it is ignored`, key)
      delete set[key]
    }
    return define(schema.parse(set))
  }
}

function groupAt(root: JsonObject, place: readonly string[]): readonly ServerGroup[] {
  const entries = place.reduce<JsonValue | undefined>(
    (value, key) => (isObject<JsonValue>(value) ? value[key] : undefined),
    root,
  )
  return isObject<JsonValue>(entries) ? [{ place, entries }] : []
}

/**
 * `mcpServers: { NAME: { command, args, env } | { type, url, headers } }`: Claude Code, Claude
 * Desktop, Cursor and Windsurf (whose key for the address is `serverUrl`), and below `servers` VS Code.
 */
const mcpServers: ServerShape = {
  syntax: 'json',
  groups: (root) => groupAt(root, ['mcpServers']),
  read: reader(({ entry }) => entry, standardServer),
}

/** `~/.claude.json`: the servers that Claude Code has for one project, in the user's own file. */
export function claudeProject(project: string): ServerShape {
  return { ...mcpServers, groups: (root) => groupAt(root, ['projects', project, 'mcpServers']) }
}

const transportOf: ReadonlyMap<string, ServerTransport['kind']> = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamablehttp', 'http'],
  ['remote', 'http'],
  ['sse', 'sse'],
])

/** `type` where it is given, else by what is there. */
function standardServer(fields: Fields): RawServer | Refusal {
  const { type, command } = fields
  const url = fields.url ?? fields.serverUrl ?? fields.httpUrl
  const byFields = command === undefined ? 'http' : 'stdio'
  const transport = type === undefined ? byFields : transportOf.get(type.toLowerCase())
  if (transport === undefined) {
    return unknownType(type, 'stdio, http, streamable-http and sse')
  }
  if (!(transport === 'stdio' ? command : url)) {
    if (type === undefined) return { problem: 'it has neither a command nor a url' }
    return { problem: `it has no ${transport === 'stdio' ? 'command' : 'url'}` }
  }
  return {
    ...plainServer,
    transport,
    command,
    url,
    args: fields.args ?? [],
    env: fields.env ?? {},
    envFile: fields.envFile,
    cwd: fields.cwd,
    headers: fields.headers ?? {},
    disabled: fields.disabled ?? fields.enabled === false,
    deny: fields.disabledTools,
  }
}

function unknownType(type: string | undefined, allowed: string): Refusal {
  return { problem: `its type "${type}" is unknown; allowed are ${allowed}`, key: 'type' }
}

/** One time-out for all requests in ms; `url` is server-sent events unless `type` says otherwise. */
function geminiServer(fields: Fields): RawServer | Refusal {
  const server = standardServer(fields)
  if ('problem' in server) return server
  const { httpUrl, type } = fields
  const isSse = server.transport === 'http' && httpUrl === undefined && type === undefined
  return {
    ...server,
    url: httpUrl ?? server.url,
    transport: isSse ? 'sse' : server.transport,
    allow: fields.includeTools,
    deny: fields.excludeTools,
    callTimeoutMs: fields.timeout,
  }
}

/** Time-outs are in seconds. */
function codexServer(fields: Fields): RawServer | Refusal {
  const { command, url, startup_timeout_sec: startup, tool_timeout_sec: call } = fields
  if (!command && !url) return { problem: 'it has neither a command nor a url' }
  return {
    ...plainServer,
    transport: command ? 'stdio' : 'http',
    command,
    url,
    args: fields.args ?? [],
    env: fields.env ?? {},
    envNames: fields.env_vars ?? [],
    cwd: fields.cwd,
    headers: fields.http_headers ?? {},
    envHeaders: fields.env_http_headers ?? {},
    tokenName: fields.bearer_token_env_var,
    disabled: fields.enabled === false,
    allow: fields.enabled_tools,
    deny: fields.disabled_tools,
    startupTimeoutMs: startup === undefined ? fields.startup_timeout_ms : startup * 1000,
    callTimeoutMs: call === undefined ? undefined : call * 1000,
  }
}

/** Version 1 has `enabled` and one time-out, version 2 `disabled` and two. */
function openCodeServer(fields: Zod.infer<Schemas['openCode']>): RawServer | Refusal {
  const { url, timeout, cwd, type = url === undefined ? 'local' : 'remote' } = fields
  const times = typeof timeout === 'number' ? { startup: timeout, request: undefined } : timeout
  const shared = {
    ...plainServer,
    disabled: fields.disabled ?? fields.enabled === false,
    startupTimeoutMs: times?.startup,
    callTimeoutMs: times?.request,
  }
  if (type === 'remote') {
    if (!url) return { problem: 'it has no url' }
    return { ...shared, transport: 'http', url, headers: fields.headers ?? {} }
  }
  if (type !== 'local') return unknownType(type, 'local and remote')
  const [command, ...args] = fields.command ?? []
  if (!command) return { problem: 'it has no command, which is a list of words', key: 'command' }
  return { ...shared, command, args, env: { ...fields.env, ...fields.environment }, cwd }
}

/** Version 1 has the servers below `mcp`, version 2 below `mcp.servers`, beside settings. */
function openCodeGroups(root: JsonObject): readonly ServerGroup[] {
  const [group] = groupAt(root, ['mcp'])
  const [nested] = groupAt(root, ['mcp', 'servers'])
  // A server that is called `servers` has a type, a group of them does not.
  if (nested === undefined || typeof nested.entries['type'] === 'string')
    return group ? [group] : []
  // What looks like a server of version 1 still counts.
  const direct = Object.entries(group?.entries ?? {}).filter(
    ([name, value]) =>
      name !== 'servers' && isObject(value) && ('command' in value || 'url' in value),
  )
  return [nested, { place: ['mcp'], entries: Object.fromEntries(direct) }]
}

export const shapes: Readonly<Record<Exclude<ServerClient, 'agent-plugin'>, ServerShape>> = {
  'claude-code': mcpServers,
  'claude-desktop': mcpServers,
  cursor: mcpServers,
  windsurf: mcpServers,
  vscode: { ...mcpServers, groups: (root) => groupAt(root, ['servers']) },
  gemini: { ...mcpServers, read: reader(({ entry }) => entry, geminiServer) },
  codex: {
    syntax: 'toml',
    groups: (root) => groupAt(root, ['mcp_servers']),
    read: reader(({ entry }) => entry, codexServer),
  },
  opencode: {
    syntax: 'json',
    groups: openCodeGroups,
    read: reader(({ openCode }) => openCode, openCodeServer),
  },
}

interface VariableContext {
  /** The client whose rules apply; undefined: nothing is expanded. */
  client: ServerClient | undefined
  env: Readonly<Record<string, string | undefined>>
  home: string
  /** Real path of the workspace. */
  project: string
  path: string
  /** Its content: VS Code's `inputs` are in it. */
  root: JsonObject
  /** Gets the path of every file that a variable reads. */
  onRead(path: string): void
}

interface VariableProblem {
  message: string
  hint?: string | undefined
  fatal: boolean
}

/** `instead`: the value that is used; undefined: the text stays as it is. */
type Missing = VariableProblem & { instead?: string | undefined }

const editor = /\$\{(?:(?<kind>env|input):)?(?<name>[^}]+)\}/g

/** How clients write variables. Those that are missing have none. */
const patterns: Readonly<Partial<Record<ServerClient, RegExp>>> = {
  'claude-code': /\$\{(?<name>[A-Za-z_]\w*)(?::-(?<fallback>[^}]*))?\}/g,
  gemini: /\$(?:\{(?<name>[A-Za-z_]\w*)(?::-(?<fallback>[^}]*))?\}|(?<bare>[A-Za-z_]\w*))/g,
  opencode: /\{(?<kind>env|file):(?<name>[^}]+)\}/g,
  cursor: editor,
  windsurf: editor,
  vscode: editor,
}
const withoutBrace = /\$(?<bare>[A-Za-z_]\w*)/g

function valueOf(
  written: string,
  groups: Partial<Record<'kind' | 'name' | 'bare' | 'fallback', string>>,
  context: VariableContext,
): string | Missing {
  const { client, env, home, project } = context
  const { kind, name = groups.bare ?? '', fallback } = groups
  if (kind === 'file') return content(name, context)
  if (kind === 'env') return variableIn(env, name) ?? unset(name, '')
  if (kind === 'input' && client === 'vscode') return inputValue(name, context)
  if (client === 'claude-code' || client === 'gemini') {
    return variableIn(env, name) ?? fallback ?? unset(name)
  }
  switch (kind ?? name) {
    case 'workspaceFolder':
      return project
    case 'workspaceFolderBasename':
      return basename(project)
    case 'userHome':
      return home
    case 'pathSeparator':
    case '/':
      return sep
    default:
      return {
        message: `the variable ${written} has a meaning only inside the editor`,
        hint: 'Write the value itself, or one of ${env:NAME}, ${workspaceFolder} and ${userHome}.',
        fatal: true,
      }
  }
}

/** VS Code asks for an input: a variable answers instead, or the input's default. */
function inputValue(id: string, { env, root }: VariableContext): string | Missing {
  const variable = `SKILLRAIL_INPUT_${id.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`
  const inputs: unknown[] = Array.isArray(root['inputs']) ? root['inputs'] : []
  const input = inputs.filter((item) => isObject(item)).find((item) => item['id'] === id)
  const preset = input?.['default']
  const value = env[variable] ?? (typeof preset === 'string' && preset ? preset : undefined)
  return (
    value ?? {
      message: `the editor asks for the input "${id}", and the shell is not interactive`,
      hint: `Set ${variable} to its value.`,
      fatal: true,
    }
  )
}

/** The value of a variable that a stranger named: `constructor` is not one. */
function variableIn(env: VariableContext['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined
}

const maxFileBytes = 1_048_576

function content(name: string, { home, path, onRead }: VariableContext): string | Missing {
  const file = resolve(dirname(path), name.startsWith('~/') ? join(home, name.slice(2)) : name)
  onRead(file)
  const reading = readRegularFile(file, { maxBytes: maxFileBytes })
  if (reading.ok) return reading.text.trim()
  return { message: `{file:${name}} cannot be read: ${reading.message}`, fatal: true }
}

function unset(name: string, instead?: string): Missing {
  const result = instead === undefined ? 'it is left as it stands' : 'it becomes empty'
  return { message: `the variable ${name} is not set; ${result}`, fatal: false, instead }
}

/**
 * Expands the variables of an entry as their client does, and returns how its server is reached. Text
 * is expanded in one pass: a value is never expanded again.
 */
export function resolveServer(
  raw: RawServer,
  context: VariableContext,
): { transport: ServerTransport; problems: readonly VariableProblem[] } {
  const { client, env, home, project } = context
  const pattern = client && patterns[client]
  const problems: VariableProblem[] = []
  const expand = (text: string): string => {
    if (pattern === undefined) return text
    const expanded = (written: string, ...match: unknown[]): string => {
      const value = valueOf(written, Object(match.at(-1)), context)
      if (typeof value === 'string') return value
      problems.push(value)
      return value.instead ?? written
    }
    // Behind the last brace nothing is closed: what only begins there is not searched for an end.
    const end = text.lastIndexOf('}') + 1
    const rest = text.slice(end)
    const last = client === 'gemini' ? rest.replace(withoutBrace, expanded) : rest
    return text.slice(0, end).replace(pattern, expanded) + last
  }
  const expandAll = (map: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, expand(value)]))
  const inProject = (path: string): string =>
    resolve(project, path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path)

  if (raw.transport === 'stdio') {
    const fromFile = raw.envFile === undefined ? {} : envFile(inProject(expand(raw.envFile)))
    const passed = raw.envNames.flatMap((name) => {
      const value = variableIn(env, name)
      return value === undefined ? [] : [[name, value]]
    })
    const own = { ...fromFile, ...Object.fromEntries(passed), ...expandAll(raw.env) }
    const cwd = raw.cwd === undefined ? undefined : inProject(expand(raw.cwd))
    const command = expand(raw.command ?? '')
    const args = raw.args.map(expand)
    const { dataDirectory } = raw
    return { transport: { kind: 'stdio', command, args, env: own, cwd, dataDirectory }, problems }
  }
  const url = expand(raw.url ?? '')
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    const message = `"${url}" is not an address that begins with http:// or https://`
    problems.push({ message, fatal: true })
  }
  const headers = { ...expandAll(raw.headers), ...headersFromEnv() }
  return { transport: { kind: raw.transport, url, headers }, problems }

  function headersFromEnv(): Record<string, string> {
    const found: Record<string, string> = {}
    for (const [name, variable] of Object.entries(raw.envHeaders)) {
      const value = variableIn(env, variable)
      const message = `the variable ${variable} for the header ${name} is not set; the header is left out`
      if (value === undefined) problems.push({ message, fatal: false })
      else found[name] = value
    }
    if (raw.tokenName === undefined) return found
    const token = variableIn(env, raw.tokenName)
    if (token) return { ...found, Authorization: `Bearer ${token}` }
    problems.push({
      message: `the variable ${raw.tokenName}, which holds its token, is not set`,
      hint: `Set ${raw.tokenName} where Skillrail runs.`,
      fatal: true,
    })
    return found
  }

  function envFile(path: string): NodeJS.Dict<string> {
    context.onRead(path)
    const file = readRegularFile(path, { maxBytes: maxFileBytes })
    if (!file.ok) {
      problems.push({ message: `its envFile cannot be read: ${file.message}`, fatal: true })
      return {}
    }
    const { variables, problem } = harmlessVariables(path, file.text)
    if (problem !== undefined) problems.push(problem)
    return variables
  }
}

/** The variables of an `envFile`, without those that change what programs do. */
function harmlessVariables(path: string, text: string) {
  const entries = Object.entries(parseEnv(text))
  const refused = entries.filter(([name]) => changesPrograms.test(name))
  const variables = Object.fromEntries(entries.filter(([name]) => !changesPrograms.test(name)))
  if (refused.length === 0) return { variables }
  const names = refused.map(([name]) => name).join(', ')
  const message = `its envFile ${path} sets ${names}, which changes what programs load or whom they ask; it is left out`
  const hint = 'Set it in `env` of the server, where trust compares it.'
  return { variables, problem: { message, hint, fatal: false } }
}

/** Where programs and libraries are found, what interpreters load first, and whom the network trusts. */
const changesPrograms =
  /^(?:PATH|HOME|SHELL|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|(?:LD|DYLD|GIT|NPM_CONFIG|UV|PIP)_.*|NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED|REPL_.*)|PYTHON(?:PATH|HOME|STARTUP|INSPECT|BREAKPOINT|USERBASE)|PERL5?(?:LIB|OPT|DB)|RUBY(?:LIB|OPT)|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|DOTNET_STARTUP_HOOKS|(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|SSLKEYLOGFILE|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$/i
