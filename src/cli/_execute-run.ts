import { type Diagnostic, exitCode, type ExitCode, SkillrailError } from '../base/index.ts'
import {
  type Executor,
  keepsArguments,
  type Plan,
  type RunResult,
  type RunStore,
  type RunWorld,
} from '../chain/index.ts'
import { lockReadOnce } from '../trust/index.ts'
import { type ChainProject, refusalIn } from './_chain-project.ts'
import { type ConfinementOptions, confinementFor } from './_confinement.ts'
import { linesAgain } from './_lines-again.ts'
import { milliseconds } from '../base/option-values.ts'
import { showProgress } from './_progress.ts'
import { answerRun, codeOfRun, whatNext } from './_run-answer.ts'
import { openReports, type ReportOptions } from './_run-reports.ts'
import { runSettings } from './_run-settings.ts'
import type { InstructionChoice } from './_instructions.ts'
import { clientNamed } from './_via.ts'

export interface ExecuteOptions extends ReportOptions, InstructionChoice, ConfinementOptions {
  yesGates?: boolean | undefined
  /** `restate`: workers execute it, and need the clients and models. */
  engine?: string | undefined
  /** Seconds for the whole run, as given. */
  maxTime?: string | undefined
}

/** Runs something with progress, writes the reports that were asked for, and prints the answer. */
export async function executeRun(
  project: ChainProject,
  plan: Plan,
  options: ExecuteOptions,
  work: (world: RunWorld) => Promise<RunResult>,
): Promise<ExitCode> {
  const { context, workspace, store } = project
  const confinement = await confinementFor(project, plan, options)
  const line = linesAgain(context, options)
  const executors = await executorsFor(project, options)
  const longest = milliseconds('--max-time', options.maxTime)
  const limit = longest === undefined ? undefined : AbortSignal.timeout(longest)
  const reports = openReports(context, options)
  const progress = showProgress(context.output)
  const problems: Diagnostic[] = []
  let result: RunResult
  try {
    result = await work({
      runtime: context.runtime,
      workspace,
      store,
      settings: runSettings(project),
      executors,
      confinement,
      line,
      refusalOf: refusalIn(project, lockReadOnce(project.policy.workspace)),
      signal: limit === undefined ? context.signal : AbortSignal.any([context.signal, limit]),
      yesGates: options.yesGates,
      onProblem: (problem) => void problems.push(problem),
      onEvent(event) {
        progress.listener(event)
        reports.onEvent?.(event)
      },
    })
  } finally {
    progress.close()
  }
  await reports.write(result)
  context.output.diagnostics(problems)
  const inTime = limit?.aborted !== true || context.signal.aborted
  const overdue = !inTime && result.status === 'interrupted'
  if (overdue) context.output.note(`The run was ended after ${options.maxTime} s (--max-time).`)
  const going = {
    line,
    withoutArguments: result.status !== 'success' && lacksArguments(store, result.runId),
  }
  const code = reports.takesOutput ? codeOfRun(result) : answerRun(context, result, going)
  if (reports.takesOutput) for (const line of whatNext(result, going)) context.output.note(line)
  return overdue ? exitCode.budget : code
}

/** Of a journal that a step has deleted or changed, something else is said. */
function lacksArguments(store: RunStore, runId: string): boolean {
  try {
    return !keepsArguments(store.read(runId))
  } catch (error) {
    if (error instanceof SkillrailError) return false
    throw error
  }
}

async function executorsFor(
  project: ChainProject,
  { engine, ...choice }: ExecuteOptions,
): Promise<Executor[]> {
  if (engine === 'restate') return []
  if (choice.model !== undefined) {
    const { modelExecutorOf } = await import('./_model-executor.ts')
    return [await modelExecutorOf(project, choice, [choice.model])]
  }
  const client = clientNamed(choice.via)
  if (client === undefined) return []
  const { viaExecutor } = await import('./_via-executor.ts')
  return [viaExecutor(project, client)]
}
