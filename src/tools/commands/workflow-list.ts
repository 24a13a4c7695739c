import { defineCommand } from '../../core/command.ts'
import { type Diagnostic, hasErrors } from '../../core/diagnostic.ts'
import { exitCode } from '../../core/errors.ts'
import { amount, safeLine } from '../../core/text.ts'
import { checkWorkflows } from '../workflow/check-workflows.ts'
import { listLines, noWorkflowsText } from '../workflow/messages.ts'
import type { WorkflowDefinition } from '../workflow/model.ts'
import type { ToolContext } from './project-tools.ts'
import { installedTools, openWorkflows, untrustedWorkflows } from './workflow-project.ts'

interface WorkflowList {
  workflows: readonly WorkflowDefinition[]
  diagnostics: readonly Diagnostic[]
}

export const list = defineCommand<WorkflowList>()({
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

export function listWorkflows(context: Pick<ToolContext, 'runtime' | 'settings'>): WorkflowList {
  const found = openWorkflows(context)
  const diagnostics = [...found.diagnostics, ...untrustedWorkflows(context, found)]
  return { workflows: found.workflows, diagnostics }
}

interface WorkflowCheck {
  checked: number
  toolsKnown: boolean
  message?: string | undefined
  diagnostics: readonly Diagnostic[]
}

export const check = defineCommand<WorkflowCheck>()({
  options: {},
  examples: ['workflow check --json'],
  async run(context) {
    const found = openWorkflows(context)
    const { project, workflows, diagnostics: read } = found
    const { tools, message } = installedTools(context, project)
    const untrusted = untrustedWorkflows(context, found)
    return {
      checked: workflows.length,
      toolsKnown: tools !== undefined,
      message,
      diagnostics: [...read, ...checkWorkflows(workflows, tools), ...untrusted],
    }
  },
  exitCode: ({ diagnostics }) => (hasErrors(diagnostics) ? exitCode.badAnswer : exitCode.done),
  render({ checked, diagnostics }) {
    const problems = diagnostics.filter(({ severity }) => severity !== 'info').length
    const verdict = problems === 0 ? 'nothing wrong' : amount(problems, 'finding')
    return `${amount(checked, 'workflow')}, ${verdict}\n`
  },
  notes: ({ diagnostics, message }) => [
    ...diagnostics,
    ...(message === undefined ? [] : [message]),
  ],
})
