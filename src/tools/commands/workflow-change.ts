import { relative } from 'node:path'
import { type Note, option, type OptionSpecs, type Values } from '../../core/command.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { wrongUse } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { safeLine } from '../../core/text.ts'
import { unifiedDiff } from '../../core/unified-diff.ts'
import type { JsonValue } from '../../skill/model.ts'
import { checkWorkflows } from '../workflow/check-workflows.ts'
import { checkDefinition, editWorkflows, type WorkflowEdit } from '../workflow/edit-workflows.ts'
import { WorkflowInvalidError } from '../workflow/errors.ts'
import {
  type JsonObject,
  type WorkflowDefinition,
  type WorkflowMode,
  workflowModes,
  type WorkflowTool,
} from '../workflow/model.ts'
import type { GoneWorkflows } from '../call/gate.ts'
import type { ToolContext } from './project-tools.ts'
import {
  installedTools,
  openWorkflows,
  trustOfWorkflows,
  type WorkflowProject,
} from './workflow-project.ts'

export interface WorkflowChange {
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

export async function changeWorkflow(
  context: ToolContext,
  workflowProject: WorkflowProject,
  request: {
    path: string
    edit: WorkflowEdit
    dryRun: boolean
    change: WorkflowChange['change']
    about?: readonly string[] | undefined
  },
): Promise<WorkflowChange> {
  const { path, edit, dryRun, change, about } = request
  const diagnostics = findingsOn(workflowProject, edit, path, context)
  const { before, after } = await editWorkflows(path, edit, { dryRun })
  const written = !dryRun && after !== before
  const trust = trustOfWorkflows(context, openWorkflows(context))
  const toBeAccepted = written && trust.blockOf(path) !== undefined
  return {
    name: edit.name,
    path,
    written,
    toBeAccepted,
    before,
    after,
    diagnostics,
    change,
    file: relative(context.runtime.cwd, path),
    dryRun,
    acceptance: toBeAccepted ? acceptanceText(edit, path, trust.gone()) : undefined,
    about,
  }
}

export const changeOutput = {
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

function findingsOn(
  { project, workflows }: WorkflowProject,
  edit: WorkflowEdit,
  path: string,
  context: ToolContext,
): Diagnostic[] {
  if (edit.kind !== 'write') return []
  const workflow = checkDefinition(edit.name, edit.definition, path)
  return newFindings(workflows, workflow, installedTools(context, project).tools)
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

function acceptanceText(edit: WorkflowEdit, path: string, gone: GoneWorkflows): string {
  const toAccept = 'Workflows act, so this change is to be accepted: skillrail trust'
  const lifts = edit.kind === 'remove' || (edit.kind === 'set' && edit.value === false)
  if (!lifts) return toAccept
  if (gone.unknown !== undefined || gone.workflows.length > 0) return toAccept
  const others = gone.loaded.filter((one) => one.path === path && one.enabled)
  return others.length === 0
    ? 'It stands before no call from now on.'
    : 'It stands before no call from now on. The other workflows of this file are to be accepted again, since the file has changed: skillrail trust'
}

/**
 * The definition, if it fits beside the others: with steps and triggers, and without a cycle.
 * Throws {@link WorkflowInvalidError}.
 */
export function acceptDefinition(
  { workflows }: WorkflowProject,
  name: string,
  definition: JsonObject,
  path: string,
): WorkflowDefinition {
  const workflow = checkDefinition(name, definition, path)
  const refused = newFindings(workflows, workflow).filter(isRefused)
  if (refused.length === 0) return workflow
  throw new WorkflowInvalidError({
    code: 'workflow-invalid',
    message: `workflow '${name}' cannot be kept as it is; nothing was written`,
    diagnostics: refused,
  })
}

function isRefused({ severity, code }: Diagnostic): boolean {
  return severity === 'error' || ['workflow-no-steps', 'workflow-unreachable'].includes(code)
}

export const workflowOptions = {
  description: option.text('--description <text>', 'what it is for'),
  category: option.text('--category <name>', 'trigger: every tool of this category'),
  tool: option.list('--tool <name>', 'trigger: this tool (repeatable)'),
  keyword: option.list('--keyword <words>', 'trigger: these words in the request (repeatable)'),
  step: option.list('--step <tool: why>', 'a prerequisite (repeatable, in order)'),
  optionalStep: option.list(
    '--optional-step <tool: why>',
    'a prerequisite that can fail; runs after the others',
  ),
  param: option.list(
    '--param <step.name=value>',
    'a parameter of a step, such as 2.database=$call.database (repeatable)',
  ),
  mode: option.text('--mode <mode>', `${workflowModes.join(', ')}; default: enforce`),
} as const satisfies OptionSpecs

export const lifted =
  'In a trusted workspace, calls that it guards are blocked until you accept the change: skillrail trust'

type WorkflowFlags = Omit<Values<typeof workflowOptions>, 'arguments'>

/** Requires what a workflow must have. Throws {@link UsageError} that names the missing options. */
export function requireFlags(flags: WorkflowFlags): void {
  const { description, category, tool, keyword, step, optionalStep } = flags
  const isNamed = (options: readonly (string | readonly string[] | undefined)[]): boolean =>
    options.some(
      (option) => option !== undefined && (typeof option === 'string' || option.length > 0),
    )
  const missing = [
    isNamed([description]) ? [] : ['--description'],
    isNamed([category, tool, keyword]) ? [] : ['a trigger (--category, --tool or --keyword)'],
    isNamed([step, optionalStep]) ? [] : ['--step'],
  ].flat()
  if (missing.length === 0) return
  const last = missing.at(-1) ?? ''
  const list = missing.length === 1 ? last : `${missing.slice(0, -1).join(', ')} and ${last}`
  throw wrongUse(
    `${list} ${missing.length === 1 ? 'is' : 'are'} missing`,
    'Example: --description "Look before a deployment" --tool deploy --step "get_status: know what runs now"',
  )
}

export function hasFlags(flags: WorkflowFlags): boolean {
  const { description, category, tool, keyword, step, optionalStep, param, mode } = flags
  const isText = [description, category, mode].some((value) => value !== undefined)
  return isText || [tool, keyword, step, optionalStep, param].some((list) => list.length > 0)
}

export function applyFlags(before: JsonObject, flags: WorkflowFlags): JsonObject {
  refuseEmpty(flags)
  const { description, category, tool, keyword, step, optionalStep, mode } = flags
  const triggers = {
    ...objectOf(before['triggers']),
    ...(category === undefined ? {} : { category }),
    ...(tool.length === 0 ? {} : { tools: tool }),
    ...(keyword.length === 0 ? {} : { keywords: keyword }),
  }
  const given = [
    ...step.map((text) => ({ ...readStep('--step', text), required: true })),
    ...optionalStep.map((text) => ({
      ...readStep('--optional-step', text),
      required: false,
    })),
  ].map((item, index) => ({ step: index + 1, ...item }))
  const prerequisites = given.length > 0 ? given : (before['prerequisites'] ?? [])
  const after: JsonObject = {
    ...before,
    ...(description === undefined ? {} : { description }),
    triggers,
    prerequisites,
    ...(mode === undefined ? {} : { mode: readMode(mode) }),
  }
  return flags.param.reduce(withParam, after)
}

function refuseEmpty({ description, category, tool, keyword }: WorkflowFlags): void {
  const texts = Object.entries({ description, category, tool, keyword })
  const [empty] =
    texts.find(([, value]) => [value].flat().some((text) => text?.trim() === '')) ?? []
  if (empty === undefined) return
  throw wrongUse(`--${empty} is empty`, `Omit the option, or give it a value.`)
}

function readStep(option: string, text: string): { tool: string; description: string } {
  const [, tool, rest = ''] = /^([^\s:]+)\s*:(.*)$/s.exec(text.trim()) ?? []
  const description = rest.trim()
  if (tool !== undefined && description !== '') return { tool, description }
  throw wrongUse(
    `${option} ${JSON.stringify(text)} is not "TOOL: why"`,
    `Example: ${option} "list_tables: know the tables"`,
  )
}

function readMode(text: string): WorkflowMode {
  const mode = workflowModes.find((candidate) => candidate === text)
  if (mode !== undefined) return mode
  throw wrongUse(`--mode ${text} is not allowed`, `The modes are ${workflowModes.join(', ')}.`)
}

function withParam(definition: JsonObject, text: string): JsonObject {
  const [, step, name, value] = /^(\d+)\.([A-Za-z_][\w-]*)=(.*)$/s.exec(text) ?? []
  const { prerequisites } = definition
  const list = Array.isArray(prerequisites) ? [...prerequisites] : []
  const index = list.findIndex((item) => objectOf(item)['step'] === Number(step))
  if (name === undefined || value === undefined || index === -1) {
    throw wrongUse(
      `--param ${JSON.stringify(text)} is not STEP.NAME=VALUE with the number of a step`,
      "Example: --param '2.database=$call.database'",
    )
  }
  const before = objectOf(list[index])
  list[index] = { ...before, params: { ...objectOf(before['params']), [name]: readValue(value) } }
  return { ...definition, prerequisites: list }
}

function readValue(text: string): JsonObject[string] {
  try {
    const value: JsonObject[string] = JSON.parse(text)
    return value
  } catch {
    return text
  }
}

function objectOf(value: unknown): JsonObject {
  return isObject<JsonValue>(value) ? value : {}
}
