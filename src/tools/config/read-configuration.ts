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

/** The settings that list the servers of a file that are not started. */
const listsOf: ReadonlyMap<string, readonly string[]> = new Map([
  ['.mcp.json', claudeSettings],
  ['.github/mcp.json', copilotSettings],
])

/** How far the files of a workspace match the accepted ones. */
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
 * Returns the trust of a project's configuration files: a file is trusted if the workspace was accepted and
 * the file has not changed since, or if the caller vouches for it. Files are compared only on demand.
 */
export function fileTrust(
  project: string,
  runtime: Runtime,
  workspaceTrust: Settings['workspaceTrust'],
): FileTrust {
  const { policy, diagnostics } = readTrustPolicy(runtime, { workspace: project, workspaceTrust })
  const { workspace, acceptance } = policy
  const isVouched = workspaceTrust === 'trusted'
  const acceptedParts = acceptance?.parts.filter(({ owner }) => owner === '') ?? []
  let currentParts: readonly ActingPart[] | undefined
  let changes: readonly PartChange[] | undefined
  const now = (): readonly ActingPart[] => (currentParts ??= collectActingParts(workspace, []))
  return {
    diagnostics,
    accepted: acceptedParts,
    now,
    blockOf(path: string): ServerBlock | undefined {
      if (isVouched) return undefined
      const name = relative(workspace, path).split(sep).join('/')
      const lists = listsOf.get(name) ?? []
      // An acceptance without the whole workspace contains only the user's own workflows.
      const isOwnWorkflow = acceptedParts.some(
        (part) => part.kind === 'workflow' && part.path === name,
      )
      if (!acceptance || (acceptance.skills && !isOwnWorkflow)) {
        return {
          reason: 'untrusted',
          message: `it is configured by the project in ${path}, and the workspace was never trusted`,
          hint: 'Review and trust the project with: skillrail trust (in CI: --trust-workspace)',
        }
      }
      changes ??= assessWorkspace({ ...acceptance, parts: acceptedParts }, now()).changes
      const isServers = now().some((part) => part.path === name && part.kind === 'mcp')
      const change = changes.find(
        ({ part: { kind, path: changedPath } }) =>
          (changedPath === name && kind !== 'category') ||
          (isServers && kind === 'server-file') ||
          (kind === 'mcp' && lists.includes(changedPath)),
      )
      // A file that was read and no longer exists has changed, whether it was accepted or not.
      if (!change && now().some((part) => part.path === name)) return undefined
      const file = join(workspace, change?.part.path ?? name)
      const message = `${file} has changed since the workspace was trusted`
      return { reason: 'changed', message, hint: acceptingHint }
    },
  }
}

/** Time to start for a server that sets none, including the download by `npx`. */
const defaultStartupTimeoutMs = 30_000
const defaultCallTimeoutMs = 60_000
const maxFileBytes = 16 * 1024 * 1024

/** Returns the servers of a project, with the definition that applies to each name. Only reads files. */
export function readServerConfiguration(options: {
  /** A directory of the project; the servers are those of its workspace. */
  project: string
  runtime: Runtime
  /** `trusted`: the caller vouches for the workspace; default `ask`. */
  trust?: Settings['workspaceTrust'] | undefined
  /** Folder with the managed settings of Claude Code; default: its folder on this platform. */
  managedFolder?: string | undefined
}): ServerConfiguration {
  const { runtime } = options
  const project = findWorkspace(options.project, runtime)
  const trust = fileTrust(project, runtime, options.trust ?? 'ask')
  const serverFiles = trust.accepted.filter(({ kind }) => kind === 'server-file')
  const trustFiles = [
    new TrustStore(runtime).path,
    ...serverFiles.map(({ path }) => join(project, path)),
  ]
  const diagnostics = [...trust.diagnostics]
  const collector: Collector = {
    project,
    runtime,
    trust,
    servers: [],
    inputs: new Set(trustFiles),
    limits: new Map(),
    unreadable: [],
    diagnostics,
  }
  const plugins = pluginPlaces(collector)
  const files = [...serverPlaces(project, runtime), ...plugins].map((place): ServerFile => {
    const { shape: _shape, ...source } = place
    const countBefore = collector.servers.length
    const state = readPlace(place, collector)
    return { ...source, state, servers: collector.servers.length - countBefore }
  })
  // A file that is read for two places is reported once.
  const diagnosticsByKey = new Map(diagnostics.map((one) => [JSON.stringify(one), one]))
  const switches = readClaudeSwitches({ project, runtime, managed: options.managedFolder })
  for (const { message, path } of switches.problems) {
    const facts = { code: 'servers-invalid', severity: 'error', path } as const
    diagnosticsByKey.set(path, {
      ...facts,
      message: `${message}; the servers of Claude Code are left out`,
    })
  }
  const inputs = [...collector.inputs, ...switches.inputs]
  const reading = { files, inputs, diagnostics: [...diagnosticsByKey.values()] }
  const servers = collector.servers.map((server, at) => {
    if (server.source.client !== 'claude-code')
      return applyLimits(blockIfUnreadable(server, at, collector), collector, files)
    const serverWithRules = { ...server, clientRules: [switches.denials(server)] }
    return switches.isOff(server)
      ? { ...serverWithRules, disabled: true }
      : blockIfUnreadable(serverWithRules, at, collector)
  })
  return { ...selectServers(servers), ...reading }
}

/** Blocks a server if an earlier file or entry that may restrict its name cannot be used. */
function blockIfUnreadable(
  server: ServerDefinition,
  at: number,
  { unreadable }: Collector,
): ServerDefinition {
  const entry = unreadable.find(
    ({ name, serversBefore }) =>
      (name === undefined || name === server.name) && serversBefore <= at,
  )
  if (!entry || server.blocked) return server
  const { name, path } = entry
  const subject =
    name === undefined
      ? `the file ${path}, which may have a server of this name,`
      : `the server of this name in ${path}`
  const hint =
    name === undefined ? `Correct or remove ${path}.` : `Correct or remove it in ${path}.`
  const message = `${subject} takes precedence and cannot be used`
  return { ...server, blocked: { reason: 'unresolved', message, hint } }
}

/**
 * Disables the servers that their client leaves out. The lists of the user's own file apply to all servers
 * of the client, those of a project to the project's servers; a list that cannot be read leaves out all of
 * them.
 */
function applyLimits(
  server: ServerDefinition,
  { limits }: Collector,
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
      // Gemini CLI ignores case here; the other clients do not.
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

/** Returns what is wrong with a plugin, except in the text of its skills. */
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
      report('plugin-secret', path, 'the file contains a secret')
  }
  // Fields that a client only ignores are errors here, because the schema does not allow them.
  const asErrors = diagnostics.map((one): Diagnostic =>
    one.code.startsWith('plugin-') ? { ...one, severity: 'error' } : one,
  )
  return { name, diagnostics: asErrors }
}

interface Collector {
  project: string
  runtime: Runtime
  trust: FileTrust
  servers: ServerDefinition[]
  inputs: Set<string>
  /** By path of the file that contains them. */
  limits: Map<string, ServerLimits>
  unreadable: UnreadableEntry[]
  diagnostics: Diagnostic[]
}

/** An entry or a file that takes effect but cannot be used, so that its restrictions are unknown. */
interface UnreadableEntry {
  /** Undefined: the whole file, which can contain any name. */
  name: string | undefined
  path: string
  /** How many servers were read before it. */
  serversBefore: number
}

function readPlace(place: ServerPlace, collector: Collector): ServerFile['state'] {
  const { path, scope, shape } = place
  const { diagnostics, servers } = collector
  const reportBroken = (code: string, problem: string, at: Partial<Diagnostic> = {}): 'broken' => {
    const isActing =
      shape.hasNoServers !== true &&
      (scope === 'user' || collector.trust.blockOf(path) === undefined)
    const more = isActing ? ', and no server of a file after it is started' : ''
    const message = `${problem}; its servers are left out${more}`
    diagnostics.push({ code, severity: 'error', message, path, ...at })
    if (isActing)
      collector.unreadable.push({ name: undefined, path, serversBefore: servers.length })
    return 'broken'
  }
  collector.inputs.add(path)
  const file = readRegularFile(path, { maxBytes: maxFileBytes })
  if (!file.ok)
    return file.code === 'file-missing' ? 'missing' : reportBroken(file.code, file.message)
  const document = readDocument(file.text, shape.syntax, shape.strict)
  if (!document.ok) {
    const { message, line, column } = document
    return reportBroken('servers-syntax', message, { line, column })
  }
  const groups = shape.groups(document.root)
  if ('problem' in groups) return reportBroken('servers-invalid', groups.problem, { line: 1 })
  const limits = shape.limits?.(document.root)
  if (limits && 'problem' in limits) {
    const line = document.lineOf([limits.key ?? ''])
    return reportBroken('servers-invalid', limits.problem, { line })
  }
  if (limits) collector.limits.set(path, limits)
  const block = scope === 'project' ? collector.trust.blockOf(path) : undefined
  const countBefore = servers.length
  for (const { place: keys, entries } of groups) {
    for (const [name, entry] of Object.entries(entries)) {
      const server = readServer([...keys, name], entry, { place, document, block, collector })
      if (server) servers.push(server)
    }
  }
  if (block && servers.length > countBefore) {
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
  collector: Collector
}

function readServer(
  keys: readonly string[],
  entry: JsonValue,
  { place, document, block, collector }: EntryContext,
): ServerDefinition | undefined {
  const name = keys.at(-1) ?? ''
  const { client, path, scope } = place
  const { project, runtime } = collector
  const report = (
    severity: Diagnostic['severity'],
    code: string,
    problem: string,
    more: { key?: string | undefined; hint?: string | undefined } = {},
  ): undefined => {
    const line = document.lineOf(more.key === undefined ? keys : [...keys, more.key])
    const message = `server "${name}": ${problem}`
    collector.diagnostics.push({ code, severity, message, path, line, hint: more.hint })
  }
  if (!isUsableName(name)) return report('error', 'server-name-invalid', nameRule)
  const unreadable = (problem: string, more: { key?: string | undefined } = {}): undefined => {
    if (!block) collector.unreadable.push({ name, path, serversBefore: collector.servers.length })
    return report('error', 'server-invalid', problem, more)
  }
  if (!isObject(entry)) return unreadable('it must be an object')
  const raw = place.shape.read(entry, (message, key) =>
    report('warning', 'server-field-invalid', message, { key }),
  )
  if ('problem' in raw) return unreadable(raw.problem, raw)

  // For an untrusted project, no variable is expanded and no file is read.
  const isBlocked = block !== undefined
  const { transport, problems } = resolveServer(isBlocked ? { ...raw, envFile: undefined } : raw, {
    client: isBlocked ? undefined : client,
    env: isBlocked ? {} : runtime.env,
    home: runtime.home,
    project,
    path,
    root: document.root,
    onRead: (input) => collector.inputs.add(input),
  })
  for (const { message, hint, fatal } of isBlocked ? [] : problems) {
    const severity = fatal && !raw.disabled ? 'error' : 'warning'
    report(severity, 'server-variable', message, { hint })
  }
  if (startsOwnServer(transport))
    return report('info', 'server-own', 'it is Skillrail itself; it is left out')
  const fatal = problems.find((problem) => problem.fatal)
  const hint = fatal?.hint ?? `Correct it in ${path}.`
  // The server itself has a block; the servers after it must not start in its place.
  if (fatal && !block && !raw.disabled)
    collector.unreadable.push({ name, path, serversBefore: collector.servers.length + 1 })
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
  'a name has 1 to 100 printable characters and is not a name of JavaScript itself, such as __proto__'

function isUsableName(name: string): boolean {
  return (
    /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,100}$/u.test(name) &&
    name.trim() === name &&
    !prototypeKeys.has(name)
  )
}

/** Timers do not accept fractions of a millisecond. */
function wholeTime(milliseconds: number): number {
  return Math.max(1, Math.round(milliseconds))
}

/**
 * Selects one definition for each name. The first in the order of precedence applies, except that
 * - a definition that may not start does not hide one that may, so that a project cannot take a server
 * away;
 * - a definition that its client disabled hides only later ones of the same client.
 */
export function selectServers(
  definitions: readonly ServerDefinition[],
): Pick<ServerConfiguration, 'servers' | 'shadowed'> {
  const servers = [...Map.groupBy(definitions, ({ name }) => name).values()].flatMap(
    (candidates) => winnerOf(candidates) ?? [],
  )
  const winners = new Map(servers.map((server) => [server.name, server]))
  const earlierServers = new Set<ServerDefinition>()
  const shadowed = definitions.flatMap((server): ShadowedServer[] => {
    earlierServers.add(server)
    const winner = winners.get(server.name)
    if (!winner || winner === server) return []
    const laterReason = server.disabled ? 'disabled' : 'untrusted'
    return [
      { server, by: winner.source, reason: earlierServers.has(winner) ? 'earlier' : laterReason },
    ]
  })
  return { servers, shadowed }
}

function winnerOf(candidates: readonly ServerDefinition[]): ServerDefinition | undefined {
  const off = new Set<string>()
  const live = candidates.filter(({ source, disabled }) => {
    if (disabled) off.add(source.client)
    return !off.has(source.client)
  })
  return live.find(({ blocked }) => blocked === undefined) ?? live[0] ?? candidates[0]
}

/**
 * Whether the server starts `skillrail mcp serve`, through any launcher: Skillrail would call itself. Cases
 * that this does not detect are refused when they are connected.
 */
function startsOwnServer(transport: ServerTransport): boolean {
  if (transport.kind !== 'stdio') return false
  // A shell gets its whole command as one word.
  const words = [transport.command, ...transport.args].flatMap((word) => word.split(/[\s'"]+/))
  const serves = words.findIndex((word, at) => word === 'mcp' && words[at + 1] === 'serve')
  const skillrailProgram = /(?:^|[/\\])skillrail(?:@[\w.^~-]+|\.cmd|\.exe|\.ps1)?$/i
  return words.slice(0, Math.max(0, serves)).some((word) => skillrailProgram.test(word))
}

interface ServerPlace extends Pick<ServerSource, 'client' | 'scope' | 'path'> {
  shape: ServerShape
}

/** Returns the places of plugin servers, after every other file: first the project's, then the user's. */
function pluginPlaces({ project, runtime, inputs, diagnostics }: Collector): ServerPlace[] {
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
 * Returns every place, in the order of precedence: files of the project before those of the user. The
 * servers that Claude Code stores for this project in the user's own file come first, as in Claude Code.
 *
 * @param project real path of the workspace
 */
function serverPlaces(
  project: string,
  { env, home, platform }: Pick<Runtime, 'env' | 'home' | 'platform'>,
): ServerPlace[] {
  // If a variable leads into the project, a repository can bring that file.
  const projectPaths: string[] = []
  const scopeOf = (path: string) =>
    projectPaths.some((place) => isInside(place, path)) ? 'project' : 'user'
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
  const configFile = absolute('OPENCODE_CONFIG')
  if (configFile !== undefined) ofUser.splice(-openCode.length, 0, ['opencode', configFile])
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
    if (isInProject(value, project)) projectPaths.push(value)
    return value
  }
}
