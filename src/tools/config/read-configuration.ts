import { existsSync, readdirSync } from 'node:fs'
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Diagnostic } from '#core/errors'
import { isInside, findWorkspace, readRegularFile } from '#core/read-files'
import { findSecrets } from '#core/redact'
import { isInProject, type Runtime, userDirectories } from '#core/runtime'
import { outsidePlugin, readPlugin } from '#library/plugins'
import type { Settings } from '#core/settings'
import { isObject, prototypeKeys, sha256, type JsonValue } from '#core/json'
import { collectActingParts } from '#trust/acting-parts'
import type { AcceptedPart, ActingPart, PartChange } from '#trust/model'
import { claudeSettings, copilotSettings, pluginFolder, pluginsIn } from '#trust/workspace-files'
import { assessWorkspace, readTrustPolicy } from '#trust/skill-trust'
import { TrustStore } from '#trust/store'
import { type Document, readDocument } from './document.ts'
import type {
  ServerBlock,
  ServerClient,
  ServerConfiguration,
  ServerDefinition,
  ServerFile,
  ServerSource,
  ServerTransport,
  ShadowedServer,
} from './model.ts'
import { readClaudeSwitches } from './claude-switches.ts'
import { pluginServers } from './plugin-servers.ts'
import {
  type FileClient,
  resolveServer,
  type ServerLimits,
  type ServerShape,
  listShapeOf,
  shapeOf,
} from './shapes.ts'

export const acceptingHint = 'To see what changed and accept it: skillrail trust'

/** The settings that say which servers of a file are not started. */
const listsOf: ReadonlyMap<string, readonly string[]> = new Map([
  ['.mcp.json', claudeSettings],
  ['.github/mcp.json', copilotSettings],
])

/** How far the files of a workspace are those that were accepted. */
export interface FileTrust {
  diagnostics: readonly Diagnostic[]
  /** The accepted parts of the workspace itself; skills are compared when they act. */
  accepted: readonly AcceptedPart[]
  /** The same parts as they are now; read once, on demand. */
  now(): readonly ActingPart[]
  /** Why the servers of a file in the workspace may not start; undefined: they may. */
  blockOf(path: string): ServerBlock | undefined
}

/**
 * Trust of the configuration files of a project: the workspace was accepted and the file is there and
 * what it was then, or the caller vouches for it. Files are compared only when somebody asks.
 */
export function fileTrust(
  project: string,
  runtime: Runtime,
  workspaceTrust: Settings['workspaceTrust'],
): FileTrust {
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
    accepted,
    now,
    blockOf(path: string): ServerBlock | undefined {
      if (isVouched) return undefined
      const name = relative(workspace, path).split(sep).join('/')
      const lists = listsOf.get(name) ?? []
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
          (changed === name && kind !== 'category') ||
          (isServers && kind === 'server-file') ||
          (kind === 'mcp' && lists.includes(changed)),
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
  /** Where administrators put settings of Claude Code; default: its folder on this platform. */
  managedFolder?: string | undefined
}): ServerConfiguration {
  const { runtime } = options
  const project = findWorkspace(options.project, runtime)
  const trust = fileTrust(project, runtime, options.trust ?? 'ask')
  const programs = trust.accepted.filter(({ kind }) => kind === 'server-file')
  const compared = [
    new TrustStore(runtime).path,
    ...programs.map(({ path }) => join(project, path)),
  ]
  const diagnostics = [...trust.diagnostics]
  const found: Found = {
    project,
    runtime,
    trust,
    servers: [],
    inputs: new Set(compared),
    limits: new Map(),
    unreadable: [],
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
  const switches = readClaudeSwitches({ project, runtime, managed: options.managedFolder })
  for (const { message, path } of switches.problems) {
    const facts = { code: 'servers-invalid', severity: 'error', path } as const
    reported.set(path, { ...facts, message: `${message}; the servers of Claude Code are left out` })
  }
  const inputs = [...found.inputs, ...switches.inputs]
  const read = { files, inputs, diagnostics: [...reported.values()] }
  const servers = found.servers.map((server, at) => {
    if (server.source.client !== 'claude-code')
      return limited(barred(server, at, found), found, files)
    const ruled = { ...server, clientRules: [switches.denied(server)] }
    return switches.isOff(server) ? { ...ruled, disabled: true } : barred(ruled, at, found)
  })
  return { ...selectServers(servers), ...read }
}

/** A server must not start instead of an earlier one of its name that may restrict it. */
function barred(server: ServerDefinition, at: number, { unreadable }: Found): ServerDefinition {
  const entry = unreadable.find(
    ({ name, before }) => (name === undefined || name === server.name) && before <= at,
  )
  if (!entry || server.blocked) return server
  const { name, path } = entry
  const what =
    name === undefined
      ? `the file ${path}, which may have a server of this name,`
      : `the server of this name in ${path}`
  const hint =
    name === undefined ? `Correct or remove ${path}.` : `Correct or remove it in ${path}.`
  const message = `${what} takes precedence and cannot be used`
  return { ...server, blocked: { reason: 'unresolved', message, hint } }
}

/**
 * A server that its client leaves out counts as disabled. The lists of the user's own file are for all
 * servers of the client, those of a project for its own; a list that cannot be read leaves out all.
 */
function limited(
  server: ServerDefinition,
  { limits }: Found,
  files: readonly ServerFile[],
): ServerDefinition {
  const { client, scope } = server.source
  const listing = files.filter(
    (file) => file.client === client && (file.scope === 'user' || file.scope === scope),
  )
  const limitsOfFiles = listing.map((file) => limits.get(file.path) ?? {})
  const isLeftOut =
    (hasLimits(client) && listing.some(({ state }) => state === 'broken')) ||
    limitsOfFiles.some(({ allowed, excluded = [] }) => {
      const isExcluded = excluded.some((name) => isSame(name, server.name))
      // Gemini CLI compares without regard to case, and the others do not.
      const isAllowed = allowed?.some((name) =>
        client === 'gemini' ? isSame(name, server.name) : name === server.name,
      )
      return isExcluded || isAllowed === false
    })
  const clientRules = limitsOfFiles.flatMap(({ tools = [] }) => tools)
  return { ...server, clientRules, disabled: server.disabled || isLeftOut }
}

function hasLimits(client: ServerClient): boolean {
  return client !== 'agent-plugin' && listShapeOf(client).limits !== undefined
}

function isSame(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
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
    readPlace(place, {
      project,
      runtime,
      trust,
      servers: [],
      inputs: new Set(),
      limits: new Map(),
      unreadable: [],
      diagnostics,
    })
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
  /** By the path of the file that has them. */
  limits: Map<string, ServerLimits>
  unreadable: UnreadableEntry[]
  diagnostics: Diagnostic[]
}

/** An entry or a file that takes effect and cannot be used, so that what it restricts is not known. */
interface UnreadableEntry {
  /** Undefined: the whole file, so that it may be any name. */
  name: string | undefined
  path: string
  /** How many servers were read before it. */
  before: number
}

function readPlace(place: ServerPlace, found: Found): ServerFile['state'] {
  const { path, scope, shape } = place
  const { diagnostics, servers } = found
  const broken = (code: string, problem: string, at: Partial<Diagnostic> = {}): 'broken' => {
    const isActing =
      shape.hasNoServers !== true && (scope === 'user' || found.trust.blockOf(path) === undefined)
    const more = isActing ? ', and no server of a file after it is started' : ''
    const message = `${problem}; its servers are left out${more}`
    diagnostics.push({ code, severity: 'error', message, path, ...at })
    if (isActing) found.unreadable.push({ name: undefined, path, before: servers.length })
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
  const limits = shape.limits?.(document.root)
  if (limits && 'problem' in limits) {
    const line = document.lineOf([limits.key ?? ''])
    return broken('servers-invalid', limits.problem, { line })
  }
  if (limits) found.limits.set(path, limits)
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
  const unreadable = (problem: string, more: { key?: string | undefined } = {}): undefined => {
    if (!block) found.unreadable.push({ name, path, before: found.servers.length })
    return report('error', 'server-invalid', problem, more)
  }
  if (!isObject(entry)) return unreadable('it must be an object')
  const raw = place.shape.read(entry, (message, key) =>
    report('warning', 'server-field-invalid', message, { key }),
  )
  if ('problem' in raw) return unreadable(raw.problem, raw)

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
  // It has a block of its own; those that follow it must not start in its place.
  if (fatal && !block && !raw.disabled)
    found.unreadable.push({ name, path, before: found.servers.length + 1 })
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

type Places = (readonly [client: FileClient, path: string, hasServers?: false])[]

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
  // Where a variable leads into the project, the file is one that a repository can bring.
  const moved: string[] = []
  const scopeOf = (path: string) =>
    moved.some((place) => isInside(place, path)) ? 'project' : 'user'
  const config = absolute('XDG_CONFIG_HOME') ?? join(home, '.config')
  const claude = join(absolute('CLAUDE_CONFIG_DIR') ?? home, '.claude.json')
  const copilot = absolute('COPILOT_HOME') ?? '.copilot'
  const openCode = ['opencode.jsonc', 'opencode.json', 'config.json']
  const ofProject: Places = [
    ['claude-code', '.mcp.json'],
    ['cursor', '.cursor/mcp.json'],
    ['vscode', '.vscode/mcp.json'],
    ['gemini', '.gemini/settings.json'],
    ['qwen', '.qwen/settings.json'],
    ['copilot', '.github/mcp.json'],
    ...copilotSettings.map((path) => ['copilot', path, false] as const),
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
    ['vscode', join(applications(), 'Code/User/settings.json'), false],
    ['windsurf', '.codeium/windsurf/mcp_config.json'],
    ['gemini', join(absolute('GEMINI_CLI_HOME') ?? home, '.gemini/settings.json')],
    ['qwen', join(absolute('QWEN_HOME') ?? '.qwen', 'settings.json')],
    ['copilot', join(copilot, 'mcp-config.json')],
    ['copilot', join(copilot, 'settings.json'), false],
    ['copilot', join(copilot, 'config.json'), false],
    ['codex', join(absolute('CODEX_HOME') ?? '.codex', 'config.toml')],
    ...openCode.map((name) => ['opencode', join(config, 'opencode', name)] as const),
  ]
  const further = absolute('OPENCODE_CONFIG_DIR')
  if (further !== undefined) {
    const files = openCode.slice(0, 2).map((name) => ['opencode', join(further, name)] as const)
    ofUser.splice(-openCode.length, 0, ...files)
  }
  const named = absolute('OPENCODE_CONFIG')
  if (named !== undefined) ofUser.splice(-openCode.length, 0, ['opencode', named])
  const placesOf = (scope: ServerSource['scope'], root: string, places: Places): ServerPlace[] =>
    places.map(([client, place, hasServers]) => {
      const path = resolve(root, place)
      const actual = scope === 'user' ? scopeOf(path) : scope
      const shape = hasServers === false ? listShapeOf(client) : shapeOf(client)
      return { client, scope: actual, path, shape }
    })
  return [
    {
      client: 'claude-code',
      scope: scopeOf(claude),
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
    if (!value || !isAbsolute(value)) return undefined
    if (isInProject(value, project)) moved.push(value)
    return value
  }
}
