import { compareDiagnostics, type Diagnostic } from '#core/errors'
import { didYouMean, nearest } from '#core/text'
import { parseReferences, type Reference, stepOf, textsOf } from './references.ts'
import { callsTool, foldParameter, lastSegment, ownStep, resolveTool } from './match.ts'
import type { Prerequisite, WorkflowDefinition, WorkflowTool } from './model.ts'

/** Dangling references, cycles, missing triggers and, with `installed`, unknown tools. */
export function checkWorkflows(
  workflows: readonly WorkflowDefinition[],
  installed?: readonly WorkflowTool[],
): Diagnostic[] {
  const found = workflows.flatMap((workflow) => [
    checkForm(workflow),
    checkReferences(workflow, installed ?? []),
    installed ? checkTools(workflow, installed) : [],
  ])
  const cycles = findCycles(workflows.filter(({ enabled }) => enabled))
  return [...found, cycles].flat().toSorted(compareDiagnostics)
}

function checkForm(workflow: WorkflowDefinition): Diagnostic[] {
  const { server, category, tools = [], changes = false, keywords = [] } = workflow.triggers
  const isReachable = changes || (server ?? category) !== undefined
  const hint = 'Give a server, a category, tools or keywords.'
  return [
    workflow.prerequisites.length > 0
      ? []
      : finding(workflow, 'workflow-no-steps', 'warning', 'it has no prerequisites'),
    isReachable || tools.length + keywords.length > 0
      ? []
      : finding(workflow, 'workflow-unreachable', 'warning', 'nothing triggers it', hint),
  ].flat()
}

function checkTools(workflow: WorkflowDefinition, installed: readonly WorkflowTool[]) {
  const { server, category, tools = [], changes = false } = workflow.triggers
  const has = (tool: string) => resolveTool(tool, workflow, installed, undefined) !== undefined
  const missing = workflow.prerequisites.filter(({ tool }) => !has(tool))
  const names = installed.flatMap(({ id, name }) => [name, id])
  const unknown = missing.map(({ step, tool, required }) => {
    const consequence = required ? 'the workflow is not enforced' : 'the step is left out'
    const message = `step ${step}: no server here has ${tool}, so ${consequence}`
    const otherName = 'If a server has it under another name, add that name to "aliases".'
    const meant = didYouMean(tool, names) || otherName
    const hint = `${meant} skillrail tools refresh looks for new tools.`
    return finding(workflow, 'workflow-tool-unknown', required ? 'warning' : 'info', message, hint)
  })
  const isReached =
    changes ||
    (server !== undefined && installed.some((tool) => tool.server === server)) ||
    tools.some(has) ||
    installed.some((tool) => category !== undefined && tool.category === category) ||
    (category === undefined && (workflow.triggers.keywords ?? []).length > 0)
  if (isReached || (category === undefined && tools.length === 0)) return unknown
  const message = 'no server here has a tool of its triggers'
  return [...unknown, finding(workflow, 'workflow-unreachable', 'warning', message)]
}

function finding(
  { name, path, line }: WorkflowDefinition,
  code: string,
  severity: Diagnostic['severity'],
  message: string,
  hint?: string,
): Diagnostic {
  return { code, severity, message: `workflow '${name}': ${message}`, path, line, hint }
}

function checkReferences(workflow: WorkflowDefinition, installed: readonly WorkflowTool[]) {
  return workflow.prerequisites.flatMap((step) => [
    ...textsOf(step.params ?? {}).flatMap((text) => checkText(workflow, step, text)),
    ...checkParameters(workflow, step, installed),
  ])
}

function checkText(workflow: WorkflowDefinition, step: Prerequisite, text: string): Diagnostic[] {
  const chain = parseReferences(text)
  if (!chain) {
    if (!/\$(?:call|steps|sql)[.[]/.test(text)) return []
    const message = `step ${step.step}: ${JSON.stringify(text)} is passed as it stands; a reference is the whole text`
    return [finding(workflow, 'workflow-reference-inside', 'warning', message)]
  }
  return chain.references.flatMap((reference) => {
    const problem = problemOf(workflow, step, reference)
    if (!problem) return []
    const message = `step ${step.step}: ${reference.text} ${problem}`
    return [finding(workflow, 'workflow-reference-unknown', 'error', message)]
  })
}

function problemOf(
  { prerequisites }: WorkflowDefinition,
  { step }: Prerequisite,
  reference: Reference,
) {
  const { root, path } = reference
  if (root === 'sql') {
    const isKnown = ['table', 'tables', 'database'].includes(String(path[0]))
    return isKnown ? undefined : 'must be $sql.table, $sql.tables or $sql.database'
  }
  if (root === 'call') {
    return path.length > 0 ? undefined : 'must name a parameter, such as $call.database'
  }
  const target = stepOf(reference, prerequisites)
  if (target === undefined) return 'is the output_as of no step'
  if (!prerequisites.some((other) => other.step === target)) return 'is the result of no step'
  return target < step ? undefined : 'is the result of a step that comes later'
}

function checkParameters(
  workflow: WorkflowDefinition,
  { step, tool: name, params = {} }: Prerequisite,
  installed: readonly WorkflowTool[],
): Diagnostic[] {
  const resolved = resolveTool(name, workflow, installed, undefined)
  const { parameters = [], required = [], id } = resolved?.tool ?? {}
  if (!resolved || parameters.length === 0) return []
  const given = Object.keys({ ...params, ...resolved.params })
  const has = (parameter: string, names: readonly string[]) =>
    names.some((candidate) => foldParameter(candidate) === foldParameter(parameter))
  const left = parameters.filter((parameter) => !has(parameter, given))
  const misspelt = Object.keys(params).flatMap((parameter) => {
    const meant = has(parameter, parameters) ? undefined : nearest(parameter, left)
    if (meant === undefined) return []
    const message = `step ${step}: ${id} has no parameter ${parameter}, so it is not passed`
    const hint = `Did you mean ${meant}?`
    return [finding(workflow, 'workflow-parameter-unknown', 'warning', message, hint)]
  })
  const missing = required.filter((parameter) => !has(parameter, given))
  return [
    ...misspelt,
    ...missing.map((parameter) => {
      const message = `step ${step}: ${id} needs ${parameter}, and the step has no such parameter`
      const hint = `Add "${parameter}": "$call.${parameter}" to its params.`
      return finding(workflow, 'workflow-parameter-missing', 'warning', message, hint)
    }),
  ]
}

/** Workflows that are compared with each other, and cycles that are reported. */
const maxCompared = 500
const maxCycles = 100

/**
 * Workflows that trigger each other through their prerequisites. The gate never loops, since a
 * prerequisite is not gated again, but such workflows cannot work as meant. Each cycle is reported
 * once.
 */
function findCycles(workflows: readonly WorkflowDefinition[]): Diagnostic[] {
  const compared = workflows.slice(0, maxCompared)
  const finished = new Set<WorkflowDefinition>()
  const found: Diagnostic[] = []
  const visit = (workflow: WorkflowDefinition, path: readonly WorkflowDefinition[]): void => {
    const start = path.indexOf(workflow)
    if (start !== -1 && found.length < maxCycles) {
      const names = [...path.slice(start), workflow].map(({ name }) => name).join(' → ')
      const hint = 'Take a prerequisite out of one of them.'
      const message = `it is part of a cycle: ${names}`
      found.push(finding(workflow, 'workflow-cycle', 'error', message, hint))
    }
    if (start !== -1 || finished.has(workflow)) return
    const next = compared.filter((other) => wouldTrigger(workflow, other))
    for (const other of next) visit(other, [...path, workflow])
    finished.add(workflow)
  }
  for (const workflow of compared) visit(workflow, [])
  return found
}

/** Whether a prerequisite would trigger the other workflow, were it an ordinary call. */
function wouldTrigger(workflow: WorkflowDefinition, other: WorkflowDefinition) {
  const { tools = [] } = other.triggers
  return workflow.prerequisites.some(({ tool }) => {
    const call = { tool: { id: tool, server: '', name: lastSegment(tool) }, params: {} }
    const isOwn = other !== workflow && ownStep(call, other) !== undefined
    return !isOwn && tools.some((name) => callsTool(call, name, other))
  })
}
