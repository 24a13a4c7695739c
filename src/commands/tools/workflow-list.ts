import { defineCommand, type Notes, option, type Screen } from '#core/command'
import { codeOfErrors, type Diagnostic, hasErrors, UsageError, wrongUse } from '#core/errors'
import { amount, linesText, safeLine } from '#core/text'
import { isObject, parseJson, type JsonValue } from '#core/json'
import { loadToolIndex } from '#tools/cache/tool-index'
import { unknownParameters } from '#tools/call/check-parameters'
import { namedTool } from '#tools/call/find-tool'
import type { ToolDefinition } from '#tools/model'
import { checkWorkflows } from '#tools/workflow/check-workflows'
import { type MatchReason, multipleLine, notInstalledLine } from '#tools/workflow/match'
import type { JsonObject, WorkflowDefinition, WorkflowMode } from '#tools/workflow/model'
import { type GatePlan, planGate, type PlannedStep, type WorkflowPlan } from '#tools/workflow/plan'
import { findAmongServers, type ProjectContext, type ToolContext } from '#tools/project-tools'
import {
  listWorkflows,
  openWorkflows,
  sessionOf,
  untrustedWorkflows,
  type WorkflowListing,
} from '#tools/workflow/project-workflows'

export const list = defineCommand<WorkflowListing>()({
  options: {},
  examples: ['tools workflow list'],
  run: async (context) => listWorkflows(context),
  exitCode: codeOfErrors,
  render({ workflows, diagnostics }) {
    if (workflows.length === 0) {
      const none = 'No workflows defined. Use `skillrail tools workflow add` to create one.\n'
      return hasErrors(diagnostics) ? '' : none
    }
    return workflows.map((one) => linesText(listLines(one).map(safeLine))).join('\n')
  },
  notes: ({ diagnostics }) => diagnostics,
})

export function listLines(workflow: WorkflowDefinition): string[] {
  const { name, enabled, mode, description, triggers, prerequisites } = workflow
  return [
    enabled ? `✓ ${name} [${mode}]` : `○ ${name} [disabled]`,
    `  ${description}`,
    `  Triggers: ${triggerText(triggers)}`,
    `  Prerequisites: ${amount(prerequisites.length, 'step')}`,
  ]
}

function triggerText(triggers: WorkflowDefinition['triggers']) {
  const { server, category, tools, changes, keywords } = triggers
  const parts = [
    server === undefined ? [] : `server=${server}`,
    category === undefined ? [] : `category=${category}`,
    tools ? `tools=[${tools.join(', ')}]` : [],
    changes === true ? 'changes' : [],
    keywords ? `keywords=[${keywords.join(', ')}]` : [],
  ]
  return parts.flat().join(', ') || 'none'
}

interface CheckResult {
  /** How many workflows were checked. */
  checked: number
  toolsKnown: boolean
  message: string | undefined
  diagnostics: readonly Diagnostic[]
}

export const check = defineCommand<CheckResult>()({
  options: {},
  examples: ['tools workflow check --json'],
  run: async (context) => checkProject(context),
  exitCode: codeOfErrors,
  render({ checked, diagnostics }) {
    const problems = diagnostics.filter(({ severity }) => severity !== 'info').length
    const verdict = problems === 0 ? 'nothing wrong' : amount(problems, 'finding')
    return `${amount(checked, 'workflow')}, ${verdict}\n`
  },
  notes: ({ diagnostics, message }) => [diagnostics, message],
})

function checkProject(context: ProjectContext): CheckResult {
  const found = openWorkflows(context)
  const { project, workflows, diagnostics: read } = found
  const { index, message } = loadToolIndex({ project, runtime: context.runtime })
  const untrusted = untrustedWorkflows(context, found)
  return {
    checked: workflows.length,
    toolsKnown: index !== undefined,
    message,
    diagnostics: [...read, ...checkWorkflows(workflows, index?.tools), ...untrusted],
  }
}

/** A workflow that guards the call, with its steps. */
interface Guard {
  workflow: string | undefined
  mode: WorkflowMode | undefined
  why: MatchReason | undefined
  steps: readonly PlannedStep[]
}

interface PlanResult extends Guard, Pick<GatePlan, 'also' | 'notInstalled' | 'keywordOnly'> {
  tool: string
  open: number
  others: readonly Guard[]
  notes: readonly string[]
  diagnostics: readonly Diagnostic[]
}

export const plan = defineCommand<PlanResult>()({
  arguments: {
    '<tool>': 'SERVER__TOOL, or a name that only one server has',
    '[params]': 'its parameters as a JSON object (default: "{}")',
  },
  options: {
    request: option.text('--request <text>', 'the request of the user, for keyword triggers'),
    session: option.text('--session <id>', 'the session to use'),
  },
  examples: [
    'tools workflow plan execute_query \'{"database": "shop", "query": "SELECT * FROM users"}\'',
  ],
  run: (context, { arguments: [name = '', text = '{}'], request, session }) =>
    planCall(context, name, readParams(text), { request, session }),
  render: planText,
  notes: planNotes,
})

async function planCall(
  context: ToolContext,
  name: string,
  params: JsonObject,
  { request, session }: Record<'request' | 'session', string | undefined>,
): Promise<PlanResult> {
  const opened = openWorkflows(context)
  const { project, workflows, diagnostics } = opened
  const { index, message } = loadToolIndex({ project, runtime: context.runtime })
  const tools = index?.tools ?? []
  if (!index && message !== undefined) context.note(message)
  const { tool, note } = await findAmongServers(context, () => namedTool(name, tools))
  const ownNotes = notesOn(index?.definition(tool.id), params)
  const { state, diagnostics: damaged } = await sessionOf(context, project, session).read()
  const planned = planGate({ tool, params, request }, workflows, state, tools)
  const { others, also, notInstalled, keywordOnly, ...first } = planned
  const acting = [first, ...others].flatMap(({ open, workflow }) =>
    open === 0 || !workflow ? [] : [workflow],
  )
  return {
    tool: tool.id,
    ...guardOf(first),
    open: first.open,
    others: others.map(guardOf),
    also,
    notInstalled,
    keywordOnly,
    notes: note === undefined ? ownNotes : [note, ...ownNotes],
    diagnostics: [...diagnostics, ...damaged, ...untrustedWorkflows(context, opened, acting)],
  }
}

function guardOf({ workflow, why, steps }: WorkflowPlan): Guard {
  return { workflow: workflow?.name, mode: workflow?.mode, why, steps }
}

function planText({ tool, others, ...first }: PlanResult, screen: Screen) {
  if (first.workflow === undefined) return `Nothing comes before ${safeLine(tool)}.\n`
  return [first, ...others].map((guard) => guardText(guard, screen)).join('')
}

function guardText({ workflow = '', mode, why, steps }: Guard, screen: Screen) {
  const reason = why ? ` (${why.by} ${why.value})` : ''
  const rows = steps.map((step) => [
    `  ${step.step}. ${safeLine(step.tool)}`,
    step.status,
    detail(step),
  ])
  return `${safeLine(`Workflow '${workflow}' [${mode ?? ''}]${reason}`)}\n${screen.table(rows)}`
}

function planNotes(result: PlanResult): Notes {
  const { diagnostics, notes, notInstalled, keywordOnly, others, also } = result
  const used = [result, ...others].flatMap(({ workflow }) => workflow ?? [])
  return [
    diagnostics,
    notes,
    notInstalled.map(notInstalledLine),
    keywordOnly.map(
      ({ workflow: name, keyword }) =>
        `Workflow '${name}' has the keyword '${keyword}', but not this tool's category`,
    ),
    also.length > 0 && multipleLine(used, also),
  ]
}

function detail({ status, id = '', params, reason, at }: PlannedStep) {
  if (status === 'valid') return `since ${at ?? ''}`
  const call = safeLine(`${id} ${JSON.stringify(params)}`)
  if (status === 'run') return reason === undefined ? call : `${call}, since ${safeLine(reason)}`
  return safeLine(reason ?? '')
}

function notesOn(definition: ToolDefinition | undefined, params: JsonObject): string[] {
  if (!definition) return []
  const forbidden = unknownParameters(definition, params, true)
  if (forbidden.length === 0) return unknownParameters(definition, params)
  throw new UsageError({ code: 'invalid-parameters', message: forbidden.join('\n') })
}

function readParams(text: string): JsonObject {
  const value = parseJson(text)
  if (isObject<JsonValue>(value)) return value
  throw wrongUse('the parameters must be a JSON object', 'Example: \'{"database": "shop"}\'')
}
