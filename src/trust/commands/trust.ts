import { resolve } from 'node:path'
import { type Context, defineCommand, option, type Screen, type Values } from '#core/command'
import { type Diagnostic, contradiction, exitCode, type ExitCode, wrongUse } from '#core/errors'
import { amount, type Lines, linesText, safeLine } from '#core/text'
import { findWorkspace } from '#core/read-files'
import type { Acceptance } from '#trust/model'
import { TrustStore } from '#trust/store'
import {
  checkLock,
  type CheckResult,
  compareWithLock,
  lockExitCode,
  lockLines,
  type LockReport,
  lockReportLines,
  type LockResult,
  lockSkills,
} from './lock.ts'
import { trustedLine, type TrustReport, trustReportLines } from './report.ts'
import { agree, reviewWorkspace } from './review.ts'

/** One kind for each way to use the command; an interim result is emitted before a question is asked. */
type Result =
  | TrustResult
  | ListResult
  | { workspace: string; revoked: boolean }
  | LockResult
  | { workspace: string; path: string; removed: boolean }
  | CheckResult

interface TrustResult extends TrustReport {
  was: TrustReport['state']
  accepted: boolean
  lock: LockReport | undefined
  settled: boolean
  dryRun: boolean
}

interface ListResult {
  workspaces: readonly (Omit<Acceptance, 'parts'> & { parts: number })[]
  diagnostics: readonly Diagnostic[]
}

const options = {
  list: option.flag('--list', 'list trusted workspaces'),
  revoke: option.flag('--revoke', 'revoke the trust'),
  pin: option.switch('--pin', 'also pin the text of the skills, not only what can execute', {
    negated: 'stop pinning the text',
  }),
  lock: option.flag('--lock', 'write a lock file for every skill of the project'),
  check: option.flag('--check', 'with --lock: compare with the lock file; write nothing'),
  unlock: option.flag('--unlock', 'remove the lock file'),
  yes: option.flag('--yes', 'do not ask'),
  dryRun: option.flag('--dry-run', 'show what would be trusted and what changed; record nothing'),
} as const

type Given = Values<typeof options>

export const command = defineCommand<Result, Result>()({
  arguments: {
    '[path]': 'a project, a folder in it, or one skill; default: this project',
  },
  options,
  examples: [
    'trust',
    'trust ../service --pin',
    'trust --list',
    'trust --lock',
    'trust --lock --check   # in CI',
  ],
  async run(context, values) {
    requireOneMode(values)
    const [path] = values.arguments
    const store = new TrustStore(context.runtime)
    if (values.list) {
      const { acceptances, diagnostics } = store.read()
      context.diagnose(diagnostics)
      const workspaces = acceptances.map(({ parts, ...rest }) => ({ ...rest, parts: parts.length }))
      return { workspaces, diagnostics }
    }
    if (values.revoke) {
      const place = resolve(context.runtime.cwd, path ?? '.')
      // A workspace that was deleted or moved is still in the record under the path it had.
      const workspace = store.find(place)?.workspace ?? findWorkspace(place, context.runtime)
      return { workspace, revoked: await store.revoke(workspace) }
    }
    if (values.unlock) {
      const { workspace, lockStore } = reviewWorkspace(context, store, path)
      return { workspace, path: lockStore.path, removed: await lockStore.remove() }
    }
    if (values.check) return checkLock(context, store, path)
    if (values.lock) return await lockSkills(context, store, path, values)
    return await trustWorkspace(context, store, path, values)
  },
  progress: (screen) => ({
    event: (result) => ({
      stdout: renderResult(result, screen),
      diagnostics: 'lock' in result ? result.lock?.diagnostics : undefined,
    }),
  }),
  render: renderResult,
  notes: (result) => ('ok' in result ? result.diagnostics : []),
  exitCode: exitCodeOf,
})

type Mode = 'list' | 'revoke' | 'unlock' | 'check' | 'lock'

/** Each way to use the command, with the options that have an effect beside it. */
const modes: readonly (readonly [mode: Mode, ...allowed: (keyof typeof options)[]])[] = [
  ['list'],
  ['revoke', 'yes'],
  ['unlock', 'yes'],
  ['check', 'lock', 'yes', 'dryRun'],
  ['lock', 'pin', 'yes', 'dryRun'],
]

function requireOneMode(values: Given): void {
  const { list, check, lock, pin } = values
  const [path] = values.arguments
  if (list && path !== undefined) {
    const message = `--list shows every workspace that is trusted; ${path} would be left unheeded`
    throw wrongUse(message, `skillrail trust ${path} --dry-run shows what is trusted there.`)
  }
  if (check && !lock) {
    const hint = 'skillrail trust --lock --check compares the skills with the lock file.'
    throw wrongUse('--check belongs to --lock', hint)
  }
  const allowed: readonly string[] | undefined = modes.find(([mode]) => values[mode])
  if (!allowed) return
  const given = new Map(Object.entries({ ...values, pin: pin !== undefined }))
  const flags = Object.entries(options)
    .filter(([name]) => given.get(name) && (name === allowed[0] || !allowed.includes(name)))
    .toSorted(([a], [b]) => Number(b === allowed[0]) - Number(a === allowed[0]))
    .map(([name, option]) => (name === 'pin' && pin === false ? '--no-pin' : option.flags))
  const [first, second] = flags
  if (first === undefined || second === undefined) return
  throw contradiction(first, second, 'Give one of them; skillrail trust --help explains them.')
}

async function trustWorkspace(
  context: Context<Result>,
  store: TrustStore,
  path: string | undefined,
  { pin, yes, dryRun }: Given,
): Promise<TrustResult> {
  const review = reviewWorkspace(context, store, path, { pin, one: true })
  const { report, settled } = review
  const { report: lock, current } = compareWithLock(review)
  const isNone = lock.state === 'none' && lock.diagnostics.length === 0
  const before: TrustResult = {
    ...report,
    was: report.state,
    accepted: false,
    lock: isNone ? undefined : lock,
    settled,
    dryRun,
  }
  context.emit(before)
  if (report.skill !== undefined && pin !== undefined) {
    const hint = `Give the workspace: skillrail trust --pin ${report.workspace}`
    throw wrongUse('--pin and --no-pin are for a whole workspace, not for one skill', hint)
  }
  const asks = !settled && !dryRun
  const subject = report.skill === undefined ? 'workspace' : 'skill'
  const question = report.state === 'changed' ? 'Accept these changes' : `Trust this ${subject}`
  const message = `${report.skill ?? report.workspace} was not trusted: it was not confirmed`
  const hint =
    'Look at it with --dry-run, then give --yes; for one command only, give that --trust-workspace.'
  const accepted = asks && (await agree(context, { question, yes, message, hint }))
  if (accepted) {
    await review.accept()
    if (lock.state === 'locked') await review.lockStore.keep(current)
  }
  const drift = 'What differs is not trusted until it is locked: skillrail trust --lock'
  if (lock.state === 'drifted') context.note(drift)
  if (!settled && !accepted && !dryRun) context.note('Nothing was trusted.')
  return accepted ? { ...before, state: 'trusted', accepted } : before
}

function renderResult(result: Result, screen: Screen): string {
  if ('workspaces' in result && result.workspaces.length > 0) {
    const rows = result.workspaces.map(({ workspace, acceptedAt, pinned, skills, parts }) => [
      safeLine(workspace),
      safeLine(acceptedAt.slice(0, 10)),
      `${amount(parts, 'part')} that can execute`,
      [...(pinned ? ['pinned'] : []), ...(skills ?? []).map(safeLine)].join(' '),
    ])
    return screen.table(rows)
  }
  return linesText(linesOf(result))
}

function linesOf(result: Result): Lines {
  if ('written' in result) return lockLines(result)
  if ('ok' in result) return lockReportLines(result.lock)
  if ('workspaces' in result) {
    return result.diagnostics.length === 0 ? ['No workspace is trusted.'] : []
  }
  const workspace = safeLine(result.workspace)
  if ('revoked' in result) {
    return [`${workspace} ${result.revoked ? 'is no longer trusted' : 'was not trusted'}.`]
  }
  if ('removed' in result) {
    const removed = `${safeLine(result.path)} was removed.`
    return [result.removed ? removed : `There is no lock in ${workspace}.`]
  }
  return [
    ...trustReportLines({ ...result, state: result.was }),
    ...(result.lock ? lockReportLines(result.lock) : []),
    result.accepted && `\n${trustedLine(result)}`,
  ]
}

function exitCodeOf(result: Result): ExitCode {
  if ('written' in result) return lockExitCode(result)
  if ('workspaces' in result) {
    return result.diagnostics.length > 0 ? exitCode.failed : exitCode.done
  }
  if ('ok' in result) return result.ok ? exitCode.done : exitCode.failed
  if (!('settled' in result)) return exitCode.done
  const { settled, accepted, dryRun, lock } = result
  if (!settled) return accepted || dryRun ? exitCode.done : exitCode.refused
  const isAsLocked = lock === undefined || lock.state === 'none' || lock.state === 'locked'
  return isAsLocked ? exitCode.done : exitCode.failed
}
