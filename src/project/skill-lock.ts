import type { Context } from '#core/command'
import type { Diagnostic } from '#core/errors'
import {
  type CurrentSkill,
  currentSkills,
  type LockChange,
  lockDrift,
  type LockFileChange,
  nearestLock,
} from '#trust/lock'
import { lockText } from '#trust/lock-store'
import type { TrustStore } from '#trust/store'
import { type TextChange, textChange, type TextSource, type TrustReport } from './trust-report.ts'
import { type Review, reviewWorkspace } from './trust-review.ts'

/** A lock to write, and the preview that the user sees first. */
export interface LockPlan {
  preview: LockResult
  /** False if the lock cannot be read, or there is no skill to lock. */
  isWritable: boolean
  hasNoSkills: boolean
  /** Whether the user must agree: something would be accepted, or an existing lock would change. */
  needsConsent: boolean
  /** @throws {StateFileError} if a skill cannot be locked. */
  requireLockable(): void
  /** Accepts the workspace if necessary, and writes the lock. */
  write(): Promise<LockResult>
}

export interface LockResult {
  workspace: string
  written: boolean
  skills: readonly SkillToLock[]
  lock: LockReport & { was: LockReport['state'] }
  /** Undefined if the workspace is accepted as it is. */
  trust: TrustReport | undefined
  /** False if someone declined, or there was nothing to write. */
  accepted: boolean
  dryRun: boolean
}

export interface SkillToLock {
  path: string
  name: string
  /** Undefined if the skill cannot be locked. */
  digest: string | undefined
  /** How many files the skill has. */
  files: number
  /** Why the skill cannot be locked. */
  problem: string | undefined
}

export interface LockOptions {
  pin: boolean | undefined
  text: boolean | undefined
  dryRun: boolean
}

/** Compares a project with its lock and plans the new lock. Writes nothing. */
export function planLock(
  context: Pick<Context, 'runtime' | 'settings'>,
  store: TrustStore,
  path: string | undefined,
  options: LockOptions,
): LockPlan {
  const review = reviewWorkspace(context, store, path, options)
  const { workspace, settled, lockStore } = review
  const comparison = compareWithLock(review)
  const { report } = comparison
  const { state } = report
  const isNew = state === 'none'
  const skills = isNew ? currentSkills(workspace, review.lockable) : comparison.current
  const hasNoSkills = isNew && skills.length === 0
  const isUpToDate = state === 'locked' && report.withoutBits === 0
  const preview: LockResult = {
    workspace,
    written: false,
    skills: skills.map(skillToLock),
    lock: { ...report, was: state },
    trust: settled ? undefined : review.report,
    accepted: false,
    dryRun: options.dryRun,
  }
  return {
    preview,
    isWritable: state !== 'unreadable' && !hasNoSkills,
    hasNoSkills,
    needsConsent: !settled || !((isNew && !review.lockIsGone) || isUpToDate),
    requireLockable: () => void lockText(skills, lockStore.path),
    async write() {
      if (!settled) await review.accept()
      if (isUpToDate) await lockStore.keep(skills)
      else await lockStore.write(skills)
      const lock = { ...report, state: 'locked' as const, was: state }
      return { ...preview, written: !isUpToDate, lock, accepted: true }
    },
  }
}

function skillToLock({ path, name, tree }: CurrentSkill): SkillToLock {
  const bad = tree.files.find((file) => file.problem !== undefined)
  const problem = bad && `${bad.path} ${bad.problem}`
  return { path, name, digest: tree.digest, files: tree.files.length, problem }
}

export interface LockCheck {
  workspace: string
  ok: boolean
  lock: LockReport
  diagnostics: readonly Diagnostic[]
}

/** Compares skills with the lock. Writes nothing. */
export function checkLock(
  context: Pick<Context, 'runtime' | 'settings'>,
  store: TrustStore,
  path: string | undefined,
): LockCheck {
  const review = reviewWorkspace(context, store, path)
  const lock = compareWithLock(review).report
  const { state } = lock
  const diagnostics =
    state === 'none' && lock.diagnostics.length === 0 ? [noLock(lock.path)] : lock.diagnostics
  const ok = diagnostics.length === 0 && state !== 'drifted'
  return { workspace: review.workspace, ok, lock, diagnostics }
}

function noLock(path: string): Diagnostic {
  const message = 'the project has no lock file'
  const hint = 'To write one: skillrail trust --lock'
  return { code: 'lock-file-missing', severity: 'error', message, path, hint }
}

export interface LockReport {
  path: string
  state: 'none' | 'locked' | 'drifted' | 'unreadable'
  /** For how many skills the lock does not record executable files, although this platform knows them. */
  withoutBits: number
  changes: readonly (Omit<LockChange, 'files'> & { files: readonly LockedFileReport[] })[]
  diagnostics: readonly Diagnostic[]
}

/** The note also says whether the file may be executed, if the lock differs. */
type LockedFileReport = TextChange & Omit<LockFileChange, 'locked' | 'file'>

export interface LockComparison {
  report: LockReport
  /** Empty without a lock. */
  current: readonly CurrentSkill[]
}

/** Compares the skills of a review with the lock. Reads the skills only if there is a lock. */
export function compareWithLock(review: Review): LockComparison {
  const { workspace, lockable, lock, lockStore, store } = review
  const { path, state } = lock
  if (state !== 'read') {
    const diagnostics = state === 'unreadable' ? lock.diagnostics : missingLock(review)
    return { report: { path, state, withoutBits: 0, changes: [], diagnostics }, current: [] }
  }
  // The locked text is kept here, or else the accepted text.
  const texts: TextSource = {
    read: (digest) => lockStore.texts.read(digest) ?? store.texts.read(digest),
  }
  const current = currentSkills(workspace, lockable)
  const changes = lockDrift(workspace, lock.skills, current).map((change) => ({
    ...change,
    files: change.files.map((file) => fileReport(change.path, file, texts)),
  }))
  const withoutBits = current.filter(({ path: directory, tree }) => {
    const locked = lock.skills.get(directory)
    return locked !== undefined && locked.executable === undefined && tree.executable !== undefined
  }).length
  const comparedState = changes.length === 0 ? 'locked' : 'drifted'
  return { report: { path, state: comparedState, withoutBits, changes, diagnostics: [] }, current }
}

/** Reports a deleted lock: whoever changes a skill could delete the lock to hide the change. */
function missingLock({ workspace, lock: { path }, lockIsGone }: Review): Diagnostic[] {
  if (lockIsGone) {
    const message = 'the lock file of the project is gone'
    const hint =
      'Take it from version control again, or: skillrail trust --lock. To do without: skillrail trust --unlock'
    return [{ code: 'lock-file-gone', severity: 'warning', message, path, hint }]
  }
  const { place, reading } = nearestLock(workspace)
  if (place === workspace || reading.state === 'none') return []
  const message = `the workspace has no lock file of its own, so its skills are held to ${reading.path}`
  const hint = 'To lock the skills here: skillrail trust --lock'
  return [{ code: 'lock-file-above', severity: 'warning', message, path, hint }]
}

function fileReport(
  skill: string,
  { change, path, locked, file, executable }: LockFileChange,
  texts: TextSource,
): LockedFileReport {
  if (!file) return { change, path }
  const before = locked === undefined ? 'new' : { digest: locked, verb: 'locked' as const }
  const content = locked === file.digest ? {} : textChange(`${skill}/${path}`, file, before, texts)
  const bit = executable ? 'may be executed now' : 'may not be executed any more'
  const notes = [executable === undefined ? [] : bit, content.note ?? []].flat()
  return { change, path, executable, ...content, note: notes.join('; ') || undefined }
}
