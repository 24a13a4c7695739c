import { exitCode, safeLine } from '../../base/index.ts'
import { listLines, WorkflowNotConfirmedError } from '../../workflow/index.ts'
import { openWorkflows, requireWorkflow } from '../../tools/commands/workflow-project.ts'
import { writeWorkflow } from '../_write-workflow.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'
import { lifted } from '../_toggle-workflow.ts'

interface Options {
  yes?: boolean | undefined
  dryRun?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<name>', 'the workflow')
      .option('--yes', 'do not ask')
      .option('--dry-run', 'show what would be removed')
      .addHelpText(
        'after',
        `\n${lifted}Example:\n  $ skillrail workflow remove old-workflow --yes\n`,
      )
  },
  async run(context, [name = ''], { yes = false, dryRun = false }) {
    const project = openWorkflows(context)
    const workflow = requireWorkflow(project, name)
    if (!context.options.json) {
      for (const line of listLines(workflow)) context.output.note(safeLine(line))
    }
    if (!dryRun && !yes && !(await agreed(context, name))) {
      context.output.note('Nothing was removed.')
      return exitCode.refused
    }
    const { path } = workflow
    const done = `Workflow '${name}' removed.`
    await writeWorkflow(context, project, { path, edit: { kind: 'remove', name }, dryRun, done })
    return exitCode.done
  },
})

/** @throws {WorkflowNotConfirmedError} where nobody can be asked. */
async function agreed(context: CommandContext, name: string): Promise<boolean> {
  const answer = await context.ask(`Remove workflow '${safeLine(name)}'? [y/N] `)
  if (answer !== undefined) return /^y(?:es)?$/i.test(answer.trim())
  throw new WorkflowNotConfirmedError({
    code: 'workflow-not-confirmed',
    message: `Workflow '${name}' was not removed: nobody at a terminal agreed to it`,
    hint: 'Give --yes.',
  })
}
