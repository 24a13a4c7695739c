import { isAbsolute, join } from 'node:path'
import { compareText, type Diagnostic } from '../core/diagnostic.ts'
import { isObject } from '../core/json.ts'
import { readRegularFile, realPathOf } from '../core/read-files.ts'
import { type Runtime, userDirectories } from '../core/runtime.ts'
import { StateFileError } from '../core/errors.ts'
import { withFileLock } from '../core/file-lock.ts'
import { writeFileAtomic } from '../core/write-files.ts'
import { keepTexts, readKeptText, wasSecret } from './kept-texts.ts'
import type { Acceptance, AcceptedPart, ActingKind, ActingPart } from './model.ts'
import { type JsonPlace, offsetOf, syntaxErrorOffset } from './project-json.ts'
import { isDigest, unreadableDigest } from './skill-files.ts'

/** What the record holds. A broken record holds nothing and says so: everything is untrusted then. */
export interface TrustReading {
  acceptances: readonly Acceptance[]
  diagnostics: readonly Diagnostic[]
}

/** The user's record of trusted workspaces. Writers take turns; a write is all or nothing. */
export interface TrustStore {
  /** `trust.json` in the user's state directory. */
  readonly path: string
  /** Never throws: a broken or newer record is an error diagnostic. */
  read(): TrustReading
  /** What was accepted for a workspace. @throws {StateFileError} for a broken or newer record. */
  find(workspace: string): Acceptance | undefined
  /**
   * Records `parts` as accepted, in place of what was.
   * @throws {StateFileError} as `find`, and `trust-part-unreadable` where a part cannot be vouched for.
   */
  accept(
    workspace: string,
    parts: readonly ActingPart[],
    options?: { pinned?: boolean | undefined },
  ): Promise<Acceptance>
  /** Takes the trust back; false where there was none. @throws {StateFileError} as `find`. */
  revoke(workspace: string): Promise<boolean>
  /**
   * The text of an accepted part, for a diff; undefined where there was none, it was large, or held
   * what looks like a secret.
   */
  acceptedText(digest: string): string | undefined
  /** Whether that text was not kept because it seemed to hold a secret. */
  wasSecret(digest: string): boolean
}

const maxRecordBytes = 64 * 1024 * 1024
const waitMs = 60_000

/** Opens the record of the user whom `runtime` stands for. Nothing is read or made until asked. */
export function openTrustStore(runtime: Runtime): TrustStore {
  const { state } = userDirectories(runtime)
  const path = join(state, 'trust.json')
  const texts = join(state, 'trust')
  return {
    path,
    read: () => readOrReport(path),
    find: (workspace) => load(path).find((item) => item.workspace === realOr(workspace)),
    accept: async (workspace, parts, options = {}) => {
      const acceptance = acceptanceOf(realOr(workspace), parts, options.pinned ?? false)
      await change((others) => [...others, acceptance], acceptance.workspace, parts)
      return acceptance
    },
    revoke: (workspace) => change((others) => others, realOr(workspace), []),
    acceptedText: (digest) => readKeptText(texts, digest),
    wasSecret: (digest) => wasSecret(texts, digest),
  }

  function acceptanceOf(
    workspace: string,
    parts: readonly ActingPart[],
    pinned: boolean,
  ): Acceptance {
    const bad = parts.find((part) => part.digest === unreadableDigest)
    if (bad !== undefined) throw unreadable(bad)
    return {
      workspace,
      acceptedAt: new Date(runtime.now()).toISOString(),
      pinned,
      parts: parts.map(({ owner, path: file, kind, digest, size }) => {
        return { owner, path: file, kind, digest, size }
      }),
    }
  }

  /** Replaces the entry of one workspace; true where there was one. */
  function change(
    update: (others: readonly Acceptance[]) => readonly Acceptance[],
    workspace: string,
    parts: readonly ActingPart[],
  ): Promise<boolean> {
    return withFileLock(
      path,
      async () => {
        const before = load(path)
        const others = before.filter((item) => item.workspace !== workspace)
        const after = update(others).toSorted((a, b) => compareText(a.workspace, b.workspace))
        if (after.length > 0 || before.length > 0) {
          await writeFileAtomic(path, serializeTrust(after), { mode: 0o600 })
        }
        const needed = after.flatMap((item) => item.parts.map(({ digest }) => digest))
        keepTexts(texts, parts, needed)
        return others.length < before.length
      },
      { waitMs },
    )
  }
}

function load(path: string): Acceptance[] {
  const file = readRegularFile(path, { maxBytes: maxRecordBytes })
  if (file.ok) return parseTrust(file.text, path)
  if (file.code === 'file-missing') return []
  throw corrupt(path, file.message)
}

function readOrReport(path: string): TrustReading {
  try {
    return { acceptances: load(path), diagnostics: [] }
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error
    const { code, message, hint } = error
    return { acceptances: [], diagnostics: [{ code, severity: 'error', message, path, hint }] }
  }
}

function unreadable(part: ActingPart): StateFileError {
  return new StateFileError({
    code: 'trust-part-unreadable',
    message: `${part.path} ${part.problem ?? 'cannot be read'}, so it cannot be verified`,
    hint: 'Remove it or make it readable, then trust the workspace again.',
  })
}

function realOr(workspace: string): string {
  return realPathOf(workspace) ?? workspace
}

const version = 1

/** The record as text, workspaces in the order given. */
export function serializeTrust(acceptances: readonly Acceptance[]): string {
  return `${JSON.stringify({ version, workspaces: acceptances }, undefined, 1)}\n`
}

/**
 * Reads the record. Every value is checked and copied, and what is not ours is refused as a whole:
 * half a record could trust what the user took back.
 *
 * @throws {StateFileError} `trust-file-newer`, or `trust-file-corrupt` with the place.
 */
export function parseTrust(text: string, path: string): Acceptance[] {
  const value = parseJson()
  if (!isObject(value)) return fail([], 'it must be an object')
  const found = value['version']
  if (typeof found === 'number' && found > version) throw newer(path, found)
  if (found !== version) return fail(['version'], `it must be ${version}`)
  const seen = new Set<string>()
  return list(value['workspaces'], ['workspaces']).map((item, index) => {
    const place = ['workspaces', index]
    const acceptance = readAcceptance(item, place)
    if (seen.has(acceptance.workspace)) return fail([...place, 'workspace'], 'it is there twice')
    seen.add(acceptance.workspace)
    return acceptance
  })

  function readAcceptance(item: unknown, place: JsonPlace): Acceptance {
    if (!isObject(item)) return fail(place, 'it must be an object')
    const { workspace, acceptedAt, pinned } = item
    if (typeof workspace !== 'string' || !isAbsolute(workspace)) {
      return fail([...place, 'workspace'], 'it must be an absolute path')
    }
    if (typeof acceptedAt !== 'string') return fail([...place, 'acceptedAt'], 'it must be a time')
    if (typeof pinned !== 'boolean') return fail([...place, 'pinned'], 'it must be true or false')
    const parts = list(item['parts'], [...place, 'parts']).map((part, index) =>
      readPart(part, [...place, 'parts', index]),
    )
    return { workspace, acceptedAt, pinned, parts }
  }

  function readPart(item: unknown, place: JsonPlace): AcceptedPart {
    if (!isObject(item)) return fail(place, 'it must be an object')
    const { owner, path: file, kind, digest, size } = item
    if (typeof owner !== 'string') return fail([...place, 'owner'], 'it must be text')
    if (typeof file !== 'string') return fail([...place, 'path'], 'it must be text')
    if (!isKind(kind)) return fail([...place, 'kind'], `it must be one of ${[...kinds].join(', ')}`)
    if (!isDigest(digest)) {
      return fail([...place, 'digest'], 'it must be a SHA-256 digest')
    }
    if (typeof size !== 'number') return fail([...place, 'size'], 'it must be a number')
    return { owner, path: file, kind, digest, size }
  }

  function list(item: unknown, place: JsonPlace): readonly unknown[] {
    return Array.isArray(item) ? item : fail(place, 'it must be a list')
  }

  function parseJson(): unknown {
    try {
      return JSON.parse(text)
    } catch {
      throw corrupt(path, `it is not JSON from offset ${syntaxErrorOffset(text)} on`)
    }
  }

  function fail(place: JsonPlace, problem: string): never {
    const at = place.length === 0 ? 'the whole' : place.join('.')
    throw corrupt(path, `${at} at offset ${offsetOf(text, place)} is wrong: ${problem}`)
  }
}

function corrupt(path: string, problem: string): StateFileError {
  return new StateFileError({
    code: 'trust-file-corrupt',
    message: `the record of trusted workspaces ${path} is damaged: ${problem}`,
    hint: 'Fix it, or move it away and run skillrail trust again in the workspaces you trust.',
  })
}

function newer(path: string, found: number): StateFileError {
  return new StateFileError({
    code: 'trust-file-newer',
    message: `the record of trusted workspaces ${path} has version ${found}; this Skillrail knows ${version}`,
    hint: 'Use the newer Skillrail; the file was not touched.',
  })
}

function isKind(value: unknown): value is ActingKind {
  return typeof value === 'string' && kinds.has(value)
}

const kindTable = {
  script: true,
  run: true,
  hooks: true,
  'allowed-tools': true,
  chain: true,
  fork: true,
  agent: true,
  mcp: true,
  workflow: true,
  'client-hooks': true,
  configuration: true,
  text: true,
} as const satisfies Record<ActingKind, true>

const kinds: ReadonlySet<string> = new Set(Object.keys(kindTable))
