import { relative } from 'node:path'
import { exitCode, type ExitCode, safeLine } from '../base/index.ts'
import { currentSkills, type CurrentSkill, openLockStore, type TrustStore } from '../trust/index.ts'
import { amount } from '../base/text.ts'
import { keptTexts } from './_text-change.ts'
import { compareWithLock, lockReportLines } from './_trust-lock-report.ts'
import { trustReportLines } from './_trust-report.ts'
import { agree, type Standing, standingOf } from './_trust-standing.ts'
import type { CommandContext } from './command.ts'

export interface LockOptions {
  pin?: boolean | undefined
  yes?: boolean | undefined
  dryRun?: boolean | undefined
}

/** Writes the lock of a project, once its workspace is trusted and every difference was accepted. */
export async function lockSkills(
  context: CommandContext,
  store: TrustStore,
  path: string | undefined,
  options: LockOptions,
): Promise<ExitCode> {
  const { output, options: globals } = context
  const standing = standingOf(context, store, path, options)
  const lockStore = openLockStore(context.runtime, standing.workspace)
  const comparison = compareWithLock(standing, keptTexts(store, lockStore))
  const { report } = comparison
  const isNew = report.state === 'none'
  const current = isNew ? currentSkills(standing.workspace, standing.lockable) : comparison.current
  const say = (line: string): void => {
    if (!globals.json) output.line(line)
  }
  const done = (state: typeof report.state, written: boolean, code: ExitCode): ExitCode => {
    const skills = current.map(({ path: place, name, tree }) => {
      return { path: place, name, digest: tree.digest, files: tree.files.length }
    })
    const { workspace } = standing
    if (globals.json) {
      output.json({ workspace, written, skills, lock: { ...report, state, was: report.state } })
    }
    return code
  }
  output.diagnostics(globals.json ? [] : report.diagnostics)
  if (report.state === 'unreadable') return done('unreadable', false, exitCode.badAnswer)
  if (isNew && current.length === 0) {
    output.note(`There is no skill to lock in ${standing.workspace}.`)
    return done('none', false, exitCode.notFound)
  }
  if (!standing.settled) for (const line of trustReportLines(standing.report)) say(line)
  for (const line of isNew ? newLockLines(standing, current) : lockReportLines(report)) say(line)
  if (options.dryRun === true) return done(report.state, false, exitCode.done)
  lockStore.requireLockable(current)
  const inStep = report.state === 'locked' && report.withoutBits === 0
  if (inStep && standing.settled) {
    await lockStore.keep(current)
    return done('locked', false, exitCode.done)
  }
  const asks = !standing.settled || !((isNew && !standing.lockIsGone) || inStep)
  if (asks && !(await agreeToLock(context, standing, options))) {
    output.note('Nothing was trusted, and nothing was locked.')
    return done(report.state, false, exitCode.refused)
  }
  if (!standing.settled) {
    await standing.accept()
    say(`\nTrusted${standing.report.pinned ? ', with its text' : ''}.`)
  }
  if (inStep) await lockStore.keep(current)
  else await lockStore.write(current)
  if (!inStep) say(`Locked: ${safeLine(relative(standing.workspace, report.path))}`)
  return done('locked', !inStep, exitCode.done)
}

/** Removes the lock; what was accepted of the workspace stays accepted. */
export async function unlockSkills(
  context: CommandContext,
  store: TrustStore,
  path: string | undefined,
): Promise<ExitCode> {
  const { runtime, output, options: globals } = context
  const { workspace } = standingOf(context, store, path, {})
  const lockStore = openLockStore(runtime, workspace)
  const removed = await lockStore.remove()
  if (globals.json) output.json({ workspace, path: lockStore.path, removed })
  else if (removed) output.line(`${safeLine(lockStore.path)} was removed.`)
  else output.line(`There is no lock in ${safeLine(workspace)}.`)
  return exitCode.done
}

function agreeToLock(
  context: CommandContext,
  { report, settled }: Standing,
  { yes }: LockOptions,
): Promise<boolean> {
  const change = settled ? 'Lock the skills as they are now' : 'Accept all this and lock the skills'
  const question =
    report.state === 'untrusted' ? 'Trust this workspace and lock its skills' : change
  const message = `the skills of ${report.workspace} were not locked: nobody at a terminal agreed to it`
  const hint = 'Look at it with --dry-run, then run the command again with --yes.'
  return agree(context, question, { yes, refusal: { message, hint } })
}

function newLockLines({ report }: Standing, current: readonly CurrentSkill[]): string[] {
  return [
    `${amount(current.length, 'skill')} of ${safeLine(report.workspace)} to lock:`,
    ...current.map(({ name, path, tree }) => {
      const bad = tree.files.find(({ problem }) => problem !== undefined)
      const why = bad === undefined ? '' : `: ${bad.path} ${bad.problem}`
      const digest = tree.digest?.slice(0, 'sha256:'.length + 16) ?? `cannot be locked${why}`
      return `  ${safeLine(`${name}  ${path}  ${digest}`)}  ${amount(tree.files.length, 'file')}`
    }),
  ]
}
