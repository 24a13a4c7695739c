import { type AnyCommand, defineCommand } from '../../core/command.ts'
import { checkDefinitionText, definitionText } from '../workflow/edit-workflows.ts'
import {
  acceptDefinition,
  changeOutput,
  changeWorkflow,
  lifted,
  type WorkflowChange,
} from './workflow-change.ts'
import { openWorkflows, requireWorkflow } from './workflow-project.ts'

export const enable = toggle(true)
export const disable = toggle(false)

function toggle(enabled: boolean): AnyCommand {
  const word = enabled ? 'enable' : 'disable'
  return defineCommand<WorkflowChange>()({
    arguments: { '<name>': 'the workflow' },
    options: {
      dryRun: { kind: 'flag', flags: '--dry-run', help: 'show what would be written' },
    },
    ...(enabled ? {} : { details: lifted }),
    examples: [`workflow ${word} database-safe-query`],
    async run(context, { arguments: [name = ''], dryRun }) {
      const project = openWorkflows(context)
      const workflow = requireWorkflow(project, name)
      const { path } = workflow
      if (enabled) {
        const definition = checkDefinitionText(name, definitionText(workflow), path)
        acceptDefinition(project, name, { ...definition, enabled }, path)
      }
      const edit = { kind: 'set', name, key: 'enabled', value: enabled } as const
      const change = enabled ? 'enabled' : 'disabled'
      return await changeWorkflow(context, project, { path, edit, dryRun, change })
    },
    ...changeOutput,
  })
}
