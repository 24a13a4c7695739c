import { type Diagnostic, SkillrailError } from '#core/errors'
import { safeSearchPath } from '#core/find-program'
import { childEnvironment } from '#exec/process'
import { runShellCommand } from '#exec/shell-command'
import type { RunResult, RunStatus } from '#chain/engine'
import { planJson, type PlanReport } from '#chain/plan'
import { confinedSteps, type Plan, sandboxForeseen } from '#chain/plan-model'
import { answerWith, type RunAnswer } from '#chain/run-answer'
import type { RunSetup } from '#chain/run-chain'
import { keepsArguments } from '#chain/run-line'
import type { RunStore } from '#chain/run-store'
import { guardsIn, isSameChain } from '#trust/accepted-guards'
import { answerPlace } from './gates.ts'
import { alwaysGuardingIn } from './always-guards.ts'
import { approvalsOf } from './approval-lines.ts'
import {
  type ChainProject,
  type GrantOptions,
  openProject,
  type PlanChanges,
  planChanges,
  planNamed,
  type RunContext,
  usablePlan,
  withChanges,
} from './chains.ts'
import { type EngineChoice, startOn, wantsServer } from './engines.ts'
import { type ExecuteChoice, runSetup } from './run-setup.ts'

/** The options that change a plan. */
export interface PlanOptions extends PlanChanges, GrantOptions {
  /** Plans the steps without a script for an agent that reports, as `chain start` and a rail do. */
  driven?: boolean
  engine?: EngineChoice['engine']
}

/** The options of `skillrail run`. */
export interface RunOptions extends PlanOptions, ExecuteChoice, EngineChoice {
  requireVerified: boolean
}

/**
 * Runs a skill: plans it, checks that it may run, and executes the plan.
 *
 * @throws {SkillNotTrustedError | ChainPlanError} if it cannot run
 */
export async function runSkill(
  context: RunContext,
  skill: { name: string; arguments: readonly string[] },
  options: RunOptions,
): Promise<RunAnswer> {
  wantsServer(options)
  const project = openProject(context, options)
  const changes = await planChanges(options)
  const planned = planNamed(project, skill.name, changes)
  const plan = await usablePlan(project, planned)
  context.diagnose(planned.diagnostics)
  const run = {
    plan,
    arguments: skill.arguments,
    mode: 'run' as const,
    requireVerified: options.requireVerified,
    request: { directory: planned.directory, ...changes },
  }
  return await executeRun(project, plan, options, async (setup) =>
    startOn(project, options, run, setup),
  )
}

/** The plan of a skill, with what keeps it from running. */
export interface PlanAnswer extends PlanReport {
  /** The `SKILL.md`, as in diagnostics. */
  path: string
  /** What a user has to know about scripts that run in a sandbox. */
  sandbox?: string
}

/** Plans a skill as {@link runSkill} does, and executes nothing. */
export async function planSkill(
  context: RunContext,
  name: string,
  options: PlanOptions,
): Promise<PlanAnswer> {
  const project = openProject(context, options)
  const mode = options.driven ? 'stepper' : 'run'
  const planned = planNamed(project, name, await planChanges(options), mode)
  const { plan, diagnostics, refusals } = await withChanges(project, planned)
  const unguarded = options.set.length === 0 ? notAccepted(project, plan) : []
  const { path } = plan.root
  const answer = { ...planJson(plan, [...diagnostics, ...unguarded]), path }
  const [confined] = confinedSteps(plan)
  if (!confined) return answer
  return { ...answer, sandbox: sandboxForeseen(refusals.get(confined.path)?.hint) }
}

/** The guards of the plan that are to apply always, and that a user has not accepted as they are. */
function notAccepted({ context, workspace }: ChainProject, { root }: Plan): Diagnostic[] {
  const records = guardsIn(context.runtime, [workspace])
  return alwaysGuardingIn(root).flatMap(({ chain }): Diagnostic[] => {
    const isAccepted = records.some((record) => {
      if (record.kind === 'unreadable') return false
      return record.chains.some(({ path, digest }) => {
        const subject = { workspace: record.workspace, path }
        return digest === chain.digest && isSameChain(subject, { workspace, path: chain.path })
      })
    })
    if (isAccepted) return []
    const message = `without a rail, agents obey the guards of ${chain.name} only as a user accepted them last`
    const hint = 'To accept them as they are now: skillrail trust'
    return [{ code: 'guards-not-accepted', severity: 'info', message, path: chain.path, hint }]
  })
}

/** Makes the set-up of a run, executes the run with it, and reports its end. */
export async function executeRun(
  project: ChainProject,
  plan: Plan,
  options: ExecuteChoice,
  execute: (setup: RunSetup) => Promise<RunResult>,
): Promise<RunAnswer> {
  const { signal } = project.context
  const { maxTime } = options
  const limit = maxTime === undefined ? undefined : AbortSignal.timeout(maxTime)
  const scope = limit ? AbortSignal.any([signal, limit]) : signal
  const result = await execute(await runSetup(project, plan, options, scope))
  const isOver = limit?.aborted === true && !signal.aborted
  const timedOut = isOver && result.status === 'interrupted'
  const answer = answerOf(project, plan, result)
  if (!timedOut) return await notified(project, answer)
  project.context.note(`The run was ended after ${(maxTime ?? 0) / 1000} s (--max-time).`)
  return await notified(project, { ...answer, timedOut })
}

/** Adds the command lines that continue the run. */
function answerOf(project: ChainProject, plan: Plan, result: RunResult): RunAnswer {
  const argumentsNeeded =
    (result.status !== 'success' && lacksArguments(project.store, result.runId)) || undefined
  return answerWith(result, { ...answerPlace(project, plan), argumentsNeeded })
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

async function notified(project: ChainProject, answer: RunAnswer): Promise<RunAnswer> {
  await notify(project, answer)
  return answer
}

/** Runs the user's command of `run.notify`, with the run and the lines that approve it as JSON on stdin. */
export async function notify(
  project: ChainProject,
  run: { runId: string; status: RunStatus },
): Promise<void> {
  const { context, workspace } = project
  const { runtime, settings, signal } = context
  const { notify: command } = settings.run
  if (command === '' || run.status === 'cancelled' || signal.aborted) return
  const isWindows = runtime.platform === 'win32'
  const approvals = run.status === 'waiting' ? await approvalsOf(project, run.runId) : []
  // It is a command of the user, and runs in the project.
  const PATH = safeSearchPath({ ...runtime, cwd: workspace })
  const { end } = await runShellCommand({
    command,
    platform: runtime.platform,
    cwd: workspace,
    env: childEnvironment(runtime, Object.keys(runtime.env), isWindows ? {} : { PATH }),
    stdin: JSON.stringify(approvals.length === 0 ? run : { ...run, approvals }),
    outputLimit: 1024,
    timeoutMs: notifyPatienceMs,
    signal,
  })
  if (end.kind === 'exit' && end.code === 0) return
  const why = end.kind === 'exit' ? `ended with exit code ${end.code}` : `failed (${end.kind})`
  context.diagnose([
    {
      code: 'notify-failed',
      severity: 'warning',
      message: `the command of run.notify ${why}`,
      path: command,
    },
  ])
}

const notifyPatienceMs = 10_000
