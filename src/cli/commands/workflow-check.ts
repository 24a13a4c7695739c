import { exitCode, hasErrors } from '../../base/index.ts'
import { checkWorkflows } from '../../workflow/index.ts'
import { amount } from '../../base/text.ts'
import {
  installedTools,
  openWorkflows,
  untrustedWorkflows,
} from '../../tools/commands/workflow-project.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program.addHelpText('after', '\nExample:\n  $ skillrail workflow check --json\n')
  },
  async run(context) {
    const found = openWorkflows(context)
    const { project, workflows, diagnostics: read } = found
    const { tools, message } = installedTools(context, project)
    const diagnostics = [
      ...read,
      ...checkWorkflows(workflows, tools),
      ...untrustedWorkflows(context, found),
    ]
    const { output } = context
    if (context.options.json) {
      output.json({ checked: workflows.length, toolsKnown: tools !== undefined, diagnostics })
    } else {
      output.diagnostics(diagnostics)
      if (message !== undefined) output.note(message)
      const count = amount(workflows.length, 'workflow')
      const problems = diagnostics.filter(({ severity }) => severity !== 'info').length
      output.line(
        problems === 0 ? `${count}, nothing wrong` : `${count}, ${amount(problems, 'finding')}`,
      )
    }
    return hasErrors(diagnostics) ? exitCode.badAnswer : exitCode.done
  },
})
