import { exitCode, type ExitCode } from '../base/index.ts'
import {
  allSteps,
  type HandedStep,
  type Plan,
  type RunWorld,
  type StepperAnswer,
} from '../chain/index.ts'
import { type ChainProject, refusalIn } from './_chain-project.ts'
import { type ConfinementOptions, confinementFor } from './_confinement.ts'
import { showProgress } from './_progress.ts'
import { answerRun } from './_run-answer.ts'
import { runSettings } from './_run-settings.ts'
import { stepContent } from './_step-content.ts'

/** Prints where the stepper stands: what the agent has to do now, or the result. */
export function answerStepper(
  project: ChainProject,
  plan: Plan,
  given: readonly string[],
  answer: StepperAnswer,
): ExitCode {
  const { context } = project
  const { output } = context
  const { runId } = answer
  switch (answer.kind) {
    case 'ended':
    case 'interrupted':
      if (!context.options.json) return answerRun(context, answer.result)
      output.json({ runId, result: answer.result })
      return answer.result.status === 'success' ? exitCode.done : exitCode.badAnswer
    case 'approval':
      if (context.options.json) output.json({ runId, waiting: { step: answer.step } })
      else output.line(`${answer.step} waits for a person: skillrail runs approve ${runId}`)
      return exitCode.waiting
    case 'next': {
      const next = answer.next.map((handed) => ({
        ...handed,
        content: contentOf(project, plan, handed, given),
      }))
      if (context.options.json) output.json({ runId, next })
      else for (const step of next) output.raw(instructions(runId, step))
      return exitCode.done
    }
  }
}

/** The world of a stepper command: as that of a run. */
export async function withStepperWorld<T>(
  project: ChainProject,
  plan: Plan,
  options: ConfinementOptions,
  work: (world: RunWorld) => Promise<T>,
): Promise<T> {
  const { context, workspace, store } = project
  const confinement = await confinementFor(project, plan, options)
  const progress = showProgress(context.output)
  try {
    return await work({
      runtime: context.runtime,
      workspace,
      store,
      settings: runSettings(project),
      confinement,
      refusalOf: refusalIn(project),
      signal: context.signal,
      onEvent: progress.listener,
    })
  } finally {
    progress.close()
  }
}

function instructions(runId: string, step: HandedStep & { content: string }): string {
  return `${step.content}

Step ${step.step} of run ${runId}. When it is done, report it:
  skillrail chain report ${runId} --step ${step.step} --status success --result "what was done"
(--status failure or critical when it failed; --error for each thing that is wrong)
`
}

function contentOf(
  project: ChainProject,
  plan: Plan,
  handed: HandedStep,
  given: readonly string[],
): string {
  const step = allSteps(plan.root).find((candidate) => candidate.step === handed.step)
  if (step === undefined) return ''
  const { content, references } = stepContent(project, step, given)
  return references === '' ? content : `${content}\n\n${references.trimEnd()}`
}
