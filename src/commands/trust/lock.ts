import { relative } from 'node:path'
import type { Context } from '#core/command'
import { exitCode, type ExitCode } from '#core/errors'
import { amount, type Lines, safeLine } from '#core/text'
import type { TrustStore } from '#trust/store'
import { type LockOptions, type LockReport, type LockResult, planLock } from '#project/skill-lock'
import { agree } from './agree.ts'
import { textChangeLines, trustedLine, trustReportLines } from './report-text.ts'

export async function lockSkills(
  context: Context<LockResult>,
  store: TrustStore,
  path: string | undefined,
  options: LockOptions & { yes: boolean },
): Promise<LockResult> {
  const plan = planLock(context, store, path, options)
  const { preview } = plan
  const { workspace, trust } = preview
  context.emit(preview)
  if (plan.hasNoSkills) context.note(`There is no skill to lock in ${workspace}.`)
  if (!plan.isWritable || options.dryRun) return preview
  plan.requireLockable()
  const action = trust ? 'Accept all this and lock the skills' : 'Lock the skills as they are now'
  const isUntrusted = trust?.state === 'untrusted'
  const question = isUntrusted ? 'Trust this workspace and lock its skills' : action
  const message = `the skills of ${workspace} were not locked: it was not confirmed`
  const hint = 'Look at it with --dry-run, then run the command again with --yes.'
  const isAgreed =
    !plan.needsConsent || (await agree(context, { question, yes: options.yes, message, hint }))
  if (isAgreed) return plan.write()
  context.note('Nothing was trusted, and nothing was locked.')
  return preview
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
      const reason = problem === undefined ? '' : `: ${problem}`
      const content = digest?.slice(0, 'sha256:'.length + 16) ?? `cannot be locked${reason}`
      return `  ${safeLine(`${name}  ${path}  ${content}`)}  ${amount(files, 'file')}`
    }),
  ]
  return [
    ...(trust ? trustReportLines(trust) : []),
    ...(isNew ? newLines : lockReportLines({ ...lock, state: lock.was })),
    accepted && trust && `\n${trustedLine(trust)}`,
    written && `Locked: ${safeLine(relative(workspace, lock.path))}`,
  ]
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
