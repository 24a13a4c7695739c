import { relative } from 'node:path'
import { writeLimit } from '../../core/project-state.ts'
import { type AnyCommand, defineCommand, type Note, option } from '../../core/command.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { exitCode, UsageError, wrongUse } from '../../core/errors.ts'
import { nearest, safeLine } from '../../core/text.ts'
import { unifiedDiff } from '../../core/unified-diff.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { readableCachePath } from '../cache/stored-tools.ts'
import { acceptEdit, acceptPlacements } from '../../trust/project-files.ts'
import { TrustStore } from '../../trust/store.ts'
import { checkWorkflows } from '../workflow/check-workflows.ts'
import {
  checkDefinition,
  checkDefinitionText,
  definitionText,
  editText,
  editWorkflows,
  invalid,
  type WorkflowEdit,
} from '../workflow/edit-workflows.ts'
import { WorkflowExistsError, WorkflowNotConfirmedError } from '../workflow/errors.ts'
import { listLines } from '../workflow/messages.ts'
import type { JsonObject, WorkflowDefinition, WorkflowTool } from '../workflow/model.ts'
import { readWorkflows, workflowsPath } from '../workflow/read-workflows.ts'
import { type WorkflowTemplate, workflowTemplates } from '../workflow/templates.ts'
import { editedFile, editText as editByHand } from './edit-text.ts'
import type { ToolContext } from './project-tools.ts'
import {
  applyFlags,
  hasFlags,
  requireFlags,
  type WorkflowFlags,
  workflowOptions,
} from './workflow-flags.ts'
import {
  installedTools,
  openWorkflows,
  requireWorkflow,
  trustOfWorkflows,
  type WorkflowProject,
} from './workflow-project.ts'

interface WorkflowChange {
  name: string
  path: string
  written: boolean
  /** The file has changed, and its workflows act only after `skillrail trust`. */
  toBeAccepted: boolean
  before: string
  after: string
  diagnostics: readonly Diagnostic[]
  change: 'added' | 'changed' | 'removed' | 'enabled' | 'disabled'
  file: string
  dryRun: boolean
  acceptance?: string | undefined
  about?: readonly string[] | undefined
  declined?: true | undefined
}

const output = {
  render({ name, before, after, change, file, dryRun, declined }: WorkflowChange): string {
    if (declined === true) return ''
    if (before === after) return `Workflow '${name}' is like that already; nothing to write.\n`
    if (dryRun) return `${unifiedDiff(file, before, after)}\n`
    return `Workflow '${name}' ${change}.\n`
  },
  notes: ({ about = [], diagnostics, acceptance, declined }: WorkflowChange): Note[] => [
    ...about.map(safeLine),
    ...diagnostics,
    ...(acceptance === undefined ? [] : [acceptance]),
    ...(declined === true ? ['Nothing was removed.'] : []),
  ],
}

const changeOptions = {
  yes: option.flag('--yes', 'accept the change, as a terminal does; see skillrail trust'),
  dryRun: option.flag('--dry-run', 'show what would be written'),
} as const
const nameArgument = { '<name>': 'the workflow' }
const lifted =
  'At a terminal, or with --yes, the change is accepted with it. Otherwise calls that it guards are blocked in a trusted workspace until you accept it: skillrail trust'

interface TemplateList {
  templates: readonly (WorkflowTemplate & { description: string })[]
}

export const add = defineCommand<WorkflowChange | TemplateList>()({
  arguments: { '[name]': 'name of the workflow; default: that of the template' },
  options: {
    template: option.optional(
      '--template [name]',
      'start from a template; without a name, list the templates',
    ),
    ...workflowOptions,
    ...changeOptions,
  },
  examples: [
    'workflow add --template database',
    'workflow add safe-deploy --description "Look before a deployment" \\\n      --tool deploy --step "get_status: know what runs now" --mode warn',
  ],
  async run(context, { arguments: [named], template: wanted, yes, dryRun, ...flags }) {
    if (wanted === true) {
      if (named === undefined && !dryRun && !hasFlags(flags)) return listTemplates()
      throw wrongUse(
        '--template without a name lists the templates and adds nothing',
        'Name one: skillrail workflow add --template database.',
      )
    }
    const template = wanted === undefined ? undefined : findTemplate(wanted)
    const name = named ?? template?.name
    if (name === undefined) {
      throw wrongUse(
        'the workflow needs a name',
        'skillrail workflow add NAME, or --template with one of the templates.',
      )
    }
    const opened = openWorkflows(context)
    if (opened.workflows.some((workflow) => workflow.name === name)) {
      throw new WorkflowExistsError(name)
    }
    const path = workflowsPath(opened.project)
    const definition = await newDefinition(context, name, template, flags, (written) =>
      accepted(opened, name, written, path),
    )
    const edit = { kind: 'write', name, definition } as const
    return await changeWorkflow(context, opened, { path, edit, yes, dryRun, change: 'added' })
  },
  render(result, screen) {
    if (!('templates' in result)) return output.render(result)
    return screen.table(
      result.templates.map((item) => [item.template, item.name, item.description]),
    )
  },
  notes: (result) => ('templates' in result ? [] : output.notes(result)),
})

export const edit = defineCommand<WorkflowChange>()({
  arguments: nameArgument,
  options: { ...workflowOptions, ...changeOptions },
  examples: ['workflow edit database-safe-query --mode warn'],
  async run(context, { arguments: [name = ''], yes, dryRun, ...flags }) {
    const opened = openWorkflows(context)
    const workflow = requireWorkflow(opened, name)
    const { path } = workflow
    const current = definitionText(workflow)
    const accept = (text: string, file: string): JsonObject =>
      accepted(opened, name, applyFlags(checkDefinitionText(name, text, file), flags), path)
    const definition = hasFlags(flags)
      ? accept(current, path)
      : await editByHand(context, current, (text) => accept(text, editedFile))
    const request = { edit: { kind: 'write', name, definition }, change: 'changed' } as const
    const about = listLines(workflow)
    return await changeWorkflow(context, opened, { ...request, path, yes, dryRun, about })
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
  examples: ['workflow remove old-workflow --yes'],
  async run(context, { arguments: [name = ''], yes, dryRun }) {
    const opened = openWorkflows(context)
    const workflow = requireWorkflow(opened, name)
    const { path } = workflow
    const about = listLines(workflow)
    const request = { path, edit: { kind: 'remove', name }, yes, change: 'removed' } as const
    if (dryRun || yes) return await changeWorkflow(context, opened, { ...request, dryRun, about })
    for (const line of about) context.note(safeLine(line))
    const answer = await context.ask({
      text: `Remove workflow '${safeLine(name)}'? [y/N] `,
      otherwise: () =>
        new WorkflowNotConfirmedError({
          code: 'workflow-not-confirmed',
          message: `Workflow '${name}' was not removed: it was not confirmed`,
          hint: 'Give --yes.',
        }),
    })
    const isAgreed = /^y(?:es)?$/i.test(answer.trim())
    const change = await changeWorkflow(context, opened, { ...request, dryRun: !isAgreed })
    return isAgreed ? change : { ...change, after: change.before, declined: true }
  },
  ...output,
  exitCode: ({ declined }) => (declined === true ? exitCode.refused : exitCode.done),
})

export const enable = toggle(true)
export const disable = toggle(false)

function toggle(enabled: boolean): AnyCommand {
  return defineCommand<WorkflowChange>()({
    arguments: nameArgument,
    options: changeOptions,
    ...(enabled ? {} : { details: lifted }),
    examples: [`workflow ${enabled ? 'enable' : 'disable'} database-safe-query`],
    async run(context, { arguments: [name = ''], yes, dryRun }) {
      const opened = openWorkflows(context)
      const workflow = requireWorkflow(opened, name)
      const { path } = workflow
      if (enabled) {
        const definition = checkDefinitionText(name, definitionText(workflow), path)
        accepted(opened, name, { ...definition, enabled }, path)
      }
      const change = { kind: 'set', name, key: 'enabled', value: enabled } as const
      const word = enabled ? 'enabled' : 'disabled'
      const request = { path, edit: change, yes, dryRun, change: word } as const
      return await changeWorkflow(context, opened, request)
    },
    ...output,
  })
}

function listTemplates(): TemplateList {
  const templates = workflowTemplates.map(({ template, name, definition }) => {
    const { description } = definition
    const text = typeof description === 'string' ? description : ''
    return { template, name, description: text, definition }
  })
  return { templates }
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

async function newDefinition(
  context: ToolContext,
  name: string,
  template: WorkflowTemplate | undefined,
  flags: WorkflowFlags,
  accept: (definition: JsonObject) => JsonObject,
): Promise<JsonObject> {
  const created = { created_at: new Date(context.runtime.now()).toISOString() }
  const start = template?.definition ?? { enabled: true, description: '', mode: 'enforce' }
  if (template !== undefined || hasFlags(flags)) {
    const definition = applyFlags(start, flags)
    if (template === undefined) requireFlags(flags)
    return accept({ ...definition, ...created })
  }
  const example = {
    ...start,
    triggers: { category: '', tools: [], keywords: [] },
    prerequisites: [{ step: 1, tool: '', description: '', required: true }],
  }
  return await editByHand(context, `${JSON.stringify(example, undefined, 2)}\n`, (edited) =>
    accept({ ...checkDefinitionText(name, edited, editedFile), ...created }),
  )
}

/** The definition, if it fits beside the others: with steps and triggers, and without a cycle. */
function accepted(
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
  const known = new Set(checkWorkflows(others, tools).map((found) => JSON.stringify(found)))
  const found = checkWorkflows([...others, workflow], tools)
  return found.filter((one) => !known.has(JSON.stringify(one)))
}

async function changeWorkflow(
  context: ToolContext,
  { project, workflows }: WorkflowProject,
  request: Pick<WorkflowChange, 'path' | 'dryRun' | 'change' | 'about'> & {
    edit: WorkflowEdit
    yes: boolean
  },
): Promise<WorkflowChange> {
  const { path, edit, yes, dryRun, change, about } = request
  const { name } = edit
  const { tools } = installedTools(context, project)
  const diagnostics =
    edit.kind === 'write'
      ? newFindings(workflows, checkDefinition(name, edit.definition, path), tools)
      : []
  const { before, after } = await editWorkflows(path, edit, {
    dryRun,
    within: writeLimit(path, context.runtime),
  })
  const written = !dryRun && after !== before
  if (written && (yes || context.interactive))
    await acceptChange(context, project, { path, edit, before })
  const trust = trustOfWorkflows(context, openWorkflows(context))
  const toBeAccepted = written && trust.blockOf(path) !== undefined
  const file = relative(context.runtime.cwd, path)
  const facts = { name, path, written, toBeAccepted, before, after, diagnostics }
  const acceptance = toBeAccepted ? acceptanceText(edit, path, trust) : undefined
  return { ...facts, change, file, dryRun, acceptance, about }
}

/** What the user did is accepted, and nothing that stood in the file beside it. */
async function acceptChange(
  { runtime }: ToolContext,
  workspace: string,
  { path, edit, before }: { path: string; edit: WorkflowEdit; before: string },
): Promise<void> {
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
  // The first workflow is written for the categories as they are.
  await acceptPlacements(store, { workspace, path: file, before: '', after: cache.text })
}

function acceptanceText(
  edit: WorkflowEdit,
  path: string,
  trust: ReturnType<typeof trustOfWorkflows>,
): string {
  const { unknown, workflows, loaded } = trust.gone()
  const isLifted = edit.kind === 'remove' || (edit.kind === 'set' && edit.value === false)
  if (!isLifted || unknown !== undefined || workflows.length > 0) {
    return 'Workflows act, so this change is to be accepted: skillrail trust'
  }
  const free = 'It stands before no call from now on.'
  return loaded.some((one) => one.path === path && one.enabled)
    ? `${free} The other workflows of this file are to be accepted again, since the file has changed: skillrail trust`
    : free
}
