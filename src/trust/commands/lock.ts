import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Context, Note } from '../../core/command.ts'
import { exitCode, type ExitCode } from '../../core/errors.ts'
import { amount, safeLine } from '../../core/text.ts'
import {
  type InstalledState,
  installedStates,
  readInstalledLock,
  readUserInstalledLock,
  userSkillDirectory,
} from '../installed-lock.ts'
import { lockText } from '../lock-store.ts'
import { type CurrentSkill, currentSkills } from '../lock.ts'
import type { TrustStore } from '../store.ts'
import { compareWithLock, type LockReport, lockReportLines } from './lock-report.ts'
import { trustedLine, type TrustReport, trustReportLines } from './report.ts'
import { agree, reviewWorkspace } from './review.ts'

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
  if (lock.was === 'unreadable') return exitCode.badAnswer
  if (lock.was === 'none' && skills.length === 0) return exitCode.notFound
  return accepted || dryRun ? exitCode.done : exitCode.refused
}

export function lockLines(result: LockResult): string[] {
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
    ...(trust === undefined ? [] : trustReportLines(trust)),
    ...(isNew ? newLines : lockReportLines({ ...lock, state: lock.was })),
    ...(accepted && trust !== undefined ? ['', trustedLine(trust)] : []),
    ...(written ? [`Locked: ${safeLine(relative(workspace, lock.path))}`] : []),
  ]
}

export interface UnlockResult {
  workspace: string
  path: string
  removed: boolean
}

export async function unlockSkills(
  context: Context,
  store: TrustStore,
  path: string | undefined,
): Promise<UnlockResult> {
  const { workspace, lockStore } = reviewWorkspace(context, store, path)
  return { workspace, path: lockStore.path, removed: await lockStore.remove() }
}

export type CheckResult = ReturnType<typeof checkLock>

/** Compares skills with the lock, and with what the `skills` command installed. Writes nothing. */
export function checkLock(
  context: Pick<Context, 'runtime' | 'settings'>,
  store: TrustStore,
  path: string | undefined,
) {
  const review = reviewWorkspace(context, store, path)
  const { workspace, place } = review
  const lock = compareWithLock(review).report
  // The `skills` command writes its file where it was started: a folder of the workspace, or its top.
  const start = existsSync(join(place, 'skills-lock.json')) ? place : workspace
  const { diagnostics: found, ...reading } = readInstalledLock(start)
  const byReal = new Map(review.skills.map((skill) => [skill.realDirectory, skill.directory]))
  const skills = installedStates(reading.skills, [...byReal.values()])
  const hasNone = lock.state === 'none' && reading.state === 'none'
  const message = 'the project has no lock file'
  const facts = { message, path: lock.path, hint: 'To write one: skillrail trust --lock' }
  const missing = { code: 'lock-file-missing', severity: 'error' as const, ...facts }
  const isMissing = hasNone && lock.diagnostics.length === 0
  const diagnostics = [...(isMissing ? [missing] : lock.diagnostics), ...found]
  // Skills of the user belong to no project, so they do not decide whether this one is as locked.
  const ofUser = readUserInstalledLock(context.runtime)
  const directories = ofUser.skills
    .map(({ name }) => userSkillDirectory(name, context.runtime))
    .filter((directory) => existsSync(directory))
  const isSame = lock.state !== 'drifted' && skills.every(({ state }) => state === 'same')
  const userSkills = installedStates(ofUser.skills, [...new Set(directories)])
  return {
    workspace,
    ok: diagnostics.length === 0 && isSame,
    lock,
    installed: { ...reading, skills },
    installedForUser: { ...ofUser, skills: userSkills },
    diagnostics,
  }
}

export function checkLines({ lock, installed, installedForUser: ofUser }: CheckResult): string[] {
  return [...lockReportLines(lock), ...installedLines(installed), ...installedLines(ofUser)]
}

export function checkNotes({ lock, diagnostics, installedForUser: ofUser }: CheckResult): Note[] {
  const hasOnlyInstalled = lock.state === 'none' && diagnostics.length === 0
  const note = 'The project has no lock of its own: skillrail trust --lock writes one.'
  return [...diagnostics, ...ofUser.diagnostics, ...(hasOnlyInstalled ? [note] : [])]
}

function installedLines({ path, state, skills }: CheckResult['installed']): string[] {
  if (state !== 'read') return []
  const recorded = skills.filter((skill) => skill.state !== 'unrecorded')
  const differing = recorded.filter((skill) => skill.state !== 'same')
  const all = amount(recorded.length, 'skill')
  const other = skills.length - recorded.length
  const more = other === 0 ? '' : `, and ${amount(other, 'skill')} with no hash to compare`
  const count = differing.length === 0 ? `${all} as` : `${differing.length} of ${all} not as`
  return [
    `Installed, by ${safeLine(path)}: ${count} installed${more}`,
    ...differing.map((skill) => `  ${skill.state}: ${safeLine(installedWords(skill))}`),
  ]
}

function installedWords({ name, source, state, directories, problem }: InstalledState): string {
  const from = source === '' ? '' : ` from ${source}`
  if (state === 'missing') return `${name}${from} (no skill lies in its directory)`
  const other =
    'or its source has metadata.json, links or caches, which are hashed but not installed'
  return `${name}${from}  ${directories.join(', ')} (${problem ?? other})`
}
