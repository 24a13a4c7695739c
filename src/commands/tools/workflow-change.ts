import { relative } from 'node:path'
import { writeLimit } from '#core/project-state'
import { type AnyCommand, type Context, defineCommand, type Notes, option } from '#core/command'
import { type Diagnostic, exitCode, UsageError, wrongUse } from '#core/errors'
import { inputText } from '#core/input-text'
import { isYes, safeLine } from '#core/text'
import { unifiedDiff } from '#core/unified-diff'
import { readRegularFile } from '#core/read-files'
import { readableCachePath } from '#tools/cache/stored-tools'
import { loadToolIndex } from '#tools/cache/tool-index'
import { acceptEdit, acceptPlacements } from '#trust/accept-edit'
import { TrustStore } from '#trust/store'
import { checkWorkflows } from '#tools/workflow/check-workflows'
import {
  checkDefinition,
  checkDefinitionText,
  definitionText,
  editText,
  editWorkflows,
  invalid,
  type WorkflowEdit,
} from '#tools/workflow/edit-workflows'
import { ToolError } from '#tools/errors'
import { type JsonObject, type WorkflowDefinition, type WorkflowTool } from '#tools/workflow/model'
import { readWorkflows, workflowsPath } from '#tools/workflow/read-workflows'
import { workflowTemplates } from '#tools/workflow/templates'
import { listLines } from './workflow-list.ts'
import { editedFile, editText as editByHand } from './edit-text.ts'
import type { ToolContext } from '#tools/project-tools'
import {
  openWorkflows,
  requireWorkflow,
  trustOfWorkflows,
  type WorkflowProject,
} from '#tools/workflow/project-workflows'

type ChangeKind = 'added' | 'changed' | 'removed' | 'enabled' | 'disabled'

interface WorkflowChange {
  name: string
  path: string
  /** The path relative to the current directory. */
  file: string
  change: ChangeKind
  before: string
  after: string
  written: boolean
  dryRun: boolean
  toBeAccepted: boolean
  acceptance: string | undefined
  about: readonly string[] | undefined
  diagnostics: readonly Diagnostic[]
}

interface TemplateList {
  templates: readonly {
    template: string
    name: string
    description: string
    definition: JsonObject
  }[]
}

const output = {
  render({ name, before, after, change, file, dryRun }: WorkflowChange): string {
    if (before === after) return `Workflow '${name}' is like that already; nothing to write.\n`
    if (dryRun) return `${unifiedDiff(file, before, after)}\n`
    return `Workflow '${name}' ${change}.\n`
  },
  notes: ({ about = [], diagnostics, acceptance }: WorkflowChange): Notes => [
    about.map(safeLine),
    diagnostics,
    acceptance,
  ],
}

const changeOptions = {
  yes: option.flag('--yes', 'accept the change, as a terminal does; see skillrail trust'),
  dryRun: option.flag('--dry-run', 'show what would be written'),
} as const
const nameArgument = { '<name>': 'the workflow' }
const lifted =
  'Without a terminal and --yes, calls that it guards are blocked until you accept the change: skillrail trust'

export const add = defineCommand<WorkflowChange | TemplateList>()({
  arguments: {
    '[name]': 'name of the workflow; default: that of the template',
    '[file]': 'a JSON file with the definition; default: an editor opens with an example',
  },
  options: {
    template: option.optional(
      '--template [name]',
      'add a template as it is; without a name, list the templates',
    ),
    ...changeOptions,
  },
  examples: [
    'tools workflow add --template database',
    'tools workflow add safe-deploy deploy-workflow.json',
  ],
  async run(context, { arguments: [named, file], template: templateName, yes, dryRun }) {
    if (templateName === true) {
      if (named === undefined) return listTemplates()
      throw wrongUse('--template needs a name', 'Such as --template database.')
    }
    const template = templateName === undefined ? undefined : findTemplate(templateName)
    if (template && file !== undefined) {
      throw wrongUse('a template and a file are both a definition', 'Give one of them.')
    }
    const name = named ?? template?.name
    if (name === undefined) {
      throw wrongUse(
        'the workflow needs a name',
        'skillrail tools workflow add NAME FILE, or --template TEMPLATE',
      )
    }
    const opened = openWorkflows(context)
    if (opened.workflows.some((workflow) => workflow.name === name)) {
      const message = `Workflow '${name}' already exists. Use \`skillrail tools workflow edit\` to modify.`
      throw new ToolError({ code: 'workflow-exists', message })
    }
    const path = workflowsPath(opened.project)
    const created = { created_at: new Date(context.runtime.now()).toISOString() }
    const accept = (fields: JsonObject): JsonObject =>
      validDefinition(opened, name, { ...fields, ...created }, path)
    const definition = template
      ? accept(template.definition)
      : await readDefinition(context, name, file, accept)
    const edit: WorkflowEdit = { kind: 'write', name, definition }
    return await changeWorkflow(context, opened, { path, edit, yes, dryRun, change: 'added' })
  },
  render(result, screen) {
    if (!('templates' in result)) return output.render(result)
    const { templates } = result
    return screen.table(templates.map((one) => [one.template, one.name, one.description]))
  },
  notes: (result) => ('templates' in result ? [] : output.notes(result)),
})

export const edit = defineCommand<WorkflowChange>()({
  arguments: nameArgument,
  options: changeOptions,
  details: 'Opens the definition in VISUAL or EDITOR.',
  examples: ['tools workflow edit database-safe-query'],
  async run(context, { arguments: [name = ''], yes, dryRun }) {
    const { opened, workflow, path, about } = openOne(context, name)
    const definition = await editByHand(context, definitionText(workflow), (text) =>
      validDefinition(opened, name, checkDefinitionText(name, text, editedFile), path),
    )
    const edit: WorkflowEdit = { kind: 'write', name, definition }
    const request = { path, edit, yes, dryRun, about }
    return await changeWorkflow(context, opened, { ...request, change: 'changed' })
  },
  ...output,
})

export const remove = defineCommand<WorkflowChange>()({
  arguments: nameArgument,
  options: {
    yes: option.flag('--yes', 'do not ask'),
    dryRun: option.flag('--dry-run', 'show what would be removed'),
  },
  details: lifted,
  examples: ['tools workflow remove old-workflow --yes'],
  async run(context, { arguments: [name = ''], yes, dryRun }) {
    const { opened, path, about } = openOne(context, name)
    if (!dryRun && !yes) await confirm(context, name, about)
    const edit: WorkflowEdit = { kind: 'remove', name }
    const request = { path, edit, dryRun, yes, about }
    return await changeWorkflow(context, opened, { ...request, change: 'removed' })
  },
  ...output,
})

function openOne(context: ToolContext, name: string) {
  const opened = openWorkflows(context)
  const workflow = requireWorkflow(opened, name)
  return { opened, workflow, path: workflow.path, about: listLines(workflow) }
}

/** @throws {ToolError} */
async function confirm({ ask }: ToolContext, name: string, about: readonly string[]) {
  const refused = new ToolError({
    code: 'workflow-not-confirmed',
    message: `Workflow '${name}' was not removed: it was not confirmed`,
    hint: 'Give --yes.',
    exitCode: exitCode.refused,
  })
  const answer = await ask({
    text: `Remove workflow '${safeLine(name)}'? [y/N] `,
    about: () => `${about.map(safeLine).join('\n')}\n`,
    otherwise: () => refused,
  })
  if (!isYes(answer)) throw refused
}

export const enable = toggle(true)
export const disable = toggle(false)

function toggle(enabled: boolean): AnyCommand {
  return defineCommand<WorkflowChange>()({
    arguments: nameArgument,
    options: changeOptions,
    ...(enabled ? {} : { details: lifted }),
    examples: [`tools workflow ${enabled ? 'enable' : 'disable'} database-safe-query`],
    async run(context, { arguments: [name = ''], yes, dryRun }) {
      const { opened, workflow, path } = openOne(context, name)
      if (enabled) {
        const definition = checkDefinitionText(name, definitionText(workflow), path)
        validDefinition(opened, name, { ...definition, enabled }, path)
      }
      const edit: WorkflowEdit = { kind: 'set', name, key: 'enabled', value: enabled }
      const change = enabled ? 'enabled' : 'disabled'
      return await changeWorkflow(context, opened, { path, edit, yes, dryRun, change })
    },
    ...output,
  })
}

function listTemplates(): TemplateList {
  const templates = workflowTemplates.map(({ template, name, definition }) => {
    return { template, name, description: definition.description, definition }
  })
  return { templates }
}

function findTemplate(templateName: string) {
  const match = workflowTemplates.find(({ template }) => template === templateName)
  if (match) return match
  const names = workflowTemplates.map(({ template }) => template)
  const [message, hint] = [`there is no template ${templateName}`, `There are ${names.join(', ')}.`]
  throw new UsageError({ code: 'template-unknown', message, hint })
}

/** Reads the definition from a file, or from the user's editor. */
async function readDefinition(
  context: Pick<Context, 'runtime' | 'interactive' | 'stdin'>,
  name: string,
  file: string | undefined,
  accept: (definition: JsonObject) => JsonObject,
): Promise<JsonObject> {
  if (file !== undefined) {
    const text = await inputText(`@${file}`, context)
    return accept(checkDefinitionText(name, text, file))
  }
  const example = {
    enabled: true,
    description: '',
    mode: 'enforce',
    triggers: { category: '', tools: [], keywords: [] },
    prerequisites: [{ step: 1, tool: '', description: '', required: true }],
  }
  return await editByHand(context, `${JSON.stringify(example, undefined, 2)}\n`, (edited) =>
    accept(checkDefinitionText(name, edited, editedFile)),
  )
}

/**
 * Returns the definition if it is valid among the others: with steps and triggers, and without a
 * cycle.
 */
function validDefinition(
  { workflows }: WorkflowProject,
  name: string,
  definition: JsonObject,
  path: string,
): JsonObject {
  const refused = newFindings(workflows, checkDefinition(name, definition, path)).filter(
    ({ severity, code }) =>
      severity === 'error' || ['workflow-no-steps', 'workflow-unreachable'].includes(code),
  )
  if (refused.length === 0) return definition
  throw invalid(name, refused)
}

function newFindings(
  workflows: readonly WorkflowDefinition[],
  workflow: WorkflowDefinition,
  tools?: readonly WorkflowTool[],
): Diagnostic[] {
  const others = workflows.filter(({ name }) => name !== workflow.name)
  const earlierProblems = new Set(
    checkWorkflows(others, tools).map((problems) => JSON.stringify(problems)),
  )
  const found = checkWorkflows([...others, workflow], tools)
  return found.filter((one) => !earlierProblems.has(JSON.stringify(one)))
}

async function changeWorkflow(
  context: ToolContext,
  { project, workflows }: WorkflowProject,
  request: {
    path: string
    edit: WorkflowEdit
    change: ChangeKind
    yes: boolean
    dryRun: boolean
    about?: readonly string[] | undefined
  },
): Promise<WorkflowChange> {
  const { path, edit, yes, dryRun, change, about } = request
  const { name } = edit
  const { index } = loadToolIndex({ project, runtime: context.runtime })
  const diagnostics =
    edit.kind === 'write'
      ? newFindings(workflows, checkDefinition(name, edit.definition, path), index?.tools)
      : []
  const { before, after } = await editWorkflows(path, edit, {
    dryRun,
    within: writeLimit(path, context.runtime),
  })
  const written = !dryRun && after !== before
  if (written && (yes || context.interactive))
    await acceptChange(context, project, { path, edit, before })
  const trust = trustOfWorkflows(context, openWorkflows(context))
  // The file has changed, and its workflows act only after `skillrail trust`.
  const toBeAccepted = written && trust.blockOf(path) !== undefined
  const file = relative(context.runtime.cwd, path)
  const acceptance = toBeAccepted ? 'Accept this change with: skillrail trust' : undefined
  return {
    name,
    path,
    written,
    toBeAccepted,
    before,
    after,
    diagnostics,
    change,
    file,
    dryRun,
    acceptance,
    about,
  }
}

/** Accepts the user's change, and nothing else in the file. */
async function acceptChange(
  { runtime }: ToolContext,
  workspace: string,
  { path, edit, before }: { path: string; edit: WorkflowEdit; before: string },
) {
  const store = new TrustStore(runtime)
  await acceptEdit(store, { workspace, path, kind: 'workflow', before }, (accepted) => {
    const isThere = readWorkflows([{ path, text: accepted }]).workflows.some(
      ({ name }) => name === edit.name,
    )
    return isThere || edit.kind === 'write' ? editText(accepted, path, edit) : accepted
  })
  const file = readableCachePath(workspace)
  const cache = readRegularFile(file, { maxBytes: 64 * 1024 * 1024 })
  if (!cache.ok || store.find(workspace)?.parts.some(({ kind }) => kind === 'category')) return
  // The first workflow uses the current categories.
  await acceptPlacements(store, { workspace, path: file, before: '', after: cache.text })
}
