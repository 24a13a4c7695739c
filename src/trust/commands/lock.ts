import { relative } from 'node:path'
import type { Context } from '#core/command'
import { type Diagnostic, exitCode, type ExitCode } from '#core/errors'
import { amount, type Lines, safeLine } from '#core/text'
import {
  type CurrentSkill,
  currentSkills,
  type LockChange,
  lockDrift,
  type LockFileChange,
  lockText,
  nearestLock,
} from '#trust/lock'
import type { TrustStore } from '#trust/store'
import {
  type TextChange,
  textChange,
  textChangeLines,
  type TextSource,
  trustedLine,
  type TrustReport,
  trustReportLines,
} from './report.ts'
import { agree, type Review, reviewWorkspace } from './review.ts'

export interface LockResult {
  workspace: string
  written: boolean
  /** `problem`: why the skill cannot be locked. */
  skills: readonly ReturnType<typeof describedSkill>[]
  lock: LockReport & { was: LockReport['state'] }
  trust: TrustReport | undefined
  /** False where someone declined, and where nothing was to be written. */
  accepted: boolean
  dryRun: boolean
}

export async function lockSkills(
  context: Context<LockResult>,
  store: TrustStore,
  path: string | undefined,
  options: { pin: boolean | undefined; yes: boolean; dryRun: boolean },
): Promise<LockResult> {
  const review = reviewWorkspace(context, store, path, options)
  const { workspace, settled, lockStore } = review
  const comparison = compareWithLock(review)
  const { report } = comparison
  const { state } = report
  const isNew = state === 'none'
  const current = isNew ? currentSkills(workspace, review.lockable) : comparison.current
  const before: LockResult = {
    workspace,
    written: false,
    skills: current.map(describedSkill),
    lock: { ...report, was: state },
    trust: settled ? undefined : review.report,
    accepted: false,
    dryRun: options.dryRun,
  }
  context.emit(before)
  const hasNone = isNew && current.length === 0
  if (hasNone) context.note(`There is no skill to lock in ${workspace}.`)
  if (state === 'unreadable' || hasNone || options.dryRun) return before
  // Refuses what cannot be locked before anybody is asked.
  lockText(current, lockStore.path)
  const isUpToDate = state === 'locked' && report.withoutBits === 0
  const asks = !settled || !((isNew && !review.lockIsGone) || isUpToDate)
  const change = settled ? 'Lock the skills as they are now' : 'Accept all this and lock the skills'
  const isUntrusted = review.report.state === 'untrusted'
  const question = isUntrusted ? 'Trust this workspace and lock its skills' : change
  const message = `the skills of ${workspace} were not locked: it was not confirmed`
  const hint = 'Look at it with --dry-run, then run the command again with --yes.'
  if (asks && !(await agree(context, { question, yes: options.yes, message, hint }))) {
    context.note('Nothing was trusted, and nothing was locked.')
    return before
  }
  if (!settled) await review.accept()
  if (isUpToDate) await lockStore.keep(current)
  else await lockStore.write(current)
  const lock = { ...report, state: 'locked' as const, was: state }
  return { ...before, written: !isUpToDate, lock, accepted: true }
}

function describedSkill({ path, name, tree }: CurrentSkill) {
  const bad = tree.files.find((file) => file.problem !== undefined)
  const problem = bad && `${bad.path} ${bad.problem}`
  return { path, name, digest: tree.digest, files: tree.files.length, problem }
}

export function lockExitCode({ lock, skills, accepted, dryRun }: LockResult): ExitCode {
  if (lock.was === 'unreadable') return exitCode.failed
  if (lock.was === 'none' && skills.length === 0) return exitCode.notFound
  return accepted || dryRun ? exitCode.done : exitCode.refused
}

export function lockLines(result: LockResult): Lines {
  const { workspace, written, skills, lock, trust, accepted } = result
  const isNew = lock.was === 'none'
  if (lock.was === 'unreadable' || (isNew && skills.length === 0)) return []
  const newLines = [
    `${amount(skills.length, 'skill')} of ${safeLine(workspace)} to lock:`,
    ...skills.map(({ name, path, digest, files, problem }) => {
      const why = problem === undefined ? '' : `: ${problem}`
      const shown = digest?.slice(0, 'sha256:'.length + 16) ?? `cannot be locked${why}`
      return `  ${safeLine(`${name}  ${path}  ${shown}`)}  ${amount(files, 'file')}`
    }),
  ]
  return [
    ...(trust ? trustReportLines(trust) : []),
    ...(isNew ? newLines : lockReportLines({ ...lock, state: lock.was })),
    accepted && trust && `\n${trustedLine(trust)}`,
    written && `Locked: ${safeLine(relative(workspace, lock.path))}`,
  ]
}

export type CheckResult = ReturnType<typeof checkLock>

/** Compares skills with the lock. Writes nothing. */
export function checkLock(context: Context, store: TrustStore, path: string | undefined) {
  const review = reviewWorkspace(context, store, path)
  const lock = compareWithLock(review).report
  const { state, diagnostics: found } = lock
  const message = 'the project has no lock file'
  const facts = { message, path: lock.path, hint: 'To write one: skillrail trust --lock' }
  const missing = { code: 'lock-file-missing', severity: 'error' as const, ...facts }
  const diagnostics = state === 'none' && found.length === 0 ? [missing] : found
  const ok = diagnostics.length === 0 && state !== 'drifted'
  return { workspace: review.workspace, ok, lock, diagnostics }
}

export interface LockReport {
  path: string
  state: 'none' | 'locked' | 'drifted' | 'unreadable'
  /** Of how many skills it does not say which files may be executed, though that is known here. */
  withoutBits: number
  changes: readonly (Omit<LockChange, 'files'> & { files: readonly LockedFileReport[] })[]
  diagnostics: readonly Diagnostic[]
}

/** Its note also says what else differs. */
type LockedFileReport = TextChange & Omit<LockFileChange, 'locked' | 'file'>

/** Reads the skills only where there is a lock; `current` is empty where there is none. */
export function compareWithLock(review: Review): {
  report: LockReport
  current: readonly CurrentSkill[]
} {
  const { workspace, lockable, lock, lockStore, store } = review
  const { path, state } = lock
  if (state !== 'read') {
    const diagnostics = state === 'unreadable' ? lock.diagnostics : missingLock(review)
    return { report: { path, state, withoutBits: 0, changes: [], diagnostics }, current: [] }
  }
  // As they were locked here, or else as they were accepted.
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
  const compared = changes.length === 0 ? 'locked' : 'drifted'
  return { report: { path, state: compared, withoutBits, changes, diagnostics: [] }, current }
}

/** Without its lock nothing holds the text of a skill, and whoever changes that could delete it. */
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

export function lockReportLines({ path, state, withoutBits, changes }: LockReport): Lines {
  if (state === 'none' || state === 'unreadable') return []
  const differ = `${amount(changes.length, 'skill')} ${changes.length === 1 ? 'differs' : 'differ'}`
  const words = state === 'locked' ? 'every skill matches the lock' : differ
  const bits = `  It does not say which files of ${amount(withoutBits, 'skill')} may be executed: skillrail trust --lock adds that.`
  return [
    `Lock ${safeLine(path)}: ${words}`,
    withoutBits > 0 && bits,
    ...changes.flatMap(({ change, name, path: place, problem, files }) => {
      const note = problem === undefined ? '' : ` (${problem})`
      return [
        `  ${change}: ${safeLine(`${name}  ${place}${note}`)}`,
        ...files.flatMap((file) => textChangeLines({ ...file, change: `${file.change}:` }, '    ')),
      ]
    }),
  ]
}
