import { collect } from '../_collect.ts'
import { UsageError } from '../../base/index.ts'
import { openProject, planNamed } from '../_chain-project.ts'
import { contradiction } from '../../base/errors.ts'
import { answerPlan } from '../_plan-answer.ts'
import { askedInstructions, type InstructionChoice } from '../_instructions.ts'
import { askedSteps, declareStepChoice, type StepChoice } from '../_step-choice.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends InstructionChoice, StepChoice {
  format: string
  set?: readonly string[] | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<skill>', 'a name, a directory, or a SKILL.md')
      .option('--format <format>', 'text or mermaid', 'text')
      .option('--set <key=value>', 'change the policy (repeatable)', collect)
      .option(
        '--via <client>',
        'plan for an agent client: claude, codex, gemini, opencode, copilot or qwen',
      )
      .option('--model <provider:name>', 'plan for a model')
      .option('--tools <names>', 'plan with these built-in tools for the model')
      .addHelpText('after', '\nExample:\n  $ skillrail chain plan release-check --format mermaid\n')
    declareStepChoice(program)
  },
  async run(context, [reference = ''], options) {
    const { format } = options
    if (format !== 'text' && format !== 'mermaid') {
      throw new UsageError({
        code: 'wrong-use',
        message: `--format ${format}: there is no such format`,
        hint: 'Known are text and mermaid; --json prints the plan as JSON.',
      })
    }
    if (format === 'mermaid' && context.options.json) {
      throw contradiction('--format mermaid', '--json', 'Print the plan as one or as the other.')
    }
    const changes = {
      set: options.set ?? [],
      ...askedSteps(options),
      ...(await askedInstructions(options)),
    }
    return answerPlan(context, planNamed(openProject(context), reference, changes), format)
  },
})
