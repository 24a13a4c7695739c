import { exitCode, safeLine } from '../../base/index.ts'
import {
  checkDefinitionText,
  definitionText,
  type JsonObject,
  listLines,
} from '../../workflow/index.ts'
import { editedFile, editText } from '../_edit-text.ts'
import { addWorkflowFlags, applyFlags, hasFlags, type WorkflowFlags } from '../_workflow-flags.ts'
import { openWorkflows, requireWorkflow } from '../../tools/commands/workflow-project.ts'
import { acceptDefinition, writeWorkflow } from '../_write-workflow.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends WorkflowFlags {
  editor?: string | undefined
  dryRun?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    addWorkflowFlags(program.argument('<name>', 'the workflow'))
      .option('--editor <command>', 'edit the definition with this; default: $VISUAL or $EDITOR')
      .option('--dry-run', 'show what would be written')
      .addHelpText(
        'after',
        '\nExample:\n  $ skillrail workflow edit database-safe-query --mode warn\n',
      )
  },
  async run(context, [name = ''], options) {
    const project = openWorkflows(context)
    const workflow = requireWorkflow(project, name)
    const { path } = workflow
    const current = definitionText(workflow)
    if (!context.options.json) {
      for (const line of listLines(workflow)) context.output.note(safeLine(line))
    }
    const accept = (definition: JsonObject): JsonObject => {
      acceptDefinition(project, name, definition, path)
      return definition
    }
    const definition =
      hasFlags(options) && options.editor === undefined
        ? accept(applyFlags(checkDefinitionText(name, current, path), options))
        : await editText(context, current, {
            editor: options.editor,
            accept: (text) =>
              accept(applyFlags(checkDefinitionText(name, text, editedFile), options)),
          })
    const edit = { kind: 'write', name, definition } as const
    const done = `Workflow '${name}' changed.`
    await writeWorkflow(context, project, { path, edit, dryRun: options.dryRun === true, done })
    return exitCode.done
  },
})
