import { continueStepper, readResult, stepperAnswer } from '../../chain/index.ts'
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
      .addHelpText('after', '\nExample:\n  $ skillrail chain next 0mh2k9x0ab12cd\n')
  },
  async run(context, [runId = ''], options) {
    const project = openProject(context)
    const journal = await openRun(project, runId)
    const { run, status } = journal
    if (status === 'success' || status === 'failure' || status === 'critical') {
      const answer = stepperAnswer(await readResult(journal, context.runtime))
      return answerStepper(project, journal.plan, run.arguments, answer)
    }
    const plan = usablePlan(planKept(project, run))
    const answer = await withStepperWorld(project, plan, options, async (world) =>
      continueStepper(runId, plan, world),
    )
    return answerStepper(project, plan, run.arguments, answer)
  },
})
