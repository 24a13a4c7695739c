import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { byText, type Diagnostic, StateFileError } from '#core/errors'
import { withFileLock } from '#core/file-lock'
import { isObject, objectOf, parseJson, sha256 } from '#core/json'
import { readRegularFile, realPathOf, sharedStore } from '#core/read-files'
import { redactText } from '#core/redact'
import { type Runtime, userDirectories } from '#core/runtime'
import { makePrivateDirectory, writeFileAtomic } from '#core/write-files'
import { type Acceptance, type AcceptedPart, actingKinds, type ActingPart } from './model.ts'
import { isDigest, unreadableDigest } from './skill-files.ts'

/** 2 has entries for some skills alone, which 1 would take for the whole workspace. */
const version = 2
const maxRecordBytes = 64 * 1024 * 1024

/** The user's record of trusted workspaces. Writers take turns; a write is all or nothing. */
export class TrustStore {
  readonly path: string
  readonly texts: KeptTexts
  private readonly now: () => number

  constructor(runtime: Runtime) {
    const { state } = userDirectories(runtime)
    this.path = join(state, 'trust.json')
    this.texts = new KeptTexts(join(state, 'trust'))
    this.now = runtime.now
  }

  /** A broken or newer record is an error diagnostic, and everything is untrusted then. */
  read(): { acceptances: readonly Acceptance[]; diagnostics: readonly Diagnostic[] } {
    const { path } = this
    try {
      return { acceptances: this.load(), diagnostics: [] }
    } catch (error) {
      if (!(error instanceof StateFileError)) throw error
      const { code, message, hint } = error
      return { acceptances: [], diagnostics: [{ code, severity: 'error', message, path, hint }] }
    }
  }

  /** What was accepted for a workspace. @throws {StateFileError} for a broken or newer record. */
  find(workspace: string): Acceptance | undefined {
    return this.load().find((item) => item.workspace === realOr(workspace))
  }

  async accept(
    workspace: string,
    parts: readonly ActingPart[],
    { pinned = false, skills }: Partial<Pick<Acceptance, 'pinned' | 'skills'>> = {},
  ): Promise<Acceptance> {
    const bad = parts.find((part) => part.digest === unreadableDigest)
    if (bad) {
      const message = `${bad.path} ${bad.problem ?? 'cannot be read'}, so it cannot be verified`
      const hint = 'Remove it or make it readable, then trust the workspace again.'
      throw new StateFileError({ code: 'trust-part-unreadable', message, hint })
    }
    const acceptance: Acceptance = {
      workspace: realOr(workspace),
      acceptedAt: new Date(this.now()).toISOString(),
      pinned,
      skills,
      parts: parts.map(recordedPart),
    }
    await this.replace(acceptance.workspace, [acceptance], parts)
    return acceptance
  }

  /** Takes the trust back; false where there was none. @throws {StateFileError} as `find`. */
  revoke(workspace: string): Promise<boolean> {
    return this.replace(realOr(workspace), [], [])
  }

  private replace(
    workspace: string,
    entries: readonly Acceptance[],
    parts: readonly ActingPart[],
  ): Promise<boolean> {
    const work = async (): Promise<boolean> => {
      const before = this.load()
      const others = before.filter((item) => item.workspace !== workspace)
      const after = [...others, ...entries]
      after.sort(byText('workspace'))
      if (after.length > 0 || before.length > 0) {
        await writeFileAtomic(this.path, serializeTrust(after), { mode: 0o600 })
      }
      const needed = after.flatMap((item) => item.parts.map(({ digest }) => digest))
      this.texts.keep(parts, needed)
      return others.length < before.length
    }
    return withFileLock(this.path, work, { waitMs: 60_000 })
  }

  private load(): Acceptance[] {
    const file = readRegularFile(this.path, { maxBytes: maxRecordBytes, own: true })
    if (file.ok) return parseTrust(file.text, this.path)
    if (file.code === 'file-missing') return []
    if (file.code === 'file-shared') throw sharedStore(file.message)
    throw corrupt(this.path, file.message)
  }
}

function realOr(workspace: string): string {
  return realPathOf(workspace) ?? workspace
}

export function serializeTrust(acceptances: readonly Acceptance[]): string {
  const hasParts = acceptances.some(({ skills }) => skills !== undefined)
  const record = { version: hasParts ? version : 1, workspaces: acceptances }
  return `${JSON.stringify(record, undefined, 1)}\n`
}

/**
 * Reads the record. One invalid entry makes all of it invalid: half a record could trust what the
 * user took back. Checked by hand, since the hook reads the record too and has no schema library.
 * @throws {StateFileError} `trust-file-newer` or `trust-file-corrupt`.
 */
export function parseTrust(text: string, path: string): Acceptance[] {
  const value = parseJson(text)
  if (value === undefined) throw corrupt(path, 'it is not JSON')
  const { version: found, workspaces } = objectOf(value)
  if (typeof found === 'number' && found > version) {
    const message = `the record of trusted workspaces ${path} has version ${found}; this Skillrail knows ${version}`
    const hint = 'Use the newer Skillrail; the file was not touched.'
    throw new StateFileError({ code: 'trust-file-newer', message, hint })
  }
  if (found !== version && found !== 1) throw corrupt(path, `its version must be 1 or ${version}`)
  if (!Array.isArray(workspaces)) throw corrupt(path, 'it must have a list of workspaces')
  const seen = new Set<string>()
  return workspaces.map((item: unknown, index) => {
    if (!isAcceptance(item))
      throw corrupt(path, `entry ${index + 1} of workspaces has an invalid path, time, pin or part`)
    const { workspace, acceptedAt, pinned, skills, parts } = item
    if (seen.has(workspace)) throw corrupt(path, `${workspace} is there twice`)
    seen.add(workspace)
    return { workspace, acceptedAt, pinned, skills, parts: parts.map(recordedPart) }
  })
}

/** Without what a preview shows. */
function recordedPart({ owner, path, kind, digest, size }: AcceptedPart): AcceptedPart {
  return { owner, path, kind, digest, size }
}

function isAcceptance(item: unknown): item is Acceptance {
  const types = { workspace: 'string', acceptedAt: 'string', pinned: 'boolean' }
  if (!hasFields(item, types) || !isAbsolute(String(item['workspace']))) return false
  const { parts, skills = [] } = item
  if (!Array.isArray(skills) || skills.some((skill) => typeof skill !== 'string')) return false
  return Array.isArray(parts) && parts.every(isPart)
}

function isPart(item: unknown): item is AcceptedPart {
  if (!hasFields(item, { owner: 'string', path: 'string', size: 'number' })) return false
  return actingKinds.some((known) => known === item['kind']) && isDigest(item['digest'])
}

function hasFields(
  item: unknown,
  types: Readonly<Record<string, string>>,
): item is Record<string, unknown> {
  return isObject(item) && Object.entries(types).every(([key, type]) => typeof item[key] === type)
}

function corrupt(path: string, problem: string): StateFileError {
  const message = `the record of trusted workspaces ${path} is damaged: ${problem}`
  const hint = 'Fix it, or move it away and run skillrail trust again.'
  return new StateFileError({ code: 'trust-file-corrupt', message, hint })
}

const maxTextBytes = 16 * 1024 * 1024

/** Accepted or locked texts by their digest, for later diffs; none that seems to hold a secret. */
export class KeptTexts {
  private readonly directory: string

  constructor(directory: string) {
    this.directory = directory
  }

  keep(
    parts: readonly { digest: string; text?: string | undefined }[],
    needed: readonly string[],
  ): void {
    const present = new Set(existsSync(this.directory) ? readdirSync(this.directory) : [])
    for (const { digest, text } of parts) {
      const name = nameOf(digest)
      if (text === undefined || present.has(name) || sha256(text) !== digest) continue
      if (redactText(text) === text) this.write(name, text)
    }
    const kept = new Set(needed.map(nameOf))
    for (const name of present) {
      if (ownName.test(name) && !kept.has(name)) rmSync(join(this.directory, name), { force: true })
    }
  }

  read(digest: string): string | undefined {
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) return undefined
    const path = join(this.directory, nameOf(digest))
    const file = readRegularFile(path, { maxBytes: maxTextBytes })
    return file.ok && sha256(file.bytes) === digest ? file.text : undefined
  }

  /** Atomic but not synced: a lost text costs only a diff, and waiting would cost seconds. */
  private write(name: string, text: string): void {
    makePrivateDirectory(this.directory)
    const temporary = join(this.directory, `${name}.tmp`)
    writeFileSync(temporary, text, { mode: 0o600 })
    renameSync(temporary, join(this.directory, name))
  }
}

const ownName = /^[0-9a-f]{64}\.(?:txt|secret)(?:\.tmp)?$/

function nameOf(digest: string): string {
  return `${digest.slice('sha256:'.length)}.txt`
}
