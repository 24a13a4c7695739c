import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Context, Note } from '../../core/command.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { exitCode, type ExitCode } from '../../core/errors.ts'
import { amount, safeLine } from '../../core/text.ts'
import {
  type InstalledReading,
  type InstalledState,
  installedStates,
  readInstalledLock,
  readUserInstalledLock,
  userSkillDirectory,
} from '../installed-lock.ts'
import { openLockStore } from '../lock-store.ts'
import { type CurrentSkill, currentSkills } from '../lock.ts'
import type { TrustStore } from '../store.ts'
import { compareWithLock, keptTexts, type LockReport, lockReportLines } from './lock-report.ts'
import { trustedLine, type TrustReport, trustReportLines } from './report.ts'
import { agree, type Review, reviewWorkspace } from './review.ts'

/** The result of `trust --lock`. */
export interface LockResult {
  workspace: string
  /** Whether the lock file was written. */
  written: boolean
  skills: readonly {
    path: string
    name: string
    digest: string | undefined
    files: number
    /** Why the skill cannot be locked. */
    problem?: string | undefined
  }[]
  lock: LockReport & { was: LockReport['state'] }
  /** What has to be trusted as well, where that is not settled. */
  trust: TrustReport | undefined
  /** False where someone declined, and where nothing was to be written. */
  accepted: boolean
  dryRun: boolean
}

export interface LockOptions {
  pin: boolean | undefined
  yes: boolean
  dryRun: boolean
}

/** Writes the lock of a project, once its workspace is trusted and every difference was accepted. */
export async function lockSkills(
  context: Context<LockResult>,
  store: TrustStore,
  path: string | undefined,
  options: LockOptions,
): Promise<LockResult> {
  const review = reviewWorkspace(context, store, path, options)
  const { workspace, settled } = review
  const lockStore = openLockStore(context.runtime, workspace)
  const comparison = compareWithLock(review, keptTexts(store, lockStore))
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
  if (state === 'unreadable') return before
  if (isNew && current.length === 0) {
    context.note(`There is no skill to lock in ${workspace}.`)
    return before
  }
  if (options.dryRun) return before
  lockStore.requireLockable(current)
  const isUpToDate = state === 'locked' && report.withoutBits === 0
  const asks = !settled || !((isNew && !review.lockIsGone) || isUpToDate)
  if (asks && !(await agreeToLock(context, review, options.yes))) {
    context.note('Nothing was trusted, and nothing was locked.')
    return before
  }
  if (!settled) await review.accept()
  if (isUpToDate) await lockStore.keep(current)
  else await lockStore.write(current)
  const lock = { ...report, state: 'locked' as const, was: state }
  return { ...before, written: !isUpToDate, lock, accepted: true }
}

function describedSkill({ path, name, tree }: CurrentSkill): LockResult['skills'][number] {
  const bad = tree.files.find(({ problem }) => problem !== undefined)
  const problem = bad && `${bad.path} ${bad.problem}`
  return { path, name, digest: tree.digest, files: tree.files.length, problem }
}

function agreeToLock(context: Context<LockResult>, review: Review, yes: boolean): Promise<boolean> {
  const { report, settled, workspace } = review
  const change = settled ? 'Lock the skills as they are now' : 'Accept all this and lock the skills'
  return agree(context, {
    question: report.state === 'untrusted' ? 'Trust this workspace and lock its skills' : change,
    yes,
    message: `the skills of ${workspace} were not locked: it was not confirmed`,
    hint: 'Look at it with --dry-run, then run the command again with --yes.',
  })
}

export function lockExitCode({ lock, skills, accepted, dryRun }: LockResult): ExitCode {
  if (lock.was === 'unreadable') return exitCode.badAnswer
  if (lock.was === 'none' && skills.length === 0) return exitCode.notFound
  return accepted || dryRun ? exitCode.done : exitCode.refused
}

export function lockLines({
  workspace,
  written,
  skills,
  lock,
  trust,
  accepted,
}: LockResult): string[] {
  const isNew = lock.was === 'none'
  if (lock.was === 'unreadable' || (isNew && skills.length === 0)) return []
  return [
    ...(trust === undefined ? [] : trustReportLines(trust)),
    ...(isNew ? newLockLines(workspace, skills) : lockReportLines({ ...lock, state: lock.was })),
    ...(accepted && trust !== undefined ? ['', trustedLine(trust)] : []),
    ...(written ? [`Locked: ${safeLine(relative(workspace, lock.path))}`] : []),
  ]
}

function newLockLines(workspace: string, skills: LockResult['skills']): string[] {
  return [
    `${amount(skills.length, 'skill')} of ${safeLine(workspace)} to lock:`,
    ...skills.map(({ name, path, digest, files, problem }) => {
      const why = problem === undefined ? '' : `: ${problem}`
      const shown = digest?.slice(0, 'sha256:'.length + 16) ?? `cannot be locked${why}`
      return `  ${safeLine(`${name}  ${path}  ${shown}`)}  ${amount(files, 'file')}`
    }),
  ]
}

/** The result of `trust --unlock`. */
export interface UnlockResult {
  workspace: string
  path: string
  removed: boolean
}

/** Removes the lock; what was accepted of the workspace stays accepted. */
export async function unlockSkills(
  context: Context,
  store: TrustStore,
  path: string | undefined,
): Promise<UnlockResult> {
  const { workspace } = reviewWorkspace(context, store, path, {})
  const lockStore = openLockStore(context.runtime, workspace)
  return { workspace, path: lockStore.path, removed: await lockStore.remove() }
}

/** The result of `trust --lock --check`. */
export interface CheckResult {
  workspace: string
  ok: boolean
  lock: LockReport
  installed: Pick<InstalledReading, 'path' | 'state'> & { skills: readonly InstalledState[] }
  installedForUser: UserInstalled
  diagnostics: readonly Diagnostic[]
}

interface UserInstalled extends Omit<InstalledReading, 'skills'> {
  skills: readonly InstalledState[]
}

/**
 * Compares the skills of a project with its lock, and with what the `skills` command recorded when it
 * installed them. Trusts nothing and writes nothing.
 */
export function checkLock(
  context: Pick<Context, 'runtime' | 'settings'>,
  store: TrustStore,
  path: string | undefined,
): CheckResult {
  const review = reviewWorkspace(context, store, path, {})
  const { workspace } = review
  const lockStore = openLockStore(context.runtime, workspace)
  const lock = compareWithLock(review, keptTexts(store, lockStore)).report
  const reading = readInstalledLock(installedPlace(review))
  const byReal = new Map(review.skills.map((skill) => [skill.realDirectory, skill.directory]))
  const skills = installedStates(reading.skills, [...byReal.values()])
  const hasNone = lock.state === 'none' && reading.state === 'none'
  const missing = hasNone && lock.diagnostics.length === 0 ? [missingLock(lock.path)] : []
  const diagnostics = [...missing, ...lock.diagnostics, ...reading.diagnostics]
  return {
    workspace,
    ok:
      diagnostics.length === 0 &&
      lock.state !== 'drifted' &&
      skills.every(({ state }) => state === 'same'),
    lock,
    installed: { path: reading.path, state: reading.state, skills },
    installedForUser: installedForUser(context),
    diagnostics,
  }
}

/** The `skills` command writes its file where it was started: a folder of the workspace, or its top. */
function installedPlace({ workspace, place }: Review): string {
  return existsSync(join(place, 'skills-lock.json')) ? place : workspace
}

/** These skills belong to no project, so they do not decide whether this one is as locked. */
function installedForUser({ runtime }: Pick<Context, 'runtime'>): UserInstalled {
  const reading = readUserInstalledLock(runtime)
  const directories = reading.skills
    .map(({ name }) => userSkillDirectory(name, runtime))
    .filter((directory) => existsSync(directory))
  return { ...reading, skills: installedStates(reading.skills, [...new Set(directories)]) }
}

function missingLock(path: string): Diagnostic {
  return {
    code: 'lock-file-missing',
    severity: 'error',
    message: 'the project has no lock file',
    path,
    hint: 'To write one: skillrail trust --lock',
  }
}

export function checkLines({ lock, installed, installedForUser: ofUser }: CheckResult): string[] {
  return [...lockReportLines(lock), ...installedLines(installed), ...installedLines(ofUser)]
}

export function checkNotes({ lock, diagnostics, installedForUser: ofUser }: CheckResult): Note[] {
  const hasOnlyInstalled = lock.state === 'none' && diagnostics.length === 0
  return [
    ...diagnostics,
    ...ofUser.diagnostics,
    ...(hasOnlyInstalled
      ? ['The project has no lock of its own: skillrail trust --lock writes one.']
      : []),
  ]
}

function installedLines({ path, state, skills }: CheckResult['installed']): string[] {
  if (state !== 'read') return []
  const recorded = skills.filter((skill) => skill.state !== 'unrecorded')
  const differing = recorded.filter((skill) => skill.state !== 'same')
  const all = amount(recorded.length, 'skill')
  const other = skills.length - recorded.length
  const more = other === 0 ? '' : `, and ${amount(other, 'skill')} with no hash to compare`
  if (differing.length === 0) return [`Installed, by ${safeLine(path)}: ${all} as installed${more}`]
  return [
    `Installed, by ${safeLine(path)}: ${differing.length} of ${all} not as installed${more}`,
    ...differing.map((skill) => `  ${skill.state}: ${safeLine(installedWords(skill))}`),
  ]
}

function installedWords({ name, source, state, directories, problem }: InstalledState): string {
  const from = source === '' ? '' : ` from ${source}`
  if (state === 'missing') return `${name}${from} (no skill lies in its directory)`
  const why =
    problem ??
    'or its source has metadata.json, links or caches, which are hashed but not installed'
  return `${name}${from}  ${directories.join(', ')} (${why})`
}
