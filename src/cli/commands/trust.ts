import { realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { exitCode, type ExitCode, safeLine, UsageError } from '../../base/index.ts'
import {
  type ActingPart,
  assessWorkspace,
  collectActingParts,
  findWorkspace,
  openTrustStore,
  type TrustStore,
  WorkspaceNotTrustedError,
} from '../../trust/index.ts'
import { amount } from '../_cells.ts'
import { trustReport, type TrustReport, trustReportLines } from '../_trust-report.ts'
import { skillsToTrust } from '../_trust-skills.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  list?: boolean | undefined
  revoke?: boolean | undefined
  pin?: boolean | undefined
  yes?: boolean | undefined
  dryRun?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('[path]', 'a project, or a folder or a skill in it; default: this one')
      .option('--list', 'show the workspaces that are trusted')
      .option('--revoke', 'take the trust back')
      .option('--pin', 'hold on to the text of the skills too, not only to what acts')
      .option('--no-pin', 'let the text change freely again')
      .option('--yes', 'do not ask')
      .option('--dry-run', 'show what would be trusted and what changed; record nothing')
      .addHelpText(
        'after',
        '\nExamples:\n  $ skillrail trust\n  $ skillrail trust ../service --pin\n  $ skillrail trust --list\n',
      )
  },
  async run(context, [path], options) {
    const store = openTrustStore(context.runtime)
    if (options.list === true) return listTrusted(context, store)
    if (options.revoke === true) return await revoke(context, store, path)
    return await trust(context, store, path, options)
  },
})

async function trust(
  context: CommandContext,
  store: TrustStore,
  path: string | undefined,
  options: Options,
): Promise<ExitCode> {
  const { runtime, settings, output, options: globals } = context
  const place = existingPlace(resolve(runtime.cwd, path ?? '.'))
  const workspace = findWorkspace(place, runtime)
  const acceptance = store.find(workspace)
  const skills = skillsToTrust(runtime, settings, { workspace, place, acceptance })
  const known = acceptance?.pinned ?? false
  const pinned = options.pin ?? known
  const collect = (text: boolean): ActingPart[] =>
    collectActingParts(workspace, skills, { text, from: place, accepted: acceptance })
  const parts = collect(known)
  const assessment = assessWorkspace(acceptance, parts)
  const acceptedText = (digest: string): string | undefined => store.acceptedText(digest)
  const report = trustReport({ workspace, pinned, skills, parts, assessment, acceptedText })
  if (!globals.json) for (const line of trustReportLines(report)) output.line(line)
  const settled = assessment.state === 'trusted' && pinned === known
  const accepted =
    settled || options.dryRun === true ? false : await agree(context, report, options)
  if (accepted) {
    const accept = pinned === known ? parts : collect(pinned)
    await store.accept(workspace, accept, { pinned })
  }
  const state = accepted ? 'trusted' : report.state
  if (globals.json) output.json({ ...report, state, was: report.state, accepted })
  else if (accepted) output.line(`\nTrusted${pinned ? ', with its text' : ''}.`)
  if (settled || accepted || options.dryRun === true) return exitCode.done
  output.note('Nothing was trusted.')
  return exitCode.refused
}

/** @throws {WorkspaceNotTrustedError} where nobody can be asked. */
async function agree(
  context: CommandContext,
  report: TrustReport,
  options: Options,
): Promise<boolean> {
  if (options.yes === true) return true
  const question = report.state === 'changed' ? 'Accept these changes' : 'Trust this workspace'
  const answer = await context.ask(`\n${question}? [y/N] `)
  if (answer !== undefined) return /^y(?:es)?$/i.test(answer.trim())
  throw new WorkspaceNotTrustedError({
    code: 'workspace-not-trusted',
    message: `${report.workspace} was not trusted: there is no terminal to ask at`,
    hint: 'Look at what it may do with --dry-run, then run the command again with --yes. For one command only, give that command --trust-workspace.',
  })
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

/** The real directory of a path that a person gave. */
function existingPlace(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) {
    throw new UsageError({
      code: 'path-missing',
      message: `there is nothing at ${path}`,
      hint: 'Give a directory. skillrail trust --list shows what is trusted.',
    })
  }
  const real = realpathSync.native(path)
  return stats.isDirectory() ? real : dirname(real)
}
