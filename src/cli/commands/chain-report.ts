import { collect } from '../_collect.ts'
import { UsageError } from '../../base/index.ts'
import { argumentsOf, reportStep } from '../../chain/index.ts'
import type { StepOutput } from '../../exec/index.ts'
import { type ConfinementOptions, declareConfinement } from '../_confinement.ts'
import { openProject, planKept, usablePlan } from '../_chain-project.ts'
import { openRun } from '../_open-run.ts'
import { answerStepper, withStepperWorld } from '../_stepper-answer.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends ConfinementOptions {
  step: string
  status: string
  result?: string | undefined
  error?: readonly string[] | undefined
  metric?: readonly string[] | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    declareConfinement(program)
    program
      .argument('<run>', 'the id that chain start printed')
      .argument('[arguments...]', 'the arguments again, where they held a secret')
      .requiredOption('--step <step>', 'the step that was done')
      .requiredOption('--status <status>', 'success, failure or critical')
      .option('--result <text>', 'what was done, in a sentence')
      .option('--error <text>', 'one thing that is wrong (repeatable)', collect)
      .option('--metric <name=number>', 'one measurement (repeatable)', collect)
      .addHelpText(
        'after',
        '\nExample:\n  $ skillrail chain report 0mh2k9x0ab12cd --step review --status success --result "no findings"\n',
      )
  },
  async run(context, [runId = '', ...given], options) {
    const output = outputOf(options)
    const project = openProject(context)
    const journal = await openRun(project, runId)
    const plan = usablePlan(planKept(project, journal.run))
    const all = argumentsOf(journal, given)
    const report = { runId, step: options.step, output }
    const answer = await withStepperWorld(project, plan, options, async (world) =>
      reportStep(report, plan, world, given),
    )
    return answerStepper(project, plan, all, answer, options)
  },
})

function outputOf(options: Options): StepOutput {
  const { status } = options
  if (status !== 'success' && status !== 'failure' && status !== 'critical') {
    throw new UsageError({
      code: 'wrong-use',
      message: `--status ${status}: allowed are success, failure and critical`,
    })
  }
  return {
    status,
    result: options.result ?? '',
    errors: (options.error ?? []).map((message) => ({ code: 'reported', message })),
    metrics: Object.fromEntries((options.metric ?? []).map((text) => metricOf(text))),
    evidence: 'self-reported',
  }
}

function metricOf(text: string): [string, number] {
  const [, name = '', number = ''] = /^([^=]+)=(.+)$/.exec(text) ?? []
  const value = Number(number)
  if (name !== '' && number.trim() !== '' && Number.isFinite(value)) return [name, value]
  throw new UsageError({
    code: 'wrong-use',
    message: `--metric ${text}: a name and a number are needed, as in tests=12`,
  })
}
