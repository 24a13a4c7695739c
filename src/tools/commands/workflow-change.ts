import { relative } from 'node:path'
import { writeLimit } from '#core/project-state'
import {
  type AnyCommand,
  defineCommand,
  type Notes,
  option,
  type OptionSpecs,
  type Values,
} from '#core/command'
import { type Diagnostic, exitCode, UsageError, wrongUse } from '#core/errors'
import { isYes, safeLine } from '#core/text'
import { unifiedDiff } from '#core/unified-diff'
import { readRegularFile } from '#core/read-files'
import { objectOf, present, type JsonValue } from '#core/json'
import { readableCachePath } from '#tools/cache/stored-tools'
import { loadToolIndex } from '#tools/cache/tool-index'
import { acceptEdit, acceptPlacements } from '#trust/project-files'
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
import {
  type JsonObject,
  type WorkflowDefinition,
  workflowModes,
  type WorkflowTool,
} from '#tools/workflow/model'
import { readWorkflows, workflowsPath } from '#tools/workflow/read-workflows'
import { workflowTemplates } from '#tools/workflow/templates'
import { editedFile, editText as editByHand } from './edit-text.ts'
import type { ToolContext } from './project-tools.ts'
import {
  listLines,
  openWorkflows,
  requireWorkflow,
  trustOfWorkflows,
  type WorkflowProject,
} from './workflow-project.ts'

type WorkflowChange = Awaited<ReturnType<typeof changeWorkflow>>

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

const workflowOptions = {
  description: option.text('--description <text>', 'what it is for'),
  server: option.text('--server <name>', 'bind it to this server'),
  category: option.text('--category <name>', 'trigger: every tool of this category'),
  tool: option.list('--tool <name>', 'trigger: this tool (repeatable)'),
  keyword: option.list('--keyword <words>', 'trigger: these words in the request (repeatable)'),
  step: option.list('--step <tool: why>', 'a prerequisite (repeatable, in order)'),
  mode: option.choice('--mode <mode>', `${workflowModes.join(', ')}; default: enforce`, {
    choices: workflowModes,
  }),
} as const satisfies OptionSpecs

type WorkflowFlags = Omit<Values<typeof workflowOptions>, 'arguments'>

const changeOptions = {
  yes: option.flag('--yes', 'accept the change, as a terminal does; see skillrail trust'),
  dryRun: option.flag('--dry-run', 'show what would be written'),
} as const
const nameArgument = { '<name>': 'the workflow' }
const lifted =
  'Without a terminal and --yes, calls that it guards are blocked until you accept the change: skillrail trust'

export const add = defineCommand<WorkflowChange | ReturnType<typeof listTemplates>>()({
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
      if (named === undefined && !hasFlags(flags)) return listTemplates()
      throw wrongUse('--template needs a name', 'Such as --template database.')
    }
    const template = wanted === undefined ? undefined : findTemplate(wanted)
    const name = named ?? template?.name
    if (name === undefined) {
      throw wrongUse(
        'the workflow needs a name',
        'skillrail workflow add NAME, or --template TEMPLATE',
      )
    }
    const opened = openWorkflows(context)
    if (opened.workflows.some((workflow) => workflow.name === name)) {
      const message = `Workflow '${name}' already exists. Use \`skillrail workflow edit\` to modify.`
      throw new ToolError({ code: 'workflow-exists', message })
    }
    const path = workflowsPath(opened.project)
    const definition = await newDefinition(context, name, template?.definition, flags, (written) =>
      accepted(opened, name, written, path),
    )
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
  options: { ...workflowOptions, ...changeOptions },
  examples: ['workflow edit database-safe-query --mode warn'],
  async run(context, { arguments: [name = ''], yes, dryRun, ...flags }) {
    const { opened, workflow, path, about } = openOne(context, name)
    const current = definitionText(workflow)
    const accept = (text: string, file: string): JsonObject =>
      accepted(opened, name, applyFlags(checkDefinitionText(name, text, file), flags), path)
    const definition = hasFlags(flags)
      ? accept(current, path)
      : await editByHand(context, current, (text) => accept(text, editedFile))
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
  examples: ['workflow remove old-workflow --yes'],
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
    examples: [`workflow ${enabled ? 'enable' : 'disable'} database-safe-query`],
    async run(context, { arguments: [name = ''], yes, dryRun }) {
      const { opened, workflow, path } = openOne(context, name)
      if (enabled) {
        const definition = checkDefinitionText(name, definitionText(workflow), path)
        accepted(opened, name, { ...definition, enabled }, path)
      }
      const edit: WorkflowEdit = { kind: 'set', name, key: 'enabled', value: enabled }
      const change = enabled ? 'enabled' : 'disabled'
      return await changeWorkflow(context, opened, { path, edit, yes, dryRun, change })
    },
    ...output,
  })
}

function listTemplates() {
  const templates = workflowTemplates.map(({ template, name, definition }) => {
    return { template, name, description: definition.description, definition }
  })
  return { templates }
}

function findTemplate(wanted: string) {
  const found = workflowTemplates.find(({ template }) => template === wanted)
  if (found) return found
  const names = workflowTemplates.map(({ template }) => template)
  const [message, hint] = [`there is no template ${wanted}`, `There are ${names.join(', ')}.`]
  throw new UsageError({ code: 'template-unknown', message, hint })
}

async function newDefinition(
  context: ToolContext,
  name: string,
  template: JsonObject | undefined,
  flags: WorkflowFlags,
  accept: (definition: JsonObject) => JsonObject,
): Promise<JsonObject> {
  const created = { created_at: new Date(context.runtime.now()).toISOString() }
  const start = template ?? { enabled: true, description: '', mode: 'enforce' }
  if (template || hasFlags(flags)) {
    return accept({ ...applyFlags(start, flags), ...created })
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

function hasFlags(flags: WorkflowFlags) {
  return Object.values(flags)
    .flat()
    .some((value) => value !== undefined)
}

function applyFlags(before: JsonObject, flags: WorkflowFlags): JsonObject {
  const { description, server, category, tool, keyword, step, mode } = flags
  const [tools, keywords] = [tool, keyword].map((list) => (list.length === 0 ? undefined : list))
  return {
    ...before,
    ...present({ description }),
    triggers: {
      ...objectOf<JsonValue>(before['triggers']),
      ...present({ server, category, tools, keywords }),
    },
    prerequisites: step.length > 0 ? step.map(readStep) : (before['prerequisites'] ?? []),
    ...present({ mode }),
  }
}

function readStep(text: string, index: number) {
  const [, tool, rest = ''] = /^([^\s:]+)\s*:(.*)$/s.exec(text.trim()) ?? []
  const description = rest.trim()
  if (tool !== undefined && description !== '') {
    return { step: index + 1, tool, description, required: true }
  }
  throw wrongUse(
    `--step ${JSON.stringify(text)} is not "TOOL: why"`,
    'Example: --step "list_tables: know the tables"',
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
  request: {
    path: string
    edit: WorkflowEdit
    change: 'added' | 'changed' | 'removed' | 'enabled' | 'disabled'
    yes: boolean
    dryRun: boolean
    about?: readonly string[] | undefined
  },
) {
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
  const acceptance = toBeAccepted ? 'This change is to be accepted: skillrail trust' : undefined
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

/** What the user did is accepted, and nothing that stood in the file beside it. */
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
  // The first workflow is written for the categories as they are.
  await acceptPlacements(store, { workspace, path: file, before: '', after: cache.text })
}
