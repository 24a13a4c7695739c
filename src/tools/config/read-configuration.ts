import { existsSync, readdirSync } from 'node:fs'
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Diagnostic } from '#core/errors'
import { findWorkspace, readRegularFile } from '#core/read-files'
import { findSecrets } from '#core/redact'
import { type Runtime, userDirectories } from '#core/runtime'
import { outsidePlugin, readPlugin } from '#library/plugins'
import type { Settings } from '#core/settings'
import { isObject, prototypeKeys, sha256, type JsonValue } from '#core/json'
import { collectActingParts } from '#trust/acting-parts'
import type { ActingPart, PartChange } from '#trust/model'
import { pluginFolder, pluginsIn } from '#trust/project-files'
import { assessWorkspace, readTrustPolicy } from '#trust/skill-trust'
import { TrustStore } from '#trust/store'
import { type Document, readDocument } from './document.ts'
import type {
  ServerBlock,
  ServerConfiguration,
  ServerDefinition,
  ServerFile,
  ServerSource,
  ServerTransport,
  ShadowedServer,
} from './model.ts'
import { pluginServers } from './plugin-servers.ts'
import { type FileClient, resolveServer, type ServerShape, shapeOf } from './shapes.ts'

export const acceptingHint = 'To see what changed and accept it: skillrail trust'

export type FileTrust = ReturnType<typeof fileTrust>

/**
 * Trust of the configuration files of a project: the workspace was accepted and the file is there and
 * what it was then, or the caller vouches for it. Files are compared only when somebody asks.
 */
export function fileTrust(
  project: string,
  runtime: Runtime,
  workspaceTrust: Settings['workspaceTrust'],
) {
  const { policy, diagnostics } = readTrustPolicy(runtime, { workspace: project, workspaceTrust })
  const { workspace, acceptance } = policy
  const isVouched = workspaceTrust === 'trusted'
  const parts = isVouched ? undefined : acceptance?.parts
  const accepted = parts?.filter(({ owner }) => owner === '') ?? []
  let found: readonly ActingPart[] | undefined
  let changes: readonly PartChange[] | undefined
  const now = (): readonly ActingPart[] => (found ??= collectActingParts(workspace, []))
  return {
    diagnostics,
    /** What was accepted of the workspace itself; skills are compared when they act. */
    accepted,
    /** The same as it is now; read when somebody asks, and once. */
    now,
    /** Why the servers of a file in the workspace may not start; undefined: they may. */
    blockOf(path: string): ServerBlock | undefined {
      if (isVouched) return undefined
      const name = relative(workspace, path).split(sep).join('/')
      // Where no whole workspace was accepted, the user's own workflows were.
      const isOwn = accepted.some((part) => part.kind === 'workflow' && part.path === name)
      if (!acceptance || (acceptance.skills && !isOwn)) {
        return {
          reason: 'untrusted',
          message: `it is configured by the project in ${path}, and the workspace was never trusted`,
          hint: 'Review and trust the project with: skillrail trust (in CI: --trust-workspace)',
        }
      }
      changes ??= assessWorkspace({ ...acceptance, parts: accepted }, now()).changes
      const isServers = now().some((part) => part.path === name && part.kind === 'mcp')
      const change = changes.find(
        ({ part: { kind, path: changed } }) =>
          (changed === name && kind !== 'category') || (isServers && kind === 'server-file'),
      )
      // A file that was read and is gone by now is not as accepted, whether it was accepted or not.
      if (!change && now().some((part) => part.path === name)) return undefined
      const file = join(workspace, change?.part.path ?? name)
      const message = `${file} has changed since the workspace was trusted`
      return { reason: 'changed', message, hint: acceptingHint }
    },
  }
}

/** A server that says nothing of it has this long to start, `npx` fetching it included. */
const defaultStartupTimeoutMs = 30_000
const defaultCallTimeoutMs = 60_000
const maxFileBytes = 16 * 1024 * 1024

/** The servers of a project, and which definition of a name holds. Only files are read. */
export function readServerConfiguration(options: {
  /** A directory of the project; the servers are those of its workspace. */
  project: string
  runtime: Runtime
  /** `trusted`: the caller vouches for the workspace; default `ask`. */
  trust?: Settings['workspaceTrust'] | undefined
}): ServerConfiguration {
  const { runtime } = options
  const project = findWorkspace(options.project, runtime)
  const trust = fileTrust(project, runtime, options.trust ?? 'ask')
  const programs = trust.accepted.filter(({ kind }) => kind === 'server-file')
  const inputs = [new TrustStore(runtime).path, ...programs.map(({ path }) => join(project, path))]
  const diagnostics = [...trust.diagnostics]
  const found: Found = {
    project,
    runtime,
    trust,
    servers: [],
    inputs: new Set(inputs),
    diagnostics,
  }
  const plugins = pluginPlaces(found)
  const files = [...serverPlaces(project, runtime), ...plugins].map((place): ServerFile => {
    const { shape: _shape, ...source } = place
    const before = found.servers.length
    const state = readPlace(place, found)
    return { ...source, state, servers: found.servers.length - before }
  })
  // A file that is read for two places is reported once.
  const reported = new Map(diagnostics.map((one) => [JSON.stringify(one), one]))
  const read = { files, inputs: [...found.inputs], diagnostics: [...reported.values()] }
  return { ...selectServers(found.servers), ...read }
}

/** What is wrong with a plugin, the text of its skills aside. */
export function checkPlugin(
  directory: string,
  runtime: Runtime,
): { name: string; diagnostics: Diagnostic[] } {
  const plugin = readPlugin(directory)
  const { root: project, name = basename(directory), skills, servers: path } = plugin
  const trust = fileTrust(project, runtime, 'trusted')
  const diagnostics = [...plugin.diagnostics]
  const report = (code: string, place: string, message: string): void => {
    diagnostics.push({ code, severity: 'error', message, path: place })
  }
  for (const skill of skills === undefined ? [] : readdirSync(skills)) {
    const file = join(directory, 'skills', skill, 'SKILL.md')
    const message = existsSync(file) ? outsidePlugin(plugin, file) : undefined
    if (message !== undefined) report('plugin-skill-invalid', file, message)
  }
  if (path !== undefined) {
    const shape = pluginServers(plugin, directory)
    const place: ServerPlace = { client: 'agent-plugin', scope: 'user', path, shape }
    readPlace(place, { project, runtime, trust, servers: [], inputs: new Set(), diagnostics })
    const file = readRegularFile(path, { maxBytes: maxFileBytes })
    if (file.ok && findSecrets(file.text).length > 0)
      report('plugin-secret', path, 'the file holds a secret')
  }
  // A schema does not allow what a client only ignores.
  const asErrors = diagnostics.map((one): Diagnostic =>
    one.code.startsWith('plugin-') ? { ...one, severity: 'error' } : one,
  )
  return { name, diagnostics: asErrors }
}

interface Found {
  project: string
  runtime: Runtime
  trust: FileTrust
  servers: ServerDefinition[]
  inputs: Set<string>
  diagnostics: Diagnostic[]
}

function readPlace(place: ServerPlace, found: Found): ServerFile['state'] {
  const { path, scope, shape } = place
  const { diagnostics, servers } = found
  const broken = (code: string, problem: string, at: Partial<Diagnostic> = {}): 'broken' => {
    const message = `${problem}; its servers are left out`
    diagnostics.push({ code, severity: 'error', message, path, ...at })
    return 'broken'
  }
  found.inputs.add(path)
  const file = readRegularFile(path, { maxBytes: maxFileBytes })
  if (!file.ok) return file.code === 'file-missing' ? 'missing' : broken(file.code, file.message)
  const document = readDocument(file.text, shape.syntax, shape.strict)
  if (!document.ok) {
    const { message, line, column } = document
    return broken('servers-syntax', message, { line, column })
  }
  const groups = shape.groups(document.root)
  if ('problem' in groups) return broken('servers-invalid', groups.problem, { line: 1 })
  const block = scope === 'project' ? found.trust.blockOf(path) : undefined
  const before = servers.length
  for (const { place: keys, entries } of groups) {
    for (const [name, entry] of Object.entries(entries)) {
      const server = readServer([...keys, name], entry, { place, document, block, found })
      if (server) servers.push(server)
    }
  }
  if (block && servers.length > before) {
    const message = `its servers are not started: ${block.message}`
    const { reason, hint } = block
    diagnostics.push({ code: `servers-${reason}`, severity: 'warning', message, path, hint })
  }
  return 'read'
}

interface EntryContext {
  place: ServerPlace
  document: Document
  block: ServerBlock | undefined
  found: Found
}

function readServer(
  keys: readonly string[],
  entry: JsonValue,
  { place, document, block, found }: EntryContext,
): ServerDefinition | undefined {
  const name = keys.at(-1) ?? ''
  const { client, path, scope } = place
  const { project, runtime } = found
  const report = (
    severity: Diagnostic['severity'],
    code: string,
    problem: string,
    more: { key?: string | undefined; hint?: string | undefined } = {},
  ): undefined => {
    const line = document.lineOf(more.key === undefined ? keys : [...keys, more.key])
    const message = `server "${name}": ${problem}`
    found.diagnostics.push({ code, severity, message, path, line, hint: more.hint })
  }
  if (!isUsableName(name)) return report('error', 'server-name-invalid', nameRule)
  if (!isObject(entry)) return report('error', 'server-invalid', 'it must be an object')
  const raw = place.shape.read(entry, (message, key) =>
    report('warning', 'server-field-invalid', message, { key }),
  )
  if ('problem' in raw) return report('error', 'server-invalid', raw.problem, raw)

  // For a project that nobody trusts no variable is expanded and no file is read.
  const isBlocked = block !== undefined
  const { transport, problems } = resolveServer(isBlocked ? { ...raw, envFile: undefined } : raw, {
    client: isBlocked ? undefined : client,
    env: isBlocked ? {} : runtime.env,
    home: runtime.home,
    project,
    path,
    root: document.root,
    onRead: (input) => found.inputs.add(input),
  })
  for (const { message, hint, fatal } of isBlocked ? [] : problems) {
    const severity = fatal && !raw.disabled ? 'error' : 'warning'
    report(severity, 'server-variable', message, { hint })
  }
  if (startsOwnServer(transport))
    return report('info', 'server-own', 'it is Skillrail itself; it is left out')
  const fatal = problems.find((problem) => problem.fatal)
  const hint = fatal?.hint ?? `Correct it in ${path}.`
  return {
    name,
    transport,
    source: { client, path, scope, line: document.lineOf(keys) },
    startupTimeoutMs: wholeTime(raw.startupTimeoutMs || defaultStartupTimeoutMs),
    callTimeoutMs: wholeTime(raw.callTimeoutMs || defaultCallTimeoutMs),
    allow: raw.allow,
    deny: raw.deny,
    disabled: raw.disabled,
    trusted: !isBlocked,
    digest: sha256(JSON.stringify([name, raw])),
    blocked: block ?? (fatal && { reason: 'unresolved', message: fatal.message, hint }),
  }
}

const nameRule =
  'a name has 1 to 100 printable characters and is none of JavaScript’s own, such as __proto__'

function isUsableName(name: string): boolean {
  return (
    /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,100}$/u.test(name) &&
    name.trim() === name &&
    !prototypeKeys.has(name)
  )
}

/** Timers take no fraction of a millisecond. */
function wholeTime(milliseconds: number): number {
  return Math.max(1, Math.round(milliseconds))
}

/**
 * Of several definitions with one name, in the order of precedence, the first holds, except that
 * - one that may not start does not hide one that may, so that a project cannot take a server away;
 * - one that its client disabled hides only what the same client says further down.
 */
export function selectServers(
  found: readonly ServerDefinition[],
): Pick<ServerConfiguration, 'servers' | 'shadowed'> {
  const servers = [...Map.groupBy(found, ({ name }) => name).values()].flatMap(
    (all) => winnerOf(all) ?? [],
  )
  const winners = new Map(servers.map((server) => [server.name, server]))
  const passed = new Set<ServerDefinition>()
  const shadowed = found.flatMap((server): ShadowedServer[] => {
    passed.add(server)
    const winner = winners.get(server.name)
    if (!winner || winner === server) return []
    const later = server.disabled ? 'disabled' : 'untrusted'
    return [{ server, by: winner.source, reason: passed.has(winner) ? 'earlier' : later }]
  })
  return { servers, shadowed }
}

function winnerOf(all: readonly ServerDefinition[]): ServerDefinition | undefined {
  const off = new Set<string>()
  const live = all.filter(({ source, disabled }) => {
    if (disabled) off.add(source.client)
    return !off.has(source.client)
  })
  return live.find(({ blocked }) => blocked === undefined) ?? live[0] ?? all[0]
}

/**
 * Whether it starts `skillrail mcp serve`, under whatever runs it: as one of its own servers Skillrail
 * would call itself. What cannot be seen here is refused when it is connected.
 */
function startsOwnServer(transport: ServerTransport): boolean {
  if (transport.kind !== 'stdio') return false
  // A shell has the words of its command in one.
  const words = [transport.command, ...transport.args].flatMap((word) => word.split(/[\s'"]+/))
  const serves = words.findIndex((word, at) => word === 'mcp' && words[at + 1] === 'serve')
  const own = /(?:^|[/\\])skillrail(?:@[\w.^~-]+|\.cmd|\.exe|\.ps1)?$/i
  return words.slice(0, Math.max(0, serves)).some((word) => own.test(word))
}

interface ServerPlace extends Pick<ServerSource, 'client' | 'scope' | 'path'> {
  shape: ServerShape
}

/** The servers of plugins, after those of every other file: of the project, then of the user. */
function pluginPlaces({ project, runtime, inputs, diagnostics }: Found): ServerPlace[] {
  const places: ServerPlace[] = []
  for (const scope of ['project', 'user'] as const) {
    const folder = join(scope === 'project' ? project : runtime.home, pluginFolder)
    inputs.add(folder)
    for (const directory of pluginsIn(folder)) {
      const plugin = readPlugin(directory)
      inputs.add(join(directory, 'plugin.json')).add(join(directory, 'mcp.json'))
      diagnostics.push(...plugin.diagnostics)
      if (plugin.servers === undefined) continue
      const shape = pluginServers(plugin, userDirectories(runtime).data)
      places.push({ client: 'agent-plugin', scope, path: plugin.servers, shape })
    }
  }
  return places
}

type Places = (readonly [client: FileClient, path: string])[]

/**
 * Every place, in the order of precedence: files of the project before those of the user. The servers
 * that Claude Code has for this project alone are in the user's own file and come first, as Claude
 * Code has it.
 *
 * @param project real path of the workspace
 */
function serverPlaces(
  project: string,
  { env, home, platform }: Pick<Runtime, 'env' | 'home' | 'platform'>,
): ServerPlace[] {
  const config = absolute('XDG_CONFIG_HOME') ?? join(home, '.config')
  const claude = join(absolute('CLAUDE_CONFIG_DIR') ?? home, '.claude.json')
  const openCode = ['opencode.jsonc', 'opencode.json', 'config.json']
  const ofProject: Places = [
    ['claude-code', '.mcp.json'],
    ['cursor', '.cursor/mcp.json'],
    ['vscode', '.vscode/mcp.json'],
    ['gemini', '.gemini/settings.json'],
    ['codex', '.codex/config.toml'],
    ['opencode', '.opencode/opencode.jsonc'],
    ['opencode', '.opencode/opencode.json'],
    ['opencode', 'opencode.jsonc'],
    ['opencode', 'opencode.json'],
  ]
  const ofUser: Places = [
    ['claude-code', claude],
    ['claude-desktop', join(applications(), 'Claude/claude_desktop_config.json')],
    ['cursor', '.cursor/mcp.json'],
    ['vscode', join(applications(), 'Code/User/mcp.json')],
    ['windsurf', '.codeium/windsurf/mcp_config.json'],
    ['gemini', '.gemini/settings.json'],
    ['codex', join(absolute('CODEX_HOME') ?? '.codex', 'config.toml')],
    ...openCode.map((name) => ['opencode', join(config, 'opencode', name)] as const),
  ]
  const named = absolute('OPENCODE_CONFIG')
  if (named !== undefined) ofUser.splice(-openCode.length, 0, ['opencode', named])
  const placesOf = (scope: ServerSource['scope'], root: string, places: Places): ServerPlace[] =>
    places.map(([client, path]) => ({
      client,
      scope,
      path: resolve(root, path),
      shape: shapeOf(client),
    }))
  return [
    {
      client: 'claude-code',
      scope: 'user',
      path: claude,
      shape: shapeOf('claude-code', 'projects', project),
    },
    ...placesOf('project', project, ofProject),
    ...placesOf('user', home, ofUser),
  ]

  function applications(): string {
    if (platform === 'darwin') return join(home, 'Library/Application Support')
    return platform === 'win32' ? (absolute('APPDATA') ?? join(home, 'AppData/Roaming')) : config
  }

  function absolute(variable: string): string | undefined {
    const value = env[variable]
    return value && isAbsolute(value) ? value : undefined
  }
}
