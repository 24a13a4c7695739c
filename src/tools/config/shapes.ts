import { basename, dirname, join, resolve, sep } from 'node:path'
import { parseEnv } from 'node:util'
import type * as Zod from 'zod'
import { readRegularFile } from '#core/read-files'
import { isObject, type JsonValue, type JsonObject } from '#core/json'
import { zod } from '#core/zod'
import { denialRules } from './tool-rules.ts'
import type { ClientToolRule, ServerClient, ServerTransport } from './model.ts'

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
  hasNoServers?: true
  /**
   * The servers that the client does not start, whatever their entries say; undefined: it has no such
   * lists.
   */
  limits?: ((root: JsonObject) => ServerLimits | Refusal) | undefined
  /** Reads an entry. An invalid time limit is reported and counts as missing. */
  read(entry: JsonObject, onIgnored: (message: string, key: string) => void): RawServer | Refusal
}

/** Restrictions of a file that are outside the servers' entries. */
export interface ServerLimits {
  /** Names of the only servers that are started; undefined: all. */
  allowed?: readonly string[] | undefined
  /** Names of servers that are not started. */
  excluded?: readonly string[] | undefined
  /** Each list can deny a tool. */
  tools?: readonly (readonly ClientToolRule[])[] | undefined
}

/** An entry of a configuration file in one shape for all clients, before its variables are expanded. */
export interface RawServer {
  transport: ServerTransport['kind']
  command?: string | undefined
  args: readonly string[]
  env: Readonly<Record<string, string>>
  /** Variables of our environment that the server gets under the same name. */
  envNames: readonly string[]
  envFile?: string | undefined
  cwd?: string | undefined
  url?: string | undefined
  headers: Readonly<Record<string, string>>
  /** Headers whose values come from variables of our environment. */
  envHeaders: Readonly<Record<string, string>>
  tokenName?: string | undefined
  disabled: boolean
  allow?: readonly string[] | undefined
  deny?: readonly string[] | undefined
  startupTimeoutMs?: number | undefined
  callTimeoutMs?: number | undefined
  dataDirectory?: string | undefined
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

type Fields = Zod.infer<ReturnType<typeof entrySchema>>

/** The fields of all clients. Several fields can mean the same; no field has two meanings. */
function entrySchema(z: typeof Zod) {
  const string = z.string().regex(/^[^\0]*$/)
  const scalar = z.union([string, z.number(), z.boolean()]).transform(String)
  const text = string.optional()
  const texts = z.array(scalar).optional()
  const map = z.record(z.string(), scalar.nullable()).transform(withoutNull).optional()
  const flag = z.boolean().optional()
  const amount = z.number().nonnegative().optional()
  const time = z.number().optional().catch(undefined)
  return z.object({
    type: text,
    command: z.union([string, z.array(scalar)]).optional(),
    args: texts,
    env: map,
    envFile: text,
    cwd: text,
    url: text,
    headers: map,
    disabled: flag,
    enabled: flag,
    // Windsurf and Gemini CLI
    serverUrl: text,
    disabledTools: texts,
    httpUrl: text,
    includeTools: texts,
    excludeTools: texts,
    // Copilot CLI
    tools: texts,
    timeout: z.union([amount, z.object({ startup: time, request: time })]),
    // OpenCode
    environment: map,
    // Codex
    env_vars: texts,
    http_headers: map,
    env_http_headers: map,
    bearer_token_env_var: text,
    enabled_tools: texts,
    disabled_tools: texts,
    startup_timeout_sec: amount,
    startup_timeout_ms: amount,
    tool_timeout_sec: amount,
  })
}

function withoutNull<Value>(map: Record<string, Value | null>): Record<string, Value> {
  const isSet = (entry: [string, Value | null]): entry is [string, Value] => entry[1] !== null
  return Object.fromEntries(Object.entries(map).filter(isSet))
}

let cachedSchema: ReturnType<typeof entrySchema> | undefined

function groupAt(root: JsonObject, place: readonly string[]): readonly ServerGroup[] {
  const entries = place.reduce<JsonValue | undefined>(
    (value, key) => (isObject(value) ? value[key] : undefined),
    root,
  )
  return isObject(entries) ? [{ place, entries }] : []
}

/** The key in each client's file that contains its servers. */
const keys = {
  'claude-code': 'mcpServers',
  'claude-desktop': 'mcpServers',
  cursor: 'mcpServers',
  windsurf: 'mcpServers',
  vscode: 'servers',
  gemini: 'mcpServers',
  qwen: 'mcpServers',
  copilot: 'mcpServers',
  codex: 'mcp_servers',
  opencode: 'mcp',
} as const satisfies Record<Exclude<ServerClient, 'agent-plugin'>, string>

export type FileClient = keyof typeof keys

/** @param parents names of the enclosing objects, for example of one project in `~/.claude.json` */
export function shapeOf(client: FileClient, ...parents: readonly string[]): ServerShape {
  return {
    syntax: client === 'codex' ? 'toml' : 'json',
    groups(root) {
      if (client === 'opencode') return openCodeGroups(root)
      return groupAt(root, [...parents, keys[client]])
    },
    read(entry, onIgnored) {
      const schema = (cachedSchema ??= entrySchema(zod()))
      const values = withoutNull<JsonValue>(entry)
      for (const { path, message } of schema.safeParse(values).error?.issues ?? []) {
        const key = String(path[0])
        // Any other field decides what is started or what is not allowed.
        if (!timeFields.test(key))
          return { problem: `its "${key}" cannot be used: ${message}`, key }
        if (key in values) onIgnored(`"${key}" is ignored: ${message}`, key)
        delete values[key]
      }
      return serverOf(schema.parse(values), client)
    },
    limits: listsApart.has(client) ? undefined : limitsIn[client],
  }
}

/** A settings file that has no servers but lists servers that are not started. */
export function listShapeOf(client: FileClient): ServerShape {
  return { ...shapeOf(client), groups: () => [], limits: limitsIn[client], hasNoServers: true }
}

const timeFields = /^(?:timeout|startup_timeout_sec|startup_timeout_ms|tool_timeout_sec)$/

/** `mcp.allowed` and `mcp.excluded` of Gemini CLI, and their names before its version 0.3. */
function geminiLimits(root: JsonObject): ServerLimits | Refusal {
  const { mcp, allowMCPServers, excludeMCPServers } = root
  if (mcp !== undefined && !isObject(mcp)) return { problem: 'mcp must be an object', key: 'mcp' }
  const { allowed = allowMCPServers, excluded = excludeMCPServers ?? [] } = { ...mcp }
  if (allowed !== undefined && !isNames(allowed))
    return { problem: 'mcp.allowed must be a list of names of servers', key: 'mcp' }
  if (!isNames(excluded))
    return { problem: 'mcp.excluded must be a list of names of servers', key: 'mcp' }
  return { allowed, excluded }
}

/** The switches of OpenCode for tools, `{ "notes_*": false }`, and what its permissions deny. */
function openCodeLimits({ tools = {}, permission = {} }: JsonObject): ServerLimits | Refusal {
  const permissions = isObject(permission) ? permission : { '*': permission }
  const switches = rulesIn(tools, [true, false])
  if (!switches) return { problem: 'tools must be an object of true and false', key: 'tools' }
  const permissionRules = rulesIn(permissions, ['allow', 'ask', 'deny'])
  if (permissionRules) return { tools: [switches, permissionRules] }
  return { problem: 'permission must name allow, ask or deny for each tool', key: 'permission' }
}

/**
 * Returns the rules of an object from tool names to choices, of which the last one forbids. Undefined if a
 * value is none of the choices. A nested object is about the tool's input and is ignored.
 */
function rulesIn(value: JsonValue, choices: readonly JsonValue[]): ClientToolRule[] | undefined {
  if (!isObject<JsonValue>(value)) return undefined
  const entries = Object.entries(value).filter(([, choice]) => !isObject(choice))
  if (!entries.every(([, choice]) => choices.includes(choice))) return undefined
  return entries.map(([pattern, choice]) => ({ pattern, isAllowed: choice !== choices.at(-1) }))
}

/** Copilot CLI lists disabled servers in its settings, apart from their entries. */
function copilotLimits(root: JsonObject): ServerLimits | Refusal {
  const excluded: string[] = []
  for (const key of ['disabledMcpServers', 'disabled_mcp_servers']) {
    const names = root[key] ?? []
    if (!isNames(names)) return { problem: `${key} must be a list of names of servers`, key }
    excluded.push(...names)
  }
  return { excluded }
}

/**
 * `chat.mcp.access` of VS Code, according to its documentation. The files do not say which servers come
 * from a registry, so `registry` starts none.
 */
function editorLimits(root: JsonObject): ServerLimits | Refusal {
  const key = 'chat.mcp.access'
  const { [key]: access = 'all', 'chat.mcp.enabled': isEnabled = true } = root
  const isOff = access === 'none' || access === 'registry' || isEnabled === false
  if (isOff || access === 'all') return isOff ? { allowed: [] } : {}
  return { problem: `${key} must be all, registry or none`, key }
}

/** Qwen Code has the lists of Gemini CLI, and denies tools by name. */
function qwenLimits(root: JsonObject): ServerLimits | Refusal {
  const limits = geminiLimits(root)
  const { permissions, tools } = root
  const denialNames = (isObject(permissions) ? permissions['deny'] : undefined) ?? []
  const excludedTools = (isObject(tools) ? tools['exclude'] : undefined) ?? []
  if (!isNames(denialNames))
    return { problem: 'permissions.deny must be a list of rules', key: 'permissions' }
  if (!isNames(excludedTools))
    return { problem: 'tools.exclude must be a list of names', key: 'tools' }
  return 'problem' in limits
    ? limits
    : { ...limits, tools: [[...denialNames, ...excludedTools].flatMap(denialRules)] }
}

const limitsIn: Readonly<Partial<Record<FileClient, ServerShape['limits']>>> = {
  gemini: geminiLimits,
  qwen: qwenLimits,
  copilot: copilotLimits,
  opencode: openCodeLimits,
  vscode: editorLimits,
}

/** Clients that keep these lists in another file than their servers. */
const listsApart: ReadonlySet<FileClient> = new Set(['copilot', 'vscode'])

function isNames(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** Version 1 has the servers in `mcp`, version 2 in `mcp.servers`, beside settings. */
function openCodeGroups(root: JsonObject): readonly ServerGroup[] {
  const [group] = groupAt(root, ['mcp'])
  const [nestedGroup] = groupAt(root, ['mcp', 'servers'])
  // A server with the name `servers` has a type; a group of servers has none.
  const serverGroup =
    typeof nestedGroup?.entries['type'] === 'string' ? group : (nestedGroup ?? group)
  return serverGroup ? [serverGroup] : []
}

const transportOf = new Map<string, ServerTransport['kind']>(
  Object.entries({
    stdio: 'stdio',
    local: 'stdio',
    http: 'http',
    'streamable-http': 'http',
    streamablehttp: 'http',
    remote: 'http',
    sse: 'sse',
  } as const),
)

/** The transport follows from `type`, or else from the other fields. */
function serverOf(fields: Fields, client: ServerClient): RawServer | Refusal {
  const { type, httpUrl, timeout } = fields
  const [command, ...words] = [fields.command ?? []].flat()
  const url = httpUrl ?? fields.url ?? fields.serverUrl
  // For Gemini CLI, `url` alone means server-sent events.
  const isGemini = client === 'gemini' || client === 'qwen'
  const remote = isGemini && httpUrl === undefined ? 'sse' : 'http'
  const isRemote = command === undefined || (client === 'opencode' && url !== undefined)
  const byFields = isRemote ? remote : 'stdio'
  const transport = type === undefined ? byFields : transportOf.get(type.toLowerCase())
  if (!transport) {
    const problem = `its type "${type}" is unknown; allowed are ${[...transportOf.keys()].join(', ')}`
    return { problem, key: 'type' }
  }
  const requiredKey = transport === 'stdio' ? 'command' : 'url'
  if (!(transport === 'stdio' ? command : url)) return { problem: `it has no ${requiredKey}` }
  const times = timesOf(timeout, client)
  const { excludeTools = [], disabledTools = [], disabled_tools: disabledForCodex = [] } = fields
  const deniedTools = [...excludeTools, ...disabledTools, ...disabledForCodex]
  return {
    transport,
    command,
    url,
    args: [...words, ...(fields.args ?? [])],
    env: { ...fields.env, ...fields.environment },
    envNames: fields.env_vars ?? [],
    envFile: fields.envFile,
    cwd: fields.cwd,
    headers: { ...fields.headers, ...fields.http_headers },
    envHeaders: fields.env_http_headers ?? {},
    tokenName: fields.bearer_token_env_var,
    disabled: fields.disabled === true || fields.enabled === false,
    allow: fields.includeTools ?? fields.enabled_tools ?? listedTools(fields, client),
    deny: deniedTools.length === 0 ? undefined : deniedTools,
    startupTimeoutMs:
      inMs(fields.startup_timeout_sec) ?? fields.startup_timeout_ms ?? times.startup,
    callTimeoutMs: inMs(fields.tool_timeout_sec) ?? times.request,
  }
}

/** Copilot CLI starts a server with the tools in its entry, or with all tools for `*`. */
function listedTools({ tools }: Fields, client: ServerClient): readonly string[] | undefined {
  return client !== 'copilot' || tools?.includes('*') === true ? undefined : tools
}

/** A single number limits the start for OpenCode, and each call for Gemini CLI. */
function timesOf(
  timeout: Fields['timeout'],
  client: ServerClient,
): { startup?: number | undefined; request?: number | undefined } {
  if (typeof timeout !== 'number') return timeout ?? {}
  if (client === 'opencode') return { startup: timeout }
  return client === 'gemini' || client === 'qwen' ? { request: timeout } : {}
}

function inMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000
}

interface VariableContext {
  /** The client whose rules apply; undefined: nothing is expanded. */
  client: ServerClient | undefined
  env: Readonly<Record<string, string | undefined>>
  home: string
  /** Real path of the workspace. */
  project: string
  path: string
  /** Content of the file, with the `inputs` of VS Code. */
  root: JsonObject
  /** Called with the path of every file that a variable reads. */
  onRead(path: string): void
}

interface VariableProblem {
  message: string
  hint?: string | undefined
  fatal: boolean
  /** The value to use instead; undefined: the text stays unchanged. */
  instead?: string | undefined
}

const editor = /\$\{(?:(?<kind>env|input):)?(?<name>[^}]{1,500})\}/g

const geminiForm =
  /\$(?:\{(?<name>[A-Za-z_]\w*)(?::-(?<fallback>[^}]{0,500}))?\}|(?<bare>[A-Za-z_]\w*))/g

/** How clients write variables. A client that is missing here has no variables. */
const patterns: Readonly<Partial<Record<ServerClient, RegExp>>> = {
  'claude-code': /\$\{(?<name>[A-Za-z_]\w*)(?::-(?<fallback>[^}]{0,500}))?\}/g,
  gemini: geminiForm,
  qwen: geminiForm,
  opencode: /\{(?<kind>env|file):(?<name>[^}]{1,500})\}/g,
  cursor: editor,
  windsurf: editor,
  vscode: editor,
}

/** Returns variables in the syntax of another client, which this client leaves unchanged. */
function foreignForms(text: string, client: ServerClient): string[] {
  const form =
    client === 'opencode' ? dollarForm : patterns[client] === editor ? braceForm : anyForm
  return text.match(form) ?? []
}

const dollarForm = /\$\{(?:env|file|input):[^{}]{1,500}\}/g
const braceForm = /(?<!\$)\{(?:env|file):[^{}"]{1,500}\}/g
const anyForm = /\$?\{(?:env|file|input):[^{}"]{1,500}\}/g

const syntaxHints: Readonly<Partial<Record<ServerClient, string>>> = {
  'claude-code': 'Write ${NAME}.',
  gemini: 'Write $NAME or ${NAME}.',
  qwen: 'Write $NAME or ${NAME}.',
  opencode: 'Write {env:NAME}.',
  cursor: 'Write ${env:NAME}.',
  windsurf: 'Write ${env:NAME}.',
  vscode: 'Write ${env:NAME}.',
  codex: 'Name the variable in env_vars, or write the value itself.',
}

function valueOf(
  text: string,
  groups: Partial<Record<'kind' | 'name' | 'bare' | 'fallback', string>>,
  context: VariableContext,
): string | VariableProblem {
  const { client, env, home, project } = context
  const { kind, name = groups.bare ?? '', fallback } = groups
  if (kind === 'file') return content(name, context)
  if (kind === 'env') return variableIn(env, name) ?? emptied(name)
  if (kind === 'input' && client === 'vscode') return inputValue(name, context)
  if (client === 'claude-code' || client === 'gemini' || client === 'qwen')
    return variableIn(env, name) ?? fallback ?? withoutValue(text, name)
  const editorVariables = {
    workspaceFolder: project,
    workspaceFolderBasename: basename(project),
    userHome: home,
    pathSeparator: sep,
    '/': sep,
  }
  return (
    new Map(Object.entries(editorVariables)).get(kind ?? name) ?? {
      message: `the variable ${text} has a meaning only inside the editor`,
      hint: 'Write the value itself, or one of ${env:NAME}, ${workspaceFolder} and ${userHome}.',
      fatal: true,
    }
  )
}

/** VS Code asks the user for an input. Here a variable answers, or the input's default. */
function inputValue(id: string, { env, root }: VariableContext): string | VariableProblem {
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

/** Returns the variable with a name that is not trusted: `constructor` is not a variable. */
function variableIn(env: VariableContext['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined
}

const maxFileBytes = 1_048_576

function content(name: string, { home, path, onRead }: VariableContext): string | VariableProblem {
  const file = resolve(dirname(path), name.startsWith('~/') ? join(home, name.slice(2)) : name)
  onRead(file)
  const reading = readRegularFile(file, { maxBytes: maxFileBytes })
  if (reading.ok) return reading.text.trim()
  return { message: `{file:${name}} cannot be read: ${reading.message}`, fatal: true }
}

function emptied(name: string): VariableProblem {
  const message = `the variable ${name} is not set; it becomes empty`
  return { message, fatal: false, instead: '' }
}

/**
 * A server would get the text `${NAME}` in place of a key or an address, so it does not start. A lower-case `$name`
 * without braces may be a part of a password or a script, because variables usually have upper-case names.
 */
function withoutValue(text: string, name: string): VariableProblem {
  const message = `the variable ${name} is not set`
  if (text === `$${name}` && name !== name.toUpperCase())
    return { message: `${message}; the text ${text} stays`, fatal: false }
  return { message, hint: `Set ${name}, or write \${${name}:-VALUE} with a default.`, fatal: true }
}

/** Expands variables as the client of the entry does, in one pass: values are not expanded again. */
export function resolveServer(
  raw: RawServer,
  context: VariableContext,
): { transport: ServerTransport; problems: readonly VariableProblem[] } {
  const { client, env, home, project } = context
  const pattern = client && patterns[client]
  const problems: VariableProblem[] = []
  const expand = (text: string): string => {
    for (const form of client === undefined ? [] : foreignForms(text, client)) {
      const message = `${form} is a form of another client, and is not replaced by the value of a variable here`
      const hint = (client && syntaxHints[client]) ?? 'Write the value itself.'
      problems.push({ message, hint, fatal: false })
    }
    return expandVariables(text)
  }
  const expandVariables = (text: string): string =>
    pattern === undefined
      ? text
      : text.replace(pattern, (variable: string, ...match: unknown[]) => {
          const value = valueOf(variable, Object(match.at(-1)), context)
          if (typeof value === 'string') return value
          problems.push(value)
          return value.instead ?? variable
        })
  const expandAll = (map: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, expand(value)]))
  const inProject = (path: string): string =>
    resolve(project, path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path)

  if (raw.transport === 'stdio') {
    const { envFile = '' } = raw
    const path = inProject(expand(envFile))
    const fromFile = envFile === '' ? {} : readEnvFile(path, context, problems)
    const forwardedVariables = raw.envNames.flatMap((name) => {
      const value = variableIn(env, name)
      return value === undefined ? [] : [[name, value]]
    })
    const transport = {
      kind: raw.transport,
      command: expand(raw.command ?? ''),
      args: raw.args.map(expand),
      env: { ...fromFile, ...Object.fromEntries(forwardedVariables), ...expandAll(raw.env) },
      cwd: raw.cwd === undefined ? undefined : inProject(expand(raw.cwd)),
      dataDirectory: raw.dataDirectory,
    }
    return { transport, problems }
  }
  const url = expand(raw.url ?? '')
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    const message = `"${url}" is not an address that begins with http:// or https://`
    problems.push({ message, fatal: true })
  }
  const headers = expandAll(raw.headers)
  for (const [name, variable] of Object.entries(raw.envHeaders)) {
    const value = variableIn(env, variable)
    const message = `the variable ${variable} for the header ${name} is not set; the header is left out`
    if (value === undefined) problems.push({ message, fatal: false })
    else headers[name] = value
  }
  if (raw.tokenName !== undefined) {
    const token = variableIn(env, raw.tokenName)
    const message = `the variable ${raw.tokenName}, which contains its token, is not set`
    if (token) headers['Authorization'] = `Bearer ${token}`
    else problems.push({ message, hint: `Set ${raw.tokenName}.`, fatal: true })
  }
  return { transport: { kind: raw.transport, url, headers }, problems }
}

/** Reads the variables of a file, without those that change what programs do. */
function readEnvFile(path: string, { onRead }: VariableContext, problems: VariableProblem[]) {
  onRead(path)
  const file = readRegularFile(path, { maxBytes: maxFileBytes })
  if (!file.ok) {
    problems.push({ message: `its envFile cannot be read: ${file.message}`, fatal: true })
    return {}
  }
  const variables = Object.entries(parseEnv(file.text))
  const refusedNames = variables.flatMap(([name]) => (changesPrograms(name) ? name : []))
  if (refusedNames.length > 0) {
    const message = `its envFile ${path} sets ${refusedNames.join(', ')}, which changes what programs load or whom they ask; it is left out`
    const hint = 'Set it in `env` of the server, where trust compares it.'
    problems.push({ message, hint, fatal: false })
  }
  return Object.fromEntries(variables.filter(([name]) => !changesPrograms(name)))
}

/**
 * Variables that decide where programs and libraries are found, what interpreters load first, or whom the
 * network trusts.
 */
function changesPrograms(name: string): boolean {
  const upper = name.toUpperCase()
  return ofPrograms.has(upper) || /^(?:LD|DYLD|GIT|NPM_CONFIG|UV|PIP|NODE_REPL)_/.test(upper)
}

const ofPrograms: ReadonlySet<string> = new Set(
  (
    'PATH HOME SHELL IFS ENV BASH_ENV SHELLOPTS BASHOPTS PROMPT_COMMAND ' +
    'NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED ' +
    'PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONBREAKPOINT PYTHONUSERBASE ' +
    'PERLLIB PERLOPT PERLDB PERL5LIB PERL5OPT PERL5DB RUBYLIB RUBYOPT ' +
    'JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS DOTNET_STARTUP_HOOKS ' +
    'HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR ' +
    'SSLKEYLOGFILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE'
  ).split(' '),
)
