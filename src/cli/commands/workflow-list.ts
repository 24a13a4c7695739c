import { exitCode, hasErrors, safeLine } from '../../base/index.ts'
import { listLines, noWorkflowsText } from '../../workflow/index.ts'
import { openWorkflows, untrustedWorkflows } from '../../tools/commands/workflow-project.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program.addHelpText('after', '\nExample:\n  $ skillrail workflow list\n')
  },
  async run(context) {
    const found = openWorkflows(context)
    const { workflows, diagnostics: read } = found
    const diagnostics = [...read, ...untrustedWorkflows(context, found)]
    const { output } = context
    if (context.options.json) {
      output.json({ workflows, diagnostics })
      return hasErrors(diagnostics) ? exitCode.badAnswer : exitCode.done
    }
    output.diagnostics(diagnostics)
    if (workflows.length === 0 && !hasErrors(diagnostics)) output.line(noWorkflowsText)
    for (const [index, workflow] of workflows.entries()) {
      if (index > 0) output.line()
      for (const line of listLines(workflow)) output.line(safeLine(line))
    }
    return hasErrors(diagnostics) ? exitCode.badAnswer : exitCode.done
  },
})
