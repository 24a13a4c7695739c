import { dirname, join, resolve } from 'node:path'
import { option, type OptionSpecs } from '../../core/command.ts'
import { contradiction, SkillrailError, wrongUse } from '../../core/errors.ts'
import { isInside } from '../../core/read-files.ts'
import { stateDirectory, userDirectories } from '../../core/runtime.ts'
import { safeLine } from '../../core/text.ts'
import { childEnvironment, runProcess } from '../../exec/process.ts'
import { type Grants, parseGrants, SandboxMissingError } from '../../exec/sandbox/grants.ts'
import { openSandbox } from '../../exec/sandbox/open-sandbox.ts'
import { lockReadOnce } from '../../trust/lock.ts'
import type { RunResult, RunStatus } from '../engine.ts'
import { confinedSteps, type Plan } from '../plan-model.ts'
import type { RunSetup } from '../run-chain.ts'
import type { RunJournal } from '../run-journal.ts'
import { keepsArguments } from '../run-line.ts'
import type { RunStore } from '../run-store.ts'
import type { RunConfinement } from '../script-executor.ts'
import type { EngineChoice } from './engine.ts'
import type { InstructionChoice } from './instructions.ts'
import { type ChainProject, type GrantOptions, refusalIn, runSettings } from './project.ts'
import { answerWith, type RunAnswer } from './run-text.ts'

export const executeOptions = {
  maxTime: option.seconds(
    '--max-time <seconds>',
    'stop the run after this time; it can be resumed',
  ),
} as const satisfies OptionSpecs

export const runArgument = { '<run>': 'the run ID, the beginning of one, or latest' } as const

export const runArguments = {
  ...runArgument,
  '[arguments...]': 'the arguments again, if they held a secret',
} as const

export interface ExecuteChoice extends InstructionChoice, ConfinementChoice {
  yesGates?: boolean | undefined
  /** Milliseconds for the whole run. */
  maxTime?: number | undefined
}

export async function executeRun(
  project: ChainProject,
  plan: Plan,
  choice: ExecuteChoice,
  work: (setup: RunSetup) => Promise<RunResult>,
): Promise<RunAnswer> {
  const { context, store, line } = project
  const { maxTime } = choice
  const limit = maxTime === undefined ? undefined : AbortSignal.timeout(maxTime)
  const setup = await runSetup(project, plan, choice)
  // Workers have executors of their own.
  const isLocal = choice.engine !== 'restate'
  const hasOthers = isLocal && (choice.via !== undefined || choice.model !== undefined)
  const executors = hasOthers
    ? await (await import('./executors.ts')).executorsFor(project, choice)
    : []
  const result = await work({
    ...setup,
    executors,
    refusalOf: refusalIn(project, lockReadOnce(project.policy.workspace)),
    signal: limit === undefined ? context.signal : AbortSignal.any([context.signal, limit]),
    yesGates: choice.yesGates,
  })
  const isOver = limit?.aborted === true && !context.signal.aborted
  const timedOut = isOver && result.status === 'interrupted'
  if (timedOut && maxTime !== undefined) {
    context.note(`The run was ended after ${maxTime / 1000} s (--max-time).`)
  }
  const argumentsNeeded =
    (result.status !== 'success' && lacksArguments(store, result.runId)) || undefined
  const answer = answerWith(result, { line, argumentsNeeded })
  const told = timedOut ? { ...answer, timedOut } : answer
  await notify(project, told)
  return told
}

export async function runSetup(
  project: ChainProject,
  plan: Plan,
  choice: ConfinementChoice,
): Promise<RunSetup> {
  const { context, workspace, store, line } = project
  return {
    runtime: context.runtime,
    workspace,
    store,
    settings: runSettings(project),
    confinement: await confinementFor(project, plan, choice),
    line,
    refusalOf: refusalIn(project),
    signal: context.signal,
    onProblem: (problem) => context.diagnose([problem]),
    onEvent: (event) => context.emit(event),
  }
}

/** A journal that a step has deleted or changed has an error of its own. */
function lacksArguments(store: RunStore, runId: string): boolean {
  try {
    return !keepsArguments(store.read(runId))
  } catch (error) {
    if (error instanceof SkillrailError) return false
    throw error
  }
}

/** The choices that started a run, for what is executed further of it. */
export function choiceOf({ run }: RunJournal, values: ExecuteChoice): ExecuteChoice {
  const { via, model, baseUrl, tools } = run.request
  return { ...values, via, model, baseUrl, tools, engine: run.server?.engine }
}

/** What a user allows the scripts of a run that are not trusted. Never read from a file. */
export const confinementOptions = {
  grant: option.list(
    '--grant <what>',
    'give the sandbox read:PATH, write:PATH, net:* or env:NAME (repeatable)',
  ),
  unsafeNoSandbox: option.flag(
    '--unsafe-no-sandbox',
    'run untrusted scripts with all your rights; the journal records it',
  ),
} as const satisfies OptionSpecs

export interface ConfinementChoice extends GrantOptions {
  engine?: EngineChoice['engine']
}

/** Where the scripts of a plan run that need a sandbox; undefined where it has none. */
async function confinementFor(
  project: ChainProject,
  plan: Plan,
  { grant = [], unsafeNoSandbox = false, engine }: ConfinementChoice,
): Promise<RunConfinement | undefined> {
  const { context } = project
  if (grant.length > 0 && unsafeNoSandbox) {
    const hint = 'Without a sandbox a grant has no effect.'
    throw contradiction('--grant', '--unsafe-no-sandbox', hint)
  }
  const confined = confinedSteps(plan)
  const grants = grantsOf(project, grant)
  const [first] = confined
  if (first === undefined) {
    const idle = unsafeNoSandbox ? '--unsafe-no-sandbox' : '--grant'
    if (unsafeNoSandbox || grant.length > 0) {
      context.note(`${idle} changes nothing: no script of this plan runs in a sandbox`)
    }
    return undefined
  }
  const missing = (reason: string, hint: string): SandboxMissingError =>
    new SandboxMissingError({
      code: 'sandbox-missing',
      message: `the scripts of the skill ${first.skill} run only in a sandbox, ${reason}`,
      hint,
    })
  if (engine === 'restate') {
    const hint = 'Run it on this machine: leave out --engine restate.'
    throw missing('which workers do not have', hint)
  }
  if (unsafeNoSandbox) {
    const names = [...new Set(confined.map(({ skill }) => safeLine(skill)))].join(', ')
    context.note(
      `--unsafe-no-sandbox: these scripts run with all your rights, and this run's journal says so: ${names}`,
    )
    return 'off'
  }
  for (const { path } of confined) {
    refuseOwnSkill(dirname(resolve(project.workspace, path)), grants)
  }
  const probe = await openSandbox()
  if (probe.ok) return { sandbox: probe.sandbox, grants }
  const trust = first.trust === 'untrusted' ? ' Or trust the skill: skillrail trust.' : ''
  throw missing(`and ${probe.reason}`, `${probe.hint}${trust}`)
}

/** A skill that can write into its own directory could be another one at the next run. */
function refuseOwnSkill(directory: string, { write }: Grants): void {
  const grant = write.find((path) => isInside(path, directory) || isInside(directory, path))
  if (grant === undefined) return
  const message = `--grant write:${grant} would let the skill in ${directory} change itself`
  throw wrongUse(message, 'Name a directory beside it.')
}

function grantsOf(project: ChainProject, texts: readonly string[]): Grants {
  const { runtime } = project.context
  const { cwd, home, env } = runtime
  const guarded = [
    ...Object.values(userDirectories(runtime)),
    join(project.workspace, '.skillrail'),
    stateDirectory(project.context),
  ]
  const { grants, problems } = parseGrants(texts, { cwd, home, env, guarded })
  const [first] = problems
  if (first === undefined) return grants
  const { grant, message, hint } = first
  throw wrongUse(`--grant ${grant}: ${message}`, hint)
}

const patienceMs = 10_000

/** Calls the command of `run.notify` with a run that waits, has failed or has ended. */
export async function notify(
  { context, workspace }: ChainProject,
  run: { runId: string; status: RunStatus },
): Promise<void> {
  const { runtime, settings, signal } = context
  const { notify: command } = settings.run
  if (command === '' || run.status === 'cancelled' || signal.aborted) return
  const isWindows = runtime.platform === 'win32'
  const { end } = await runProcess({
    file: isWindows ? 'cmd' : '/bin/sh',
    args: isWindows ? ['/d', '/s', '/c', command] : ['-c', command],
    cwd: workspace,
    env: childEnvironment(runtime, Object.keys(runtime.env), {}),
    stdin: JSON.stringify(run),
    outputLimit: 1024,
    timeoutMs: patienceMs,
    signal,
  })
  if (end.kind === 'exit' && end.code === 0) return
  const why = end.kind === 'exit' ? `ended with exit code ${end.code}` : `failed (${end.kind})`
  context.diagnose([
    {
      code: 'notify-failed',
      severity: 'warning',
      message: `the command of run.notify ${why}; the run itself is not affected`,
      path: command,
    },
  ])
}
