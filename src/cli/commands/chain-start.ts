import { startStepper } from '../../chain/index.ts'
import { type ConfinementOptions, declareConfinement } from '../_confinement.ts'
import { openProject, planNamed, usablePlan } from '../_chain-project.ts'
import { answerStepper, withStepperWorld } from '../_stepper-answer.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends ConfinementOptions {
  requireVerified?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    declareConfinement(program)
    program
      .argument('<skill>', 'a name, a directory, or a SKILL.md')
      .argument('[arguments...]', 'for every step')
      .option('--require-verified', 'a success needs more than the word of the agent')
      .addHelpText('after', '\nExample:\n  $ skillrail chain start review-and-deploy\n')
  },
  async run(context, [reference = '', ...given], options) {
    const project = openProject(context)
    const changes = { set: [], from: undefined, only: undefined }
    const planned = planNamed(project, reference, changes, 'stepper')
    const plan = usablePlan(planned)
    const request = { directory: planned.directory, ...changes }
    const run = { arguments: given, request, requireVerified: options.requireVerified === true }
    const answer = await withStepperWorld(project, plan, options, async (world) =>
      startStepper(plan, run, world),
    )
    return answerStepper(project, plan, given, answer, options)
  },
})
