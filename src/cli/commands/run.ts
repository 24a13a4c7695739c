import { collect } from '../_collect.ts'
import { openProject, planNamed, usablePlan } from '../_chain-project.ts'
import { declareConfinement } from '../_confinement.ts'
import { declareEngine, type EngineOptions, startOn, wantsServer } from '../_engine.ts'
import { type ExecuteOptions, executeRun } from '../_execute-run.ts'
import { answerPlan } from '../_plan-answer.ts'
import { askedInstructions } from '../_instructions.ts'
import { askedSteps, declareStepChoice, type StepChoice } from '../_step-choice.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends ExecuteOptions, EngineOptions, StepChoice {
  dryRun?: boolean | undefined
  set?: readonly string[] | undefined
  requireVerified?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    declareEngine(program)
    declareConfinement(program)
    declareStepChoice(program)
    program
      .argument('<skill>', 'a name, a directory, or a SKILL.md')
      .argument('[arguments...]', 'for every step; after -- they may begin with a dash')
      .option('--dry-run', 'show the plan and run nothing')
      .option('--set <key=value>', 'change the policy for this run (repeatable)', collect)
      .option('--yes-gates', 'approve every gate in advance')
      .option(
        '--via <client>',
        'claude, codex, gemini, opencode, copilot or qwen for steps without a script',
      )
      .option('--model <provider:name>', 'a model for steps without a script')
      .option('--base-url <url>', 'where the model is, for servers of your own')
      .option(
        '--tools <names>',
        'built-in tools for the model: read,list,search,write,edit,shell or all',
      )
      .option('--max-time <seconds>', 'end the whole run after this time; it can be resumed')
      .option('--require-verified', 'a success needs more than the word of an agent')
      .option(
        '--report <format[=file]>',
        'json, junit, github or html; - is standard output (repeatable)',
        collect,
      )
      .option(
        '--events [file]',
        'every event as a line of JSON; as in --events=FILE, else standard output',
      )
      .addHelpText(
        'after',
        '\nExample:\n  $ skillrail run release-check --report html=report.html\n',
      )
  },
  async run(context, [reference = '', ...given], options) {
    wantsServer(options)
    const project = openProject(context)
    const changes = {
      set: options.set ?? [],
      ...askedSteps(options),
      ...(await askedInstructions(options)),
    }
    const planned = planNamed(project, reference, changes)
    if (options.dryRun === true) return answerPlan(context, planned, 'text')
    const plan = usablePlan(planned)
    context.output.diagnostics(planned.diagnostics)
    return await executeRun(project, plan, options, async (world) =>
      startOn(
        project,
        options,
        {
          plan,
          arguments: given,
          mode: 'run',
          requireVerified: options.requireVerified === true,
          request: { directory: planned.directory, ...changes },
        },
        world,
      ),
    )
  },
})
