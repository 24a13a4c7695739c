import { defineCommand } from '../../core/command.ts'
import { type Diagnostic, hasErrors } from '../../core/diagnostic.ts'
import { exitCode } from '../../core/errors.ts'
import { safeLine } from '../../core/text.ts'
import { listLines, noWorkflowsText } from '../workflow/messages.ts'
import type { WorkflowDefinition } from '../workflow/model.ts'
import type { ToolContext } from './project-tools.ts'
import { openWorkflows, untrustedWorkflows } from './workflow-project.ts'

interface Result {
  workflows: readonly WorkflowDefinition[]
  diagnostics: readonly Diagnostic[]
}

export const command = defineCommand<Result>()({
  options: {},
  examples: ['workflow list'],
  run: async (context) => listWorkflows(context),
  exitCode: ({ diagnostics }) => (hasErrors(diagnostics) ? exitCode.badAnswer : exitCode.done),
  render({ workflows, diagnostics }) {
    if (workflows.length === 0) return hasErrors(diagnostics) ? '' : `${noWorkflowsText}\n`
    return workflows
      .map((workflow) =>
        listLines(workflow)
          .map((line) => `${safeLine(line)}\n`)
          .join(''),
      )
      .join('\n')
  },
  notes: ({ diagnostics }) => diagnostics,
})

/** The workflows of the project, with what is wrong with them and with their trust. */
export function listWorkflows(context: Pick<ToolContext, 'runtime' | 'settings'>): Result {
  const found = openWorkflows(context)
  const diagnostics = [...found.diagnostics, ...untrustedWorkflows(context, found)]
  return { workflows: found.workflows, diagnostics }
}
