import { defineCommand, option, type Values } from '../../core/command.ts'
import { UsageError, wrongUse } from '../../core/errors.ts'
import { nearest } from '../../core/text.ts'
import { checkDefinitionText } from '../workflow/edit-workflows.ts'
import { WorkflowExistsError } from '../workflow/errors.ts'
import type { JsonObject } from '../workflow/model.ts'
import { workflowsPath } from '../workflow/read-workflows.ts'
import { type WorkflowTemplate, workflowTemplates } from '../workflow/templates.ts'
import { editedFile, editText } from './edit-text.ts'
import type { ToolContext } from './project-tools.ts'
import {
  acceptDefinition,
  applyFlags,
  changeOutput,
  changeWorkflow,
  hasFlags,
  requireFlags,
  type WorkflowChange,
  workflowOptions,
} from './workflow-change.ts'
import { openWorkflows, type WorkflowProject } from './workflow-project.ts'

const options = {
  template: option.optional(
    '--template [name]',
    'start from a template; without a name, list the templates',
  ),
  ...workflowOptions,
  dryRun: option.flag('--dry-run', 'show what would be written'),
} as const

type AddOptions = Omit<Values<typeof options>, 'arguments'>

interface TemplateList {
  templates: readonly {
    template: string
    name: string
    description: string
    definition: JsonObject
  }[]
}

export const command = defineCommand<WorkflowChange | TemplateList>()({
  arguments: { '[name]': 'name of the workflow; default: that of the template' },
  options,
  examples: [
    'workflow add --template database',
    'workflow add safe-deploy --description "Look before a deployment" \\\n      --tool deploy --step "get_status: know what runs now" --mode warn',
  ],
  async run(context, { arguments: [named], ...given }) {
    if (given.template === true) {
      refuseBesideList(named, given)
      return listTemplates()
    }
    const template = given.template === undefined ? undefined : findTemplate(given.template)
    const name = named ?? template?.name
    if (name === undefined) throw nameMissing()
    const project = openWorkflows(context)
    if (project.workflows.some((workflow) => workflow.name === name)) {
      throw new WorkflowExistsError(name)
    }
    const definition = await describe(context, project, name, template, given)
    const edit = { kind: 'write', name, definition } as const
    const path = workflowsPath(project.project)
    const { dryRun } = given
    return await changeWorkflow(context, project, { path, edit, dryRun, change: 'added' })
  },
  render(result, screen) {
    if (!('templates' in result)) return changeOutput.render(result)
    return screen.table(
      result.templates.map((item) => [item.template, item.name, item.description]),
    )
  },
  notes: (result) => ('templates' in result ? [] : changeOutput.notes(result)),
})

function listTemplates(): TemplateList {
  const templates = workflowTemplates.map(({ template, name, definition }) => ({
    template,
    name,
    description: typeof definition['description'] === 'string' ? definition['description'] : '',
    definition,
  }))
  return { templates }
}

/** Throws {@link UsageError} for a described workflow where the templates are only listed. */
function refuseBesideList(named: string | undefined, options: AddOptions): void {
  const isDescribed = hasFlags(options) || options.dryRun
  if (named === undefined && !isDescribed) return
  throw wrongUse(
    '--template without a name lists the templates and adds nothing',
    'Name one: skillrail workflow add --template database.',
  )
}

async function describe(
  context: ToolContext,
  project: WorkflowProject,
  name: string,
  template: WorkflowTemplate | undefined,
  options: AddOptions,
): Promise<JsonObject> {
  const path = workflowsPath(project.project)
  const created = { created_at: new Date(context.runtime.now()).toISOString() }
  const accept = (definition: JsonObject): JsonObject => {
    acceptDefinition(project, name, definition, path)
    return definition
  }
  const start = template?.definition ?? { enabled: true, description: '', mode: 'enforce' }
  const isDescribed = template !== undefined || hasFlags(options)
  const draft = applyFlags(start, options)
  if (isDescribed && template === undefined) requireFlags(options)
  if (isDescribed) {
    return accept({ ...draft, ...created })
  }
  const text = `${JSON.stringify(template === undefined ? withExample(draft) : draft, undefined, 2)}\n`
  return await editText(context, text, (edited) =>
    accept({ ...checkDefinitionText(name, edited, editedFile), ...created }),
  )
}

function withExample(definition: JsonObject): JsonObject {
  return {
    ...definition,
    triggers: { category: '', tools: [], keywords: [] },
    prerequisites: [{ step: 1, tool: '', description: '', required: true }],
  }
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
  return wrongUse(
    'the workflow needs a name',
    'skillrail workflow add NAME, or --template with one of the templates.',
  )
}
