import { resolve } from 'node:path'
import { exitCode, type ExitCode, safeLine } from '../../base/index.ts'
import { findWorkspace, openLockStore, openTrustStore, type TrustStore } from '../../trust/index.ts'
import { amount } from '../../base/text.ts'
import { keptTexts } from '../_text-change.ts'
import { checkLock } from '../_trust-check.ts'
import { compareWithLock, lockReportLines } from '../_trust-lock-report.ts'
import { lockSkills, unlockSkills } from '../_trust-lock.ts'
import { refuseBothPins, requireOneMode, type TrustOptions } from '../_trust-options.ts'
import { type TrustReport, trustReportLines } from '../_trust-report.ts'
import { agree, standingOf } from '../_trust-standing.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand<TrustOptions>({
  configure(program) {
    program
      .argument('[path]', 'a project, or a folder or a skill in it; default: this one')
      .option('--list', 'show the workspaces that are trusted')
      .option('--revoke', 'take the trust back')
      .option('--pin', 'hold on to the text of the skills too, not only to what acts')
      .option('--no-pin', 'let the text change freely again')
      .option('--lock', 'hold every skill to a lock file in the project, written as they are now')
      .option('--check', 'with --lock: compare with the lock files; write nothing')
      .option('--unlock', 'remove the lock file')
      .option('--yes', 'do not ask')
      .option('--dry-run', 'show what would be trusted and what changed; record nothing')
      .addHelpText(
        'after',
        '\nExamples:\n  $ skillrail trust\n  $ skillrail trust ../service --pin\n  $ skillrail trust --list\n  $ skillrail trust --lock\n  $ skillrail trust --lock --check   # in CI\n',
      )
    refuseBothPins(program)
  },
  async run(context, [path], options) {
    requireOneMode(options, path)
    const store = openTrustStore(context.runtime)
    if (options.list === true) return listTrusted(context, store)
    if (options.revoke === true) return await revoke(context, store, path)
    if (options.unlock === true) return await unlockSkills(context, store, path)
    if (options.check === true) return checkLock(context, store, path)
    if (options.lock === true) return await lockSkills(context, store, path, options)
    return await trust(context, store, path, options)
  },
})

async function trust(
  context: CommandContext,
  store: TrustStore,
  path: string | undefined,
  options: TrustOptions,
): Promise<ExitCode> {
  const { runtime, output, options: globals } = context
  const standing = standingOf(context, store, path, options)
  const { report, settled } = standing
  const lockStore = openLockStore(runtime, standing.workspace)
  const lock = compareWithLock(standing, keptTexts(store, lockStore))
  if (!globals.json) {
    for (const line of [...trustReportLines(report), ...lockReportLines(lock.report)]) {
      output.line(line)
    }
    output.diagnostics(lock.report.diagnostics)
  }
  const nothingToDo = settled || options.dryRun === true
  const accepted = nothingToDo ? false : await agreeToTrust(context, report, options)
  if (accepted) {
    await standing.accept()
    if (lock.report.state === 'locked') await lockStore.keep(lock.current)
  }
  const state = accepted ? 'trusted' : report.state
  if (globals.json) {
    const isNone = lock.report.state === 'none' && lock.report.diagnostics.length === 0
    const held = isNone ? undefined : lock.report
    output.json({ ...report, state, was: report.state, accepted, lock: held })
  } else if (accepted) output.line(`\nTrusted${report.pinned ? ', with its text' : ''}.`)
  if (lock.report.state === 'drifted') {
    output.note(
      'What differs from the lock is not trusted until it is locked: skillrail trust --lock',
    )
  }
  if (settled)
    return lock.report.state === 'none' || lock.report.state === 'locked'
      ? exitCode.done
      : exitCode.badAnswer
  if (accepted || options.dryRun === true) return exitCode.done
  output.note('Nothing was trusted.')
  return exitCode.refused
}

function agreeToTrust(
  context: CommandContext,
  report: TrustReport,
  { yes }: TrustOptions,
): Promise<boolean> {
  const question = report.state === 'changed' ? 'Accept these changes' : 'Trust this workspace'
  const message = `${report.workspace} was not trusted: nobody at a terminal agreed to it`
  const hint =
    'Look at what it may do with --dry-run, then run the command again with --yes. For one command only, give that command --trust-workspace.'
  return agree(context, question, { yes, refusal: { message, hint } })
}

function listTrusted({ output, options }: CommandContext, store: TrustStore): ExitCode {
  const { acceptances, diagnostics } = store.read()
  output.diagnostics(diagnostics)
  if (options.json) {
    const workspaces = acceptances.map(({ parts, ...rest }) => ({ ...rest, parts: parts.length }))
    output.json({ workspaces, diagnostics })
  } else if (acceptances.length === 0 && diagnostics.length === 0) {
    output.line('No workspace is trusted.')
  } else {
    output.table(
      acceptances.map(({ workspace, acceptedAt, pinned, parts }) => [
        safeLine(workspace),
        safeLine(acceptedAt.slice(0, 10)),
        `${amount(parts.length, 'part')} that ${parts.length === 1 ? 'acts' : 'act'}`,
        pinned ? 'pinned' : '',
      ]),
    )
  }
  return diagnostics.length > 0 ? exitCode.badAnswer : exitCode.done
}

async function revoke(
  { runtime, output, options }: CommandContext,
  store: TrustStore,
  path: string | undefined,
): Promise<ExitCode> {
  const place = resolve(runtime.cwd, path ?? '.')
  // A workspace that was deleted or moved is still in the record under the path it had.
  const workspace = store.find(place)?.workspace ?? findWorkspace(place, runtime)
  const revoked = await store.revoke(workspace)
  if (options.json) output.json({ workspace, revoked })
  else
    output.line(`${safeLine(workspace)} ${revoked ? 'is no longer trusted' : 'was not trusted'}.`)
  return exitCode.done
}
