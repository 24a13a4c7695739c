import { realpathSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { isObject, sha256 } from '../../core/json.ts'
import { readRegularFile } from '../../core/read-files.ts'
import type { Runtime } from '../../core/runtime.ts'
import type { Settings } from '../../core/settings.ts'
import type { JsonValue } from '../../skill/model.ts'
import { collectActingParts } from '../../trust/acting-parts.ts'
import { findWorkspace, readTrustPolicy } from '../../trust/decide.ts'
import type { Acceptance, AcceptedPart, ActingPart } from '../../trust/model.ts'
import { assessWorkspace } from '../../trust/skill-trust.ts'
import { TrustStore } from '../../trust/store.ts'
import type { JsonObject } from '../model.ts'
import { readDocument } from './document.ts'
import type {
  RawServer,
  ServerBlock,
  ServerConfiguration,
  ServerDefinition,
  ServerFile,
  ServerTransport,
  ShadowedServer,
} from './model.ts'
import { type ServerPlace, serverPlaces } from './places.ts'
import { fieldsOf } from './shapes.ts'
import { inputVariable, resolveServer, type VariableContext } from './variables.ts'

/** Says of a file in the workspace whether its servers may start; undefined: they may. */
export interface FileTrust {
  blockOf(path: string): ServerBlock | undefined
  /**
   * What was accepted of the workspace itself, not of its skills: those are compared when they act.
   * Nothing where the caller vouches for it.
   */
  accepted: readonly AcceptedPart[]
  /** The same as it is now; read when somebody asks, and once. */
  now(): readonly ActingPart[]
  diagnostics: readonly Diagnostic[]
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
  const { acceptance } = policy
  const vouched = workspaceTrust === 'trusted'
  const accepted = vouched ? [] : (acceptance?.parts ?? []).filter(({ owner }) => owner === '')
  let parts: readonly ActingPart[] | undefined
  let asAccepted: ReadonlySet<string> | undefined
  const now = (): readonly ActingPart[] => (parts ??= collectActingParts(policy.workspace, []))
  return {
    diagnostics,
    accepted,
    now,
    blockOf(path) {
      if (vouched) return undefined
      if (acceptance === undefined) return untrusted(path)
      asAccepted ??= acceptedFiles(acceptance)
      const name = relative(policy.workspace, path).split(sep).join('/')
      return asAccepted.has(name) ? undefined : changedSince(path)
    },
  }

  /** A file that was read and is gone by now is none of them, whether it was accepted or not. */
  function acceptedFiles(whole: Acceptance): ReadonlySet<string> {
    const { changes } = assessWorkspace({ ...whole, parts: accepted }, now())
    const changed = new Set(changes.map(({ part }) => part.path))
    return new Set(
      now()
        .map(({ path }) => path)
        .filter((path) => !changed.has(path)),
    )
  }
}

/** What to do where a file is not what was accepted. */
export const acceptingHint = 'To see what changed and accept it: skillrail trust'

function untrusted(path: string): ServerBlock {
  return {
    reason: 'untrusted',
    message: `it is configured by the project in ${path}, and the workspace was never trusted`,
    hint: 'Review and trust the project with: skillrail trust (in CI: --trust-workspace)',
  }
}

function changedSince(path: string): ServerBlock {
  return {
    reason: 'changed',
    message: `${path} has changed since the workspace was trusted`,
    hint: acceptingHint,
  }
}

interface ReadServersOptions {
  /** A directory of the project; the servers are those of its workspace. */
  project: string
  runtime: Runtime
  /** `trusted`: the caller vouches for the workspace; default `ask`. */
  trust?: Settings['workspaceTrust'] | undefined
}

/** A server that says nothing of it has this long to start, `npx` fetching it included. */
const defaultStartupTimeoutMs = 30_000
const defaultCallTimeoutMs = 60_000
const maxFileBytes = 16 * 1024 * 1024

/**
 * What servers are configured for a project, by whom, and which definition of a name holds. Reads
 * files only; nothing is started. A broken file hides no other.
 */
export function readServerConfiguration(options: ReadServersOptions): ServerConfiguration {
  const { runtime } = options
  const project = findWorkspace(options.project, runtime)
  const trust = fileTrust(project, runtime, options.trust ?? 'ask')
  const diagnostics: (readonly Diagnostic[])[] = [trust.diagnostics]
  const files: ServerFile[] = []
  const inputs = new Set<string>([new TrustStore(runtime).path])
  const found: (readonly ServerDefinition[])[] = []
  for (const place of serverPlaces) {
    for (const path of place.paths({ project, runtime })) {
      inputs.add(path)
      const reading = readPlace(place, path, {
        project,
        runtime,
        trust,
        onRead: (file) => inputs.add(file),
      })
      files.push({
        client: place.client,
        path,
        scope: place.scope,
        state: reading.state,
        servers: reading.servers.length,
      })
      found.push(reading.servers)
      diagnostics.push(reading.diagnostics)
    }
  }
  const selected = selectServers(found.flat())
  return { ...selected, files, inputs: [...inputs], diagnostics: unique(diagnostics.flat()) }
}

interface PlaceFacts {
  project: string
  runtime: Runtime
  trust: FileTrust
  onRead(path: string): void
}

interface PlaceReading {
  state: ServerFile['state']
  servers: readonly ServerDefinition[]
  diagnostics: readonly Diagnostic[]
}

function readPlace(place: ServerPlace, path: string, facts: PlaceFacts): PlaceReading {
  const file = readRegularFile(path, { maxBytes: maxFileBytes })
  if (!file.ok) {
    if (file.code === 'file-missing') return { state: 'missing', servers: [], diagnostics: [] }
    return broken({ code: file.code, severity: 'error', message: file.message, path })
  }
  const document = readDocument(file.text, place.shape.syntax)
  if (!document.ok) {
    const { message, line, column } = document
    return broken({
      code: 'servers-syntax',
      severity: 'error',
      message: `${message}; its servers are left out`,
      path,
      line,
      column,
    })
  }
  const diagnostics: Diagnostic[] = []
  const servers: ServerDefinition[] = []
  const block = place.scope === 'project' ? facts.trust.blockOf(path) : undefined
  for (const { place: keys, entries } of place.shape.groups(document.root, facts.project)) {
    for (const { key, line } of document.repeatedIn(keys)) {
      const message = `the server "${key}" is named twice in this file; the last one counts`
      diagnostics.push({ code: 'server-repeated', severity: 'warning', message, path, line })
    }
    for (const [name, entry] of Object.entries(entries)) {
      const lineOf = (key?: string): number | undefined =>
        document.lineOf(key === undefined ? [...keys, name] : [...keys, name, key])
      const report = (
        severity: Diagnostic['severity'],
        code: string,
        message: string,
        key?: string,
        hint?: string,
      ): void => {
        diagnostics.push({
          code,
          severity,
          message: `server "${name}": ${message}`,
          path,
          line: lineOf(key),
          hint,
        })
      }
      const raw = readEntry(place, name, entry, report)
      if (raw === undefined) continue
      const context = variableContext(document.root, path, facts)
      const server = define(name, raw, { place, path, line: lineOf(), block, context, report })
      const directory = block === undefined ? facts.project : undefined
      if (startsOwnServer(server.transport, directory))
        report('info', 'server-own', ownServerLeftOut)
      else servers.push(server)
    }
  }
  if (block !== undefined && servers.length > 0) {
    const message = `its servers are not started: ${block.message}`
    diagnostics.push({
      code: `servers-${block.reason}`,
      severity: 'warning',
      message,
      path,
      hint: block.hint,
    })
  }
  return { state: 'read', servers, diagnostics }
}

type Report = (
  severity: Diagnostic['severity'],
  code: string,
  message: string,
  key?: string,
  hint?: string,
) => void

function readEntry(
  place: ServerPlace,
  name: string,
  entry: unknown,
  report: Report,
): RawServer | undefined {
  if (!isUsableName(name)) {
    report(
      'error',
      'server-name-invalid',
      'a name has 1 to 100 printable characters and is none of JavaScript’s own, such as __proto__',
    )
    return undefined
  }
  if (!isObject<JsonValue>(entry)) {
    report('error', 'server-invalid', 'it must be an object')
    return undefined
  }
  let refused = false
  const fields = fieldsOf(entry, {
    ignored: (message, key) => report('warning', 'server-field-invalid', message, key),
    wrong(message, key) {
      refused = true
      report('error', 'server-invalid', message, key)
    },
  })
  const raw = place.shape.read(fields)
  return refused ? undefined : raw
}

function isUsableName(name: string): boolean {
  const reserved = ['__proto__', 'constructor', 'prototype']
  return (
    /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,100}$/u.test(name) &&
    name.trim() === name &&
    !reserved.includes(name)
  )
}

interface DefineFacts {
  place: ServerPlace
  path: string
  line: number | undefined
  block: ServerBlock | undefined
  context: VariableContext
  report: Report
}

function define(name: string, raw: RawServer, facts: DefineFacts): ServerDefinition {
  const { place, path, line, block, context, report } = facts
  // Nothing of ours is put into the entry of a project that nobody trusts, and no file is read for it.
  const { transport, problems } = resolveServer(
    block === undefined ? raw : { ...raw, envFile: undefined },
    block === undefined ? place.variables : 'none',
    {
      ...context,
      env: block === undefined ? context.env : {},
    },
  )
  if (block === undefined) {
    for (const { message, hint, fatal } of problems) {
      report(
        fatal && !raw.disabled ? 'error' : 'warning',
        'server-variable',
        message,
        undefined,
        hint,
      )
    }
  }
  const fatal = problems.find((problem) => problem.fatal)
  const unresolved: ServerBlock | undefined = fatal && {
    reason: 'unresolved',
    message: fatal.message,
    hint: fatal.hint ?? `Correct it in ${path}.`,
  }
  return {
    name,
    transport,
    source: { client: place.client, path, scope: place.scope, line },
    startupTimeoutMs: wholeTime(raw.startupTimeoutMs) ?? defaultStartupTimeoutMs,
    callTimeoutMs: wholeTime(raw.callTimeoutMs) ?? defaultCallTimeoutMs,
    allow: raw.allow,
    deny: raw.deny,
    disabled: raw.disabled,
    trusted: block === undefined,
    digest: sha256(JSON.stringify([name, raw])),
    blocked: block ?? unresolved,
  }
}

/** Timers take no fraction of a millisecond. */
function wholeTime(milliseconds: number | undefined): number | undefined {
  return milliseconds ? Math.max(1, Math.round(milliseconds)) : undefined
}

function variableContext(root: JsonObject, path: string, facts: PlaceFacts): VariableContext {
  const { runtime, project, onRead } = facts
  return {
    env: runtime.env,
    home: runtime.home,
    project,
    path,
    onRead,
    input(id) {
      const inputs = Array.isArray(root['inputs']) ? root['inputs'] : []
      const input = inputs
        .filter((item) => isObject<JsonValue>(item))
        .find((candidate) => candidate['id'] === id)
      const preset = input?.['default']
      return (
        runtime.env[inputVariable(id)] ??
        (typeof preset === 'string' && preset !== '' ? preset : undefined)
      )
    },
  }
}

function broken(diagnostic: Diagnostic): PlaceReading {
  return { state: 'broken', servers: [], diagnostics: [diagnostic] }
}

/** A file that is read for two places is reported once. */
function unique(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const byText = new Map(diagnostics.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic]))
  return [...byText.values()]
}

/**
 * Of several definitions with one name, in the order of precedence, the first holds, except that
 * - one that may not start does not hide one that may, so that a project cannot take a server away;
 * - one that its client disabled hides only what the same client says further down.
 */
export function selectServers(found: readonly ServerDefinition[]): {
  servers: readonly ServerDefinition[]
  shadowed: readonly ShadowedServer[]
} {
  const byName = Map.groupBy(found, ({ name }) => name)
  const winners = new Map(Array.from(byName, ([name, all]) => [name, winnerOf(all)]))
  const places = new Map(found.map((server, at) => [server, at]))
  const servers = [...winners.values()].flatMap((winner) => winner ?? [])
  const shadowed = found.flatMap((server): ShadowedServer[] => {
    const winner = winners.get(server.name)
    if (winner === undefined || winner === server) return []
    return [{ server, by: winner.source, reason: reasonOf(server, winner, places) }]
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

function reasonOf(
  server: ServerDefinition,
  winner: ServerDefinition,
  places: ReadonlyMap<ServerDefinition, number>,
): ShadowedServer['reason'] {
  if ((places.get(winner) ?? 0) < (places.get(server) ?? 0)) return 'earlier'
  return server.disabled ? 'disabled' : 'untrusted'
}

const ownServerLeftOut = 'it is Skillrail itself, serving the others to a client; it is left out'

/**
 * Whether it starts `skillrail mcp serve`, under whatever runs it: as one of its own servers Skillrail
 * would call itself, and offer its own tools as those of somebody else.
 *
 * @param directory where it starts when its configuration names none; undefined: no file may be read
 */
function startsOwnServer(transport: ServerTransport, directory?: string): boolean {
  if (transport.kind !== 'stdio') return false
  const { command, args } = transport
  const from = directory === undefined ? undefined : (transport.cwd ?? directory)
  // A shell has the words of its command in one.
  const words = [command, ...args.flatMap((word) => word.split(/[\s'"]+/))]
  const serves = words.findIndex((word, at) => word === 'mcp' && words[at + 1] === 'serve')
  return words
    .slice(0, Math.max(0, serves))
    .some((word) => isOwnName(word) || isOwnFile(word, from))
}

/** `skillrail`, `skillrail@1`, `/somewhere/bin/skillrail.cmd` */
function isOwnName(word: string): boolean {
  return /(?:^|[/\\])skillrail(?:@[\w.^~-]+|\.cmd|\.exe|\.ps1)?$/i.test(word)
}

/** The program of this package, wherever it was put. */
function isOwnFile(word: string, directory: string | undefined): boolean {
  if (directory === undefined || !/[/\\]bin\.[cm]?[jt]s$/.test(word)) return false
  try {
    const program = realpathSync(resolve(directory, word))
    const root = join(dirname(program), '../..')
    const file = readRegularFile(join(root, 'package.json'), { maxBytes: 1_000_000 })
    const facts: unknown = file.ok ? JSON.parse(file.text) : undefined
    return isObject(facts) && facts['name'] === 'skillrail'
  } catch {
    return false
  }
}
