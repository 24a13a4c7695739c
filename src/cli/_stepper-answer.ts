import { type Diagnostic, exitCode, type ExitCode, safeLine } from '../base/index.ts'
import {
  allSteps,
  type ChainState,
  type HandedStep,
  holdSecret,
  type Plan,
  type RunLine,
  type RunWorld,
  type StepperAnswer,
} from '../chain/index.ts'
import { type ChainProject, refusalIn } from './_chain-project.ts'
import { statePart } from '../exec/index.ts'
import { type ConfinementOptions, confinementFor } from './_confinement.ts'
import { linesAgain } from './_lines-again.ts'
import { showProgress } from './_progress.ts'
import { answerRun, argumentsAgain } from './_run-answer.ts'
import { runSettings } from './_run-settings.ts'
import { stepContent } from './_step-content.ts'

/** Prints where the stepper stands: what the agent has to do now, or the result. */
export function answerStepper(
  project: ChainProject,
  plan: Plan,
  given: readonly string[],
  answer: StepperAnswer,
  options: ConfinementOptions,
): ExitCode {
  const { context } = project
  const line = linesAgain(context, options)
  const withoutArguments = holdSecret(given)
  const { output } = context
  const { runId, dismissed } = answer
  const said = dismissed === undefined ? {} : { dismissed }
  // A report that does not count is no report, however the run goes on.
  const done = dismissed === undefined ? exitCode.done : exitCode.badAnswer
  if (dismissed !== undefined && !context.options.json) {
    const { step, message } = dismissed
    output.line(
      `The report about ${safeLine(step)} came too late and does not count: ${safeLine(message)}.`,
    )
    output.line('')
  }
  switch (answer.kind) {
    case 'ended':
    case 'interrupted':
      if (!context.options.json) {
        const code = answerRun(context, answer.result, { line, withoutArguments })
        return code === exitCode.done ? done : code
      }
      output.json({ runId, ...said, result: answer.result })
      return answer.result.status === 'success' ? done : exitCode.badAnswer
    case 'approval':
      if (context.options.json) {
        output.json({ runId, ...said, waiting: { step: answer.step } })
        return exitCode.waiting
      }
      output.line(
        `${safeLine(answer.step)} waits for a person: ${safeLine(line('runs approve', runId))}`,
      )
      if (withoutArguments) output.line(argumentsAgain)
      return exitCode.waiting
    case 'next': {
      const next = handedWithContent(project, plan, given, answer.next)
      if (context.options.json) {
        output.json({ runId, ...said, next })
        return done
      }
      for (const step of next) output.raw(instructions(runId, step, line))
      if (withoutArguments) output.line(argumentsAgain)
      return done
    }
  }
}

/** The steps that an agent has to do now, each with what it gets to read. */
export function handedWithContent(
  project: ChainProject,
  plan: Plan,
  given: readonly string[],
  handed: readonly HandedStep[],
): (HandedStep & { content: string })[] {
  return handed.map(({ state, ...step }) => {
    const content = [contentOf(project, plan, step, given), ...passedOn(state)].join('\n\n')
    return { ...step, content }
  })
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
  const problems: Diagnostic[] = []
  try {
    return await work({
      runtime: context.runtime,
      workspace,
      store,
      settings: runSettings(project),
      confinement,
      line: linesAgain(context, options),
      refusalOf: refusalIn(project),
      signal: context.signal,
      onProblem: (problem) => void problems.push(problem),
      onEvent: progress.listener,
    })
  } finally {
    progress.close()
    context.output.diagnostics(problems)
  }
}

function instructions(
  runId: string,
  step: HandedStep & { content: string },
  line: RunLine,
): string {
  const report = line('chain report', runId, ['--step', step.step])
  const name = safeLine(step.step)
  return `${step.content}

Step ${name} of run ${runId}. When it is done, report it:
  ${safeLine(report)} --status success --result "what was done"
(--status failure or critical when it failed; --error for each thing that is wrong)
`
}

/** An agent knows its own reports, but not what scripts left, nor what it was told long ago. */
function passedOn(state: ChainState | undefined): string[] {
  if (state === undefined || state.previous_outputs.length === 0) return []
  return [statePart(JSON.stringify(state))]
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
