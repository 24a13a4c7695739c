import { isAbsolute, join } from 'node:path'
import { byText, type Diagnostic, StateFileError } from '#core/errors'
import { withFileLock } from '#core/file-lock'
import { isObject, objectOf, parseJson } from '#core/json'
import { readRegularFile, realPathOf, sharedStore } from '#core/read-files'
import { type Runtime, userDirectories } from '#core/runtime'
import { writeFileAtomic } from '#core/write-files'
import { KeptTexts } from './kept-texts.ts'
import { type Acceptance, type AcceptedPart, actingKinds, type ActingPart } from './model.ts'
import { isDigest, unreadableDigest } from './skill-files.ts'

/**
 * Version 2 can accept single skills, which a reader of version 1 would take for the whole workspace.
 * Version 3 records each accepted skill, even if it contains only text.
 */
const version = 3
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

  /** A corrupt or newer record gives an error diagnostic, and everything is untrusted. */
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

  /** Returns the acceptance for a workspace. @throws {StateFileError} if the record is corrupt or newer. */
  find(workspace: string): Acceptance | undefined {
    return this.load().find((item) => item.workspace === realPathOr(workspace))
  }

  async accept(
    workspace: string,
    parts: readonly ActingPart[],
    {
      pinned = false,
      newText,
      skills,
    }: Partial<Pick<Acceptance, 'pinned' | 'newText' | 'skills'>> = {},
  ): Promise<Acceptance> {
    const unreadablePart = parts.find((part) => part.digest === unreadableDigest)
    if (unreadablePart) {
      const message = `${unreadablePart.path} ${unreadablePart.problem ?? 'cannot be read'}, so it cannot be verified`
      const hint = 'Remove it or make it readable, then trust the workspace again.'
      throw new StateFileError({ code: 'trust-part-unreadable', message, hint })
    }
    const acceptance: Acceptance = {
      workspace: realPathOr(workspace),
      acceptedAt: new Date(this.now()).toISOString(),
      pinned,
      newText: newText || undefined,
      skills,
      parts: parts.map(recordedPart),
    }
    await this.replace(acceptance.workspace, [acceptance], parts)
    return acceptance
  }

  /** Revokes the trust; false if there was none. @throws {StateFileError} as `find`. */
  revoke(workspace: string): Promise<boolean> {
    return this.replace(realPathOr(workspace), [], [])
  }

  private replace(
    workspace: string,
    entries: readonly Acceptance[],
    parts: readonly ActingPart[],
  ): Promise<boolean> {
    const work = async (): Promise<boolean> => {
      const acceptances = this.load()
      const otherAcceptances = acceptances.filter((item) => item.workspace !== workspace)
      const newAcceptances = [...otherAcceptances, ...entries]
      newAcceptances.sort(byText('workspace'))
      if (newAcceptances.length > 0 || acceptances.length > 0) {
        await writeFileAtomic(this.path, serializeTrust(newAcceptances), { mode: 0o600 })
      }
      const neededDigests = newAcceptances.flatMap((item) => item.parts.map(({ digest }) => digest))
      this.texts.keep(parts, neededDigests)
      return otherAcceptances.length < acceptances.length
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

function realPathOr(workspace: string): string {
  return realPathOf(workspace) ?? workspace
}

export function serializeTrust(acceptances: readonly Acceptance[]): string {
  const hasNames = acceptances.some(({ parts }) => parts.some(({ kind }) => kind === 'skill'))
  const hasParts = acceptances.some(({ skills }) => skills !== undefined)
  const record = { version: hasNames ? version : hasParts ? 2 : 1, workspaces: acceptances }
  return `${JSON.stringify(record, undefined, 1)}\n`
}

/**
 * Reads the record. One invalid entry makes the whole record invalid: half a record could trust something
 * that the user revoked. Checked without a schema library, because the hook reads the record too and has
 * none.
 * @throws {StateFileError} `trust-file-newer` or `trust-file-corrupt`.
 */
export function parseTrust(text: string, path: string): Acceptance[] {
  const value = parseJson(text)
  if (value === undefined) throw corrupt(path, 'it is not JSON')
  const { version: fileVersion, workspaces } = objectOf(value)
  if (typeof fileVersion === 'number' && fileVersion > version) {
    const message = `the record of trusted workspaces ${path} has version ${fileVersion}; this Skillrail knows ${version}`
    const hint = 'Use the newer Skillrail; the file was not touched.'
    throw new StateFileError({ code: 'trust-file-newer', message, hint })
  }
  if (fileVersion !== version && fileVersion !== 1 && fileVersion !== 2)
    throw corrupt(path, `its version must be from 1 to ${version}`)
  if (!Array.isArray(workspaces)) throw corrupt(path, 'it must have a list of workspaces')
  const workspacePaths = new Set<string>()
  return workspaces.map((item: unknown, index) => {
    if (!isAcceptance(item))
      throw corrupt(path, `entry ${index + 1} of workspaces has an invalid path, time, pin or part`)
    const { workspace, acceptedAt, pinned, newText, skills, parts } = item
    if (workspacePaths.has(workspace)) throw corrupt(path, `${workspace} is there twice`)
    workspacePaths.add(workspace)
    return { workspace, acceptedAt, pinned, newText, skills, parts: parts.map(recordedPart) }
  })
}

/** Drops the fields that only a preview shows. */
function recordedPart({ owner, path, kind, digest, size }: AcceptedPart): AcceptedPart {
  return { owner, path, kind, digest, size }
}

function isAcceptance(item: unknown): item is Acceptance {
  const types = { workspace: 'string', acceptedAt: 'string', pinned: 'boolean' }
  if (!hasFields(item, types) || !isAbsolute(String(item['workspace']))) return false
  const { parts, skills = [], newText } = item
  if (newText !== undefined && typeof newText !== 'boolean') return false
  if (!Array.isArray(skills) || skills.some((skill) => typeof skill !== 'string')) return false
  return Array.isArray(parts) && parts.every(isPart)
}

function isPart(item: unknown): item is AcceptedPart {
  if (!hasFields(item, { owner: 'string', path: 'string', size: 'number' })) return false
  return actingKinds.some((kind) => kind === item['kind']) && isDigest(item['digest'])
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
