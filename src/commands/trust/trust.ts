import { resolve } from 'node:path'
import { refuseBelowAgent } from '#core/agent-ancestry'
import { type Context, defineCommand, option, type Screen, type Values } from '#core/command'
import { type Diagnostic, contradiction, exitCode, type ExitCode, wrongUse } from '#core/errors'
import { amount, type Lines, linesText, safeLine } from '#core/text'
import { findWorkspace } from '#core/read-files'
import type { Acceptance } from '#trust/model'
import { removeGuards } from '#trust/accepted-guards'
import { TrustStore } from '#trust/store'
import { enforcementText, guardsHere } from '#project/guards-here'
import { checkLock, type LockCheck, type LockResult } from '#project/skill-lock'
import { reviewWorkspace } from '#project/trust-review'
import { planTrust, type TrustOptions, type TrustResult } from '#project/trust-workspace'
import { lockExitCode, lockLines, lockReportLines, lockSkills } from './lock.ts'
import { agree } from './agree.ts'
import { trustedLine, trustReportLines } from './report-text.ts'

/** One kind for each way to use the command. A preview is emitted before the question. */
type Result =
  | TrustResult
  | ListResult
  | { workspace: string; revoked: boolean }
  | LockResult
  | { workspace: string; path: string; removed: boolean }
  | LockCheck

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
  text: option.switch('--text', 'also trust skills that come later, while they have text only', {
    negated: 'ask about each new skill',
  }),
  lock: option.flag('--lock', 'write a lock file for every skill of the project'),
  check: option.flag('--check', 'with --lock: compare with the lock file; write nothing'),
  unlock: option.flag('--unlock', 'remove the lock file'),
  yes: option.flag('--yes', 'do not ask'),
  dryRun: option.flag('--dry-run', 'show what would be trusted and what changed; record nothing'),
} as const

type CommandValues = Values<typeof options>

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
      const workspaces = acceptances.map(({ parts, ...rest }) => ({
        ...rest,
        parts: parts.filter(({ kind }) => kind !== 'skill').length,
      }))
      return { workspaces, diagnostics }
    }
    if (!values.check && !values.dryRun) refuseBelowAgent(context, 'trust')
    if (values.revoke) {
      const place = resolve(context.runtime.cwd, path ?? '.')
      // The record still has a deleted or moved workspace under its old path.
      const workspace = store.find(place)?.workspace ?? findWorkspace(place, context.runtime)
      const revoked = await store.revoke(workspace)
      const hadGuards = removeGuards(context.runtime, workspace)
      if (hadGuards) context.note(`The guards of its chains no longer apply without a rail.`)
      return { workspace, revoked: revoked || hadGuards }
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

/** Each way to use the command, with the options that have an effect together with it. */
const modes: readonly (readonly [mode: Mode, ...allowed: (keyof typeof options)[]])[] = [
  ['list'],
  ['revoke', 'yes'],
  ['unlock', 'yes'],
  ['check', 'lock', 'yes', 'dryRun'],
  ['lock', 'pin', 'text', 'yes', 'dryRun'],
]

function requireOneMode(values: CommandValues): void {
  const { list, check, lock, pin, text } = values
  const [path] = values.arguments
  if (list && path !== undefined) {
    const message = `--list shows every workspace that is trusted; ${path} would be ignored`
    throw wrongUse(message, `skillrail trust ${path} --dry-run shows what is trusted there.`)
  }
  if (check && !lock) {
    const hint = 'skillrail trust --lock --check compares the skills with the lock file.'
    throw wrongUse('--check belongs to --lock', hint)
  }
  const allowed: readonly string[] | undefined = modes.find(([mode]) => values[mode])
  if (!allowed) return
  const optionValues = new Map(
    Object.entries({ ...values, pin: pin !== undefined, text: text !== undefined }),
  )
  const flags = Object.entries(options)
    .filter(([name]) => optionValues.get(name) && (name === allowed[0] || !allowed.includes(name)))
    .toSorted(([a], [b]) => Number(b === allowed[0]) - Number(a === allowed[0]))
    .map(([name, option]) => {
      const isNegated = (name === 'pin' && pin === false) || (name === 'text' && text === false)
      return isNegated ? option.flags.replace('--', '--no-') : option.flags
    })
  const [first, second] = flags
  if (first === undefined || second === undefined) return
  throw contradiction(first, second, 'Give one of them; skillrail trust --help explains them.')
}

async function trustWorkspace(
  context: Context<Result>,
  store: TrustStore,
  path: string | undefined,
  { yes, ...options }: TrustOptions & { yes: boolean },
): Promise<TrustResult> {
  const plan = planTrust(context, store, path, options)
  const { preview } = plan
  const { settled, lock, dryRun } = preview
  context.emit(preview)
  plan.requireUsableOptions()
  const asks = !settled && !dryRun
  const accepted = asks && (await agree(context, { ...questionAbout(preview), yes }))
  const result = accepted ? await plan.accept() : preview
  if (lock?.state === 'drifted') {
    context.note('What differs is not trusted until it is locked: skillrail trust --lock')
  }
  if (asks && !accepted) context.note('Nothing was trusted.')
  if (preview.guards.some(({ change }) => change !== 'removed')) {
    const { enforcement } = guardsHere(context)
    const { advice = '' } = enforcement
    context.note(`Guards: ${safeLine(`${enforcementText(enforcement)}. ${advice}`.trim())}`)
  }
  return result
}

function questionAbout({ state, skill, sameAs, workspace, guards }: TrustResult): {
  question: string
  message: string
  hint: string
} {
  const subject = skill === undefined ? 'workspace' : 'skill'
  const firstQuestion =
    sameAs === undefined ? `Trust this ${subject}` : 'Trust this working tree too'
  const isChange =
    state === 'changed' || (state === 'trusted' && guards.some(({ change }) => change !== 'none'))
  return {
    question: isChange ? 'Accept these changes' : firstQuestion,
    message: `${skill ?? workspace} was not trusted: it was not confirmed`,
    hint: 'Look at it with --dry-run, then give --yes; for one command only, give that --trust-workspace.',
  }
}

function renderResult(result: Result, screen: Screen): string {
  if ('workspaces' in result && result.workspaces.length > 0) {
    const rows = result.workspaces.map(
      ({ workspace, acceptedAt, pinned, newText, skills, parts }) => [
        safeLine(workspace),
        safeLine(acceptedAt.slice(0, 10)),
        `${amount(parts, 'part')} that can execute`,
        [
          ...(pinned ? ['pinned'] : []),
          ...(newText ? ['new text'] : []),
          ...(skills ?? []).map(safeLine),
        ].join(' '),
      ],
    )
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
