import { join } from 'node:path'
import {
  compareText,
  type Diagnostic,
  readRegularFile,
  realPathOf,
  type Runtime,
  StateFileError,
  userDirectories,
  withFileLock,
  writeFileAtomic,
} from '../base/index.ts'
import { keepTexts, readKeptText, wasSecret } from './_kept-texts.ts'
import { corrupt, parseTrust, serializeTrust } from './_trust-file.ts'
import { unreadableDigest } from './assess.ts'
import type { Acceptance, ActingPart } from './model.ts'

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
    message: `${part.path} ${part.problem ?? 'cannot be read'}, so nobody can vouch for it`,
    hint: 'Remove it or make it readable, then trust the workspace again.',
  })
}

function realOr(workspace: string): string {
  return realPathOf(workspace) ?? workspace
}
