import { option, type OptionSpecs } from '../../core/command.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { SkillrailError } from '../../core/errors.ts'
import { lockReadOnce } from '../../trust/lock.ts'
import { keepsArguments } from '../run-line.ts'
import type { Plan } from '../plan-model.ts'
import type { RunResult } from '../engine.ts'
import type { RunStore } from '../run-store.ts'
import type { RunSetup } from '../run-chain.ts'
import { type ConfinementChoice, confinementFor } from './confinement.ts'
import type { InstructionChoice } from './instructions.ts'
import { type ChainProject, linesAgain, refusalIn, runSettings } from './project.ts'
import { answerWith, type RunAnswer } from './run-text.ts'

export const executeOptions = {
  yesGates: option.flag('--yes-gates', 'approve every gate in advance'),
  maxTime: option.seconds(
    '--max-time <seconds>',
    'stop the run after this time; it can be resumed',
  ),
} as const satisfies OptionSpecs

export const runArguments = {
  '<run>': 'the run ID',
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
  const { context, store } = project
  const { maxTime } = choice
  const limit = maxTime === undefined ? undefined : AbortSignal.timeout(maxTime)
  const confinement = await confinementFor(project, plan, choice)
  // Workers have executors of their own.
  const isLocal = choice.engine !== 'restate'
  const hasOthers = isLocal && (choice.via !== undefined || choice.model !== undefined)
  const executors = hasOthers
    ? await (await import('./executors.ts')).executorsFor(project, choice)
    : []
  const { setup, problems } = runSetup(project, choice, confinement)
  const result = await work({
    ...setup,
    executors,
    refusalOf: refusalIn(project, lockReadOnce(project.policy.workspace)),
    signal: limit === undefined ? context.signal : AbortSignal.any([context.signal, limit]),
    yesGates: choice.yesGates,
  })
  context.diagnose(problems)
  const isOver = limit?.aborted === true && !context.signal.aborted
  const timedOut = isOver && result.status === 'interrupted'
  if (timedOut && maxTime !== undefined) {
    context.note(`The run was ended after ${maxTime / 1000} s (--max-time).`)
  }
  const argumentsNeeded = result.status !== 'success' && lacksArguments(store, result.runId)
  const answer = answerWith(result, { line: linesAgain(context, choice), argumentsNeeded })
  return timedOut ? { ...answer, timedOut } : answer
}

export function runSetup(
  project: ChainProject,
  choice: ConfinementChoice,
  confinement: RunSetup['confinement'],
): { setup: RunSetup; problems: readonly Diagnostic[] } {
  const { context, workspace, store } = project
  const problems: Diagnostic[] = []
  const setup: RunSetup = {
    runtime: context.runtime,
    workspace,
    store,
    settings: runSettings(project),
    confinement,
    line: linesAgain(context, choice),
    refusalOf: refusalIn(project),
    signal: context.signal,
    onProblem: (problem) => void problems.push(problem),
    onEvent: (event) => context.emit(event),
  }
  return { setup, problems }
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

/** The choice that the request of a run made for steps without a script. */
export function executedAs({ via, model, baseUrl, tools }: InstructionChoice): InstructionChoice {
  return { via, model, baseUrl, tools }
}
