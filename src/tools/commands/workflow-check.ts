import { defineCommand } from '../../core/command.ts'
import { type Diagnostic, hasErrors } from '../../core/diagnostic.ts'
import { exitCode } from '../../core/errors.ts'
import { amount } from '../../core/text.ts'
import { checkWorkflows } from '../workflow/check-workflows.ts'
import { installedTools, openWorkflows, untrustedWorkflows } from './workflow-project.ts'

interface Result {
  checked: number
  toolsKnown: boolean
  /** Why the tools are not known, or are out of date. */
  message?: string | undefined
  diagnostics: readonly Diagnostic[]
}

export const command = defineCommand<Result>()({
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
