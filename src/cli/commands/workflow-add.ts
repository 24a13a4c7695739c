import { exitCode, nearest, UsageError } from '../../base/index.ts'
import {
  checkDefinitionText,
  type JsonObject,
  WorkflowExistsError,
  type WorkflowTemplate,
  workflowsPath,
  workflowTemplates,
} from '../../workflow/index.ts'
import { editedFile, editText } from '../_edit-text.ts'
import {
  addWorkflowFlags,
  applyFlags,
  hasFlags,
  requireFlags,
  type WorkflowFlags,
} from '../_workflow-flags.ts'
import { openWorkflows, type WorkflowProject } from '../../tools/commands/workflow-project.ts'
import { acceptDefinition, writeWorkflow } from '../_write-workflow.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends WorkflowFlags {
  template?: string | boolean | undefined
  editor?: string | undefined
  dryRun?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    addWorkflowFlags(
      program
        .argument('[name]', 'of the workflow; a template has one')
        .option('--template [name]', 'begin with a template; without a name, list them'),
    )
      .option('--editor <command>', 'edit the definition with this; default: $VISUAL or $EDITOR')
      .option('--dry-run', 'show what would be written')
      .addHelpText(
        'after',
        '\nExamples:\n  $ skillrail workflow add --template database\n  $ skillrail workflow add safe-deploy --description "Look before a deployment" \\\n      --tool deploy --step "get_status: know what runs now" --mode warn\n',
      )
  },
  async run(context, [named], options) {
    if (options.template === true) {
      refuseBesideList(named, options)
      return listTemplates(context)
    }
    const template =
      typeof options.template === 'string' ? findTemplate(options.template) : undefined
    const name = named ?? template?.name
    if (name === undefined) throw nameMissing()
    const project = openWorkflows(context)
    if (project.workflows.some((workflow) => workflow.name === name)) {
      throw new WorkflowExistsError(name)
    }
    const definition = await describe(context, project, name, template, options)
    const edit = { kind: 'write', name, definition } as const
    const path = workflowsPath(project.project)
    const done = `Workflow '${name}' added.`
    await writeWorkflow(context, project, { path, edit, dryRun: options.dryRun === true, done })
    return exitCode.done
  },
})

/** @throws {UsageError} for a workflow that is described where the templates are only listed. */
function refuseBesideList(named: string | undefined, options: Options): void {
  const isDescribed = hasFlags(options) || options.editor !== undefined || options.dryRun === true
  if (named === undefined && !isDescribed) return
  throw new UsageError({
    code: 'wrong-use',
    message: '--template without a name lists the templates and adds nothing',
    hint: 'Name one: skillrail workflow add --template database.',
  })
}

async function describe(
  context: CommandContext,
  project: WorkflowProject,
  name: string,
  template: WorkflowTemplate | undefined,
  options: Options,
): Promise<JsonObject> {
  const path = workflowsPath(project.project)
  const created = { created_at: new Date(context.runtime.now()).toISOString() }
  const accept = (definition: JsonObject): JsonObject => {
    acceptDefinition(project, name, definition, path)
    return definition
  }
  const start = template?.definition ?? { enabled: true, description: '', mode: 'enforce' }
  const isDescribed = options.editor === undefined && (template !== undefined || hasFlags(options))
  const begun = applyFlags(start, options)
  if (isDescribed && template === undefined) requireFlags(options)
  if (isDescribed) {
    return accept({ ...begun, ...created })
  }
  const text = `${JSON.stringify(template === undefined ? withExample(begun) : begun, undefined, 2)}\n`
  return await editText(context, text, {
    editor: options.editor,
    accept: (edited) => accept({ ...checkDefinitionText(name, edited, editedFile), ...created }),
  })
}

/** What a person finds in the editor: every field that there must be. */
function withExample(definition: JsonObject): JsonObject {
  return {
    ...definition,
    triggers: { category: '', tools: [], keywords: [] },
    prerequisites: [{ step: 1, tool: '', description: '', required: true }],
  }
}

function listTemplates({ output, options }: CommandContext): typeof exitCode.done {
  const templates = workflowTemplates.map(({ template, name, definition }) => ({
    template,
    name,
    description: typeof definition['description'] === 'string' ? definition['description'] : '',
    definition,
  }))
  if (options.json) output.json({ templates })
  else output.table(templates.map((item) => [item.template, item.name, item.description]))
  return exitCode.done
}

function findTemplate(wanted: string): WorkflowTemplate {
  const found = workflowTemplates.find(({ template }) => template === wanted)
  if (found !== undefined) return found
  const names = workflowTemplates.map(({ template }) => template)
  const meant = nearest(wanted, names)
  throw new UsageError({
    code: 'template-unknown',
    message: `there is no template ${wanted}`,
    hint: meant === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${meant}?`,
  })
}

function nameMissing(): UsageError {
  return new UsageError({
    code: 'wrong-use',
    message: 'the workflow needs a name',
    hint: 'skillrail workflow add NAME, or --template with one of the templates.',
  })
}
