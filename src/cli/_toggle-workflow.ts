import { exitCode } from '../base/index.ts'
import { checkDefinitionText, definitionText } from '../workflow/index.ts'
import { openWorkflows, requireWorkflow } from '../tools/commands/workflow-project.ts'
import { acceptDefinition, writeWorkflow } from './_write-workflow.ts'
import { defineCommand, type LoadedCommand } from './command.ts'

interface Options {
  dryRun?: boolean | undefined
}

/** For the help of what lifts a workflow. */
export const lifted =
  'Where the workspace is trusted, the calls behind it wait until that is accepted: skillrail trust\n\n'

/** `workflow enable` and `workflow disable`. */
export function toggleCommand(enabled: boolean): LoadedCommand {
  const word = enabled ? 'enable' : 'disable'
  return defineCommand<Options>({
    configure(program) {
      program
        .argument('<name>', 'the workflow')
        .option('--dry-run', 'show what would be written')
        .addHelpText(
          'after',
          `\n${enabled ? '' : lifted}Example:\n  $ skillrail workflow ${word} database-safe-query\n`,
        )
    },
    async run(context, [name = ''], options) {
      const project = openWorkflows(context)
      const workflow = requireWorkflow(project, name)
      const { path } = workflow
      if (enabled) {
        const definition = checkDefinitionText(name, definitionText(workflow), path)
        acceptDefinition(project, name, { ...definition, enabled }, path)
      }
      const edit = { kind: 'set', name, key: 'enabled', value: enabled } as const
      const done = `Workflow '${name}' ${word}d.`
      await writeWorkflow(context, project, { path, edit, dryRun: options.dryRun === true, done })
      return exitCode.done
    },
  })
}
