import { defineCommand } from '../../core/command.ts'
import { checkDefinitionText, definitionText } from '../workflow/edit-workflows.ts'
import { listLines } from '../workflow/messages.ts'
import type { JsonObject } from '../workflow/model.ts'
import { editedFile, editText } from './edit-text.ts'
import {
  acceptDefinition,
  applyFlags,
  changeOutput,
  changeWorkflow,
  hasFlags,
  type WorkflowChange,
  workflowOptions,
} from './workflow-change.ts'
import { openWorkflows, requireWorkflow } from './workflow-project.ts'

export const command = defineCommand<WorkflowChange>()({
  arguments: { '<name>': 'the workflow' },
  options: {
    ...workflowOptions,
    dryRun: { kind: 'flag', flags: '--dry-run', help: 'show what would be written' },
  },
  examples: ['workflow edit database-safe-query --mode warn'],
  async run(context, { arguments: [name = ''], ...options }) {
    const { dryRun } = options
    const project = openWorkflows(context)
    const workflow = requireWorkflow(project, name)
    const { path } = workflow
    const current = definitionText(workflow)
    const about = listLines(workflow)
    const accept = (text: string, file: string): JsonObject => {
      const definition = applyFlags(checkDefinitionText(name, text, file), options)
      acceptDefinition(project, name, definition, path)
      return definition
    }
    const definition = hasFlags(options)
      ? accept(current, path)
      : await editText(context, current, (text) => accept(text, editedFile))
    const edit = { kind: 'write', name, definition } as const
    const change = 'changed'
    return await changeWorkflow(context, project, { path, edit, dryRun, change, about })
  },
  ...changeOutput,
})
