import { join, relative, resolve, sep } from 'node:path'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { isObject, parseJson, sha256 } from '../../core/json.ts'
import { readRegularFile, realPathOf } from '../../core/read-files.ts'
import type { Runtime } from '../../core/runtime.ts'
import type { Settings } from '../../core/settings.ts'
import type { JsonValue } from '../../skill/model.ts'
import { collectActingParts } from '../../trust/acting-parts.ts'
import { findWorkspace, readTrustPolicy } from '../../trust/decide.ts'
import type { AcceptedPart, ActingPart } from '../../trust/model.ts'
import { assessWorkspace } from '../../trust/skill-trust.ts'
import { TrustStore } from '../../trust/store.ts'
import { type Document, readDocument } from './document.ts'
import type {
  ServerBlock,
  ServerConfiguration,
  ServerDefinition,
  ServerFile,
  ServerTransport,
  ShadowedServer,
} from './model.ts'
import { type ServerPlace, serverPlaces } from './places.ts'
import { resolveServer } from './variables.ts'

/** What to do where a file is not what was accepted. */
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
  const { acceptance, workspace } = policy
  const isVouched = workspaceTrust === 'trusted'
  const own = acceptance?.parts.filter(({ owner }) => owner === '') ?? []
  const accepted: readonly AcceptedPart[] = isVouched ? [] : own
  let parts: readonly ActingPart[] | undefined
  let changed: ReadonlySet<string> | undefined
  const now = (): readonly ActingPart[] => (parts ??= collectActingParts(workspace, []))
  return {
    diagnostics,
    /**
     * What was accepted of the workspace itself, not of its skills: those are compared when they act.
     * Nothing where the caller vouches for it.
     */
    accepted,
    /** The same as it is now; read when somebody asks, and once. */
    now,
    /** Why the servers of a file in the workspace may not start; undefined: they may. */
    blockOf(path: string): ServerBlock | undefined {
      if (isVouched) return undefined
      if (acceptance === undefined) {
        return {
          reason: 'untrusted',
          message: `it is configured by the project in ${path}, and the workspace was never trusted`,
          hint: 'Review and trust the project with: skillrail trust (in CI: --trust-workspace)',
        }
      }
      changed ??= new Set(
        assessWorkspace({ ...acceptance, parts: accepted }, now()).changes.map(
          ({ part }) => part.path,
        ),
      )
      const name = relative(workspace, path).split(sep).join('/')
      // A file that was read and is gone by now is not as accepted, whether it was accepted or not.
      if (!changed.has(name) && now().some((part) => part.path === name)) return undefined
      const message = `${path} has changed since the workspace was trusted`
      return { reason: 'changed', message, hint: acceptingHint }
    },
  }
}

/** A server that says nothing of it has this long to start, `npx` fetching it included. */
const defaultStartupTimeoutMs = 30_000
const defaultCallTimeoutMs = 60_000
const maxFileBytes = 16 * 1024 * 1024

/**
 * Reads which servers are configured for a project, by whom, and which definition of a name holds.
 * Only files are read; nothing is started. A broken file hides no other.
 */
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
  const readings = serverPlaces(project, runtime).map((place) =>
    readPlace(place, project, runtime, trust),
  )
  const diagnostics = [...trust.diagnostics, ...readings.flatMap((reading) => reading.diagnostics)]
  // A file that is read for two places is reported once.
  const byText = new Map(diagnostics.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic]))
  return {
    ...selectServers(readings.flatMap(({ servers }) => servers)),
    files: readings.map(({ file }) => file),
    inputs: [
      ...new Set([new TrustStore(runtime).path, ...readings.flatMap(({ inputs }) => inputs)]),
    ],
    diagnostics: [...byText.values()],
  }
}

interface PlaceReading {
  file: ServerFile
  servers: readonly ServerDefinition[]
  /** The file itself, and those that its variables name. */
  inputs: readonly string[]
  diagnostics: readonly Diagnostic[]
}

function readPlace(
  place: ServerPlace,
  project: string,
  runtime: Runtime,
  trust: FileTrust,
): PlaceReading {
  const { client, path, scope, shape } = place
  const ended = (
    state: ServerFile['state'],
    diagnostics: readonly Diagnostic[] = [],
    servers: readonly ServerDefinition[] = [],
    inputs: readonly string[] = [path],
  ): PlaceReading => ({
    file: { client, path, scope, state, servers: servers.length },
    servers,
    inputs,
    diagnostics,
  })
  const file = readRegularFile(path, { maxBytes: maxFileBytes })
  if (!file.ok) {
    if (file.code === 'file-missing') return ended('missing')
    return ended('broken', [{ code: file.code, severity: 'error', message: file.message, path }])
  }
  const document = readDocument(file.text, shape.syntax)
  if (!document.ok) {
    const { message: problem, line, column } = document
    const message = `${problem}; its servers are left out`
    const code = 'servers-syntax'
    return ended('broken', [{ code, severity: 'error', message, path, line, column }])
  }
  const inputs = [path]
  const reader: EntryReader = {
    place,
    document,
    block: scope === 'project' ? trust.blockOf(path) : undefined,
    runtime,
    project,
    onRead: (input) => inputs.push(input),
    diagnostics: [],
  }
  const servers = shape.groups(document.root).flatMap((group) => {
    for (const { key, line } of document.repeatedIn(group.place)) {
      const message = `the server "${key}" is named twice in this file; the last one counts`
      reader.diagnostics.push({ code: 'server-repeated', severity: 'warning', message, path, line })
    }
    return Object.entries(group.entries).flatMap(
      ([name, entry]) => readServer(name, entry, [...group.place, name], reader) ?? [],
    )
  })
  if (reader.block !== undefined && servers.length > 0) {
    const { reason, message: why, hint } = reader.block
    const message = `its servers are not started: ${why}`
    const code = `servers-${reason}`
    reader.diagnostics.push({ code, severity: 'warning', message, path, hint })
  }
  return ended('read', reader.diagnostics, servers, inputs)
}

/** What the entries of one file are read with. */
interface EntryReader {
  place: ServerPlace
  document: Document
  block: ServerBlock | undefined
  runtime: Runtime
  project: string
  onRead(path: string): void
  diagnostics: Diagnostic[]
}

function readServer(
  name: string,
  entry: JsonValue,
  keys: readonly string[],
  { place, document, block, runtime, project, onRead, diagnostics }: EntryReader,
): ServerDefinition | undefined {
  const { client, path, scope } = place
  const report = (
    severity: Diagnostic['severity'],
    code: string,
    problem: string,
    more: { key?: string | undefined; hint?: string | undefined } = {},
  ): undefined => {
    const line = document.lineOf(more.key === undefined ? keys : [...keys, more.key])
    const message = `server "${name}": ${problem}`
    diagnostics.push({ code, severity, message, path, line, hint: more.hint })
  }
  if (!isUsableName(name)) return report('error', 'server-name-invalid', nameRule)
  if (!isObject<JsonValue>(entry)) return report('error', 'server-invalid', 'it must be an object')
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
    onRead,
  })
  for (const { message, hint, fatal } of isBlocked ? [] : problems) {
    const severity = fatal && !raw.disabled ? 'error' : 'warning'
    report(severity, 'server-variable', message, { hint })
  }
  if (startsOwnServer(transport, isBlocked ? undefined : project)) {
    return report(
      'info',
      'server-own',
      'it is Skillrail itself, serving the others to a client; it is left out',
    )
  }
  const fatal = problems.find((problem) => problem.fatal)
  return {
    name,
    transport,
    source: { client, path, scope, line: document.lineOf(keys) },
    startupTimeoutMs: wholeTime(raw.startupTimeoutMs) ?? defaultStartupTimeoutMs,
    callTimeoutMs: wholeTime(raw.callTimeoutMs) ?? defaultCallTimeoutMs,
    allow: raw.allow,
    deny: raw.deny,
    disabled: raw.disabled,
    trusted: !isBlocked,
    digest: sha256(JSON.stringify([name, raw])),
    blocked:
      block ??
      (fatal && {
        reason: 'unresolved',
        message: fatal.message,
        hint: fatal.hint ?? `Correct it in ${path}.`,
      }),
  }
}

const nameRule =
  'a name has 1 to 100 printable characters and is none of JavaScript’s own, such as __proto__'

function isUsableName(name: string): boolean {
  return (
    /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,100}$/u.test(name) &&
    name.trim() === name &&
    !['__proto__', 'constructor', 'prototype'].includes(name)
  )
}

/** Timers take no fraction of a millisecond. */
function wholeTime(milliseconds: number | undefined): number | undefined {
  return milliseconds ? Math.max(1, Math.round(milliseconds)) : undefined
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
    if (winner === undefined || winner === server) return []
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
  const program = realPathOf(resolve(directory, word))
  if (program === undefined) return false
  const file = readRegularFile(join(program, '../../../package.json'), { maxBytes: 1_000_000 })
  const facts = file.ok ? parseJson(file.text) : undefined
  return isObject(facts) && facts['name'] === 'skillrail'
}
