import { argumentsOf, continueStepper, readResult, stepperAnswer } from '../../chain/index.ts'
import { type ConfinementOptions, declareConfinement } from '../_confinement.ts'
import { openProject, planKept, usablePlan } from '../_chain-project.ts'
import { openRun } from '../_open-run.ts'
import { answerStepper, withStepperWorld } from '../_stepper-answer.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand<ConfinementOptions>({
  configure(program) {
    declareConfinement(program)
    program
      .argument('<run>', 'the id that chain start printed')
      .argument('[arguments...]', 'the arguments again, where they held a secret')
      .addHelpText('after', '\nExample:\n  $ skillrail chain next 0mh2k9x0ab12cd\n')
  },
  async run(context, [runId = '', ...given], options) {
    const project = openProject(context)
    const journal = await openRun(project, runId)
    const { run, status } = journal
    if (status === 'success' || status === 'failure' || status === 'critical') {
      const answer = stepperAnswer(await readResult(journal, context.runtime))
      return answerStepper(project, journal.plan, run.arguments, answer, options)
    }
    const plan = usablePlan(planKept(project, run))
    const all = argumentsOf(journal, given)
    const answer = await withStepperWorld(project, plan, options, async (world) =>
      continueStepper(runId, plan, world, given),
    )
    return answerStepper(project, plan, all, answer, options)
  },
})
