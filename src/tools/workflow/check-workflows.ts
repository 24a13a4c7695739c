import { compareDiagnostics, type Diagnostic } from '#core/errors'
import { didYouMean, nearest } from '#core/text'
import { parseReferences, type Reference, stepOf, textsOf } from './references.ts'
import { callsTool, foldParameter, lastSegment, ownStep, resolveTool } from './match.ts'
import type { Prerequisite, WorkflowDefinition, WorkflowTool } from './model.ts'

/** Finds dangling references, cycles, missing triggers and, with `installedTools`, unknown tools. */
export function checkWorkflows(
  workflows: readonly WorkflowDefinition[],
  installedTools?: readonly WorkflowTool[],
): Diagnostic[] {
  const diagnostics = workflows.flatMap((workflow) => [
    checkForm(workflow),
    checkReferences(workflow, installedTools ?? []),
    installedTools ? checkTools(workflow, installedTools) : [],
  ])
  const cycles = findCycles(workflows.filter(({ enabled }) => enabled))
  return [...diagnostics, cycles].flat().toSorted(compareDiagnostics)
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

function checkTools(workflow: WorkflowDefinition, installedTools: readonly WorkflowTool[]) {
  const { server, category, tools = [], changes = false } = workflow.triggers
  const has = (tool: string) => resolveTool(tool, workflow, installedTools, undefined) !== undefined
  const missing = workflow.prerequisites.filter(({ tool }) => !has(tool))
  const names = installedTools.flatMap(({ id, name }) => [name, id])
  const unknownTools = missing.map(({ step, tool, required }) => {
    const consequence = required ? 'the workflow is not enforced' : 'the step is left out'
    const message = `step ${step}: no server here has ${tool}, so ${consequence}`
    const otherName = 'If a server has it under another name, add that name to "aliases".'
    const suggestion = didYouMean(tool, names) || otherName
    const hint = `${suggestion} skillrail tools refresh looks for new tools.`
    return finding(workflow, 'workflow-tool-unknown', required ? 'warning' : 'info', message, hint)
  })
  const isReached =
    changes ||
    (server !== undefined && installedTools.some((tool) => tool.server === server)) ||
    tools.some(has) ||
    installedTools.some((tool) => category !== undefined && tool.category === category) ||
    (category === undefined && (workflow.triggers.keywords ?? []).length > 0)
  if (isReached || (category === undefined && tools.length === 0)) return unknownTools
  const message = 'no server here has a tool of its triggers'
  return [...unknownTools, finding(workflow, 'workflow-unreachable', 'warning', message)]
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

function checkReferences(workflow: WorkflowDefinition, installedTools: readonly WorkflowTool[]) {
  return workflow.prerequisites.flatMap((step) => [
    ...textsOf(step.params ?? {}).flatMap((text) => checkText(workflow, step, text)),
    ...checkParameters(workflow, step, installedTools),
  ])
}

function checkText(workflow: WorkflowDefinition, step: Prerequisite, text: string): Diagnostic[] {
  const chain = parseReferences(text)
  if (!chain) {
    if (!/\$(?:call|steps|sql)[.[]/.test(text)) return []
    const message = `step ${step.step}: ${JSON.stringify(text)} is passed unchanged; a reference must be the whole text`
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
  installedTools: readonly WorkflowTool[],
): Diagnostic[] {
  const resolution = resolveTool(name, workflow, installedTools, undefined)
  const { parameters = [], required = [], id } = resolution?.tool ?? {}
  if (!resolution || parameters.length === 0) return []
  const passedNames = Object.keys({ ...params, ...resolution.params })
  const has = (parameter: string, names: readonly string[]) =>
    names.some((candidate) => foldParameter(candidate) === foldParameter(parameter))
  const unusedParameters = parameters.filter((parameter) => !has(parameter, passedNames))
  const misspelt = Object.keys(params).flatMap((parameter) => {
    const suggestion = has(parameter, parameters) ? undefined : nearest(parameter, unusedParameters)
    if (suggestion === undefined) return []
    const message = `step ${step}: ${id} has no parameter ${parameter}, so it is not passed`
    const hint = `Did you mean ${suggestion}?`
    return [finding(workflow, 'workflow-parameter-unknown', 'warning', message, hint)]
  })
  const missing = required.filter((parameter) => !has(parameter, passedNames))
  return [
    ...misspelt,
    ...missing.map((parameter) => {
      const message = `step ${step}: ${id} needs ${parameter}, and the step has no such parameter`
      const hint = `Add "${parameter}": "$call.${parameter}" to its params.`
      return finding(workflow, 'workflow-parameter-missing', 'warning', message, hint)
    }),
  ]
}

/** Limits of the search for cycles: workflows that are compared, and cycles that are reported. */
const maxCompared = 500
const maxCycles = 100

/**
 * Finds workflows that trigger each other through their prerequisites. The gate never loops, because it
 * does not apply to prerequisites, but such workflows cannot work as intended. Each cycle is reported once.
 */
function findCycles(workflows: readonly WorkflowDefinition[]): Diagnostic[] {
  const candidates = workflows.slice(0, maxCompared)
  const visited = new Set<WorkflowDefinition>()
  const diagnostics: Diagnostic[] = []
  const visit = (workflow: WorkflowDefinition, path: readonly WorkflowDefinition[]): void => {
    const start = path.indexOf(workflow)
    if (start !== -1 && diagnostics.length < maxCycles) {
      const names = [...path.slice(start), workflow].map(({ name }) => name).join(' → ')
      const hint = 'Take a prerequisite out of one of them.'
      const message = `it is part of a cycle: ${names}`
      diagnostics.push(finding(workflow, 'workflow-cycle', 'error', message, hint))
    }
    if (start !== -1 || visited.has(workflow)) return
    const next = candidates.filter((other) => wouldTrigger(workflow, other))
    for (const other of next) visit(other, [...path, workflow])
    visited.add(workflow)
  }
  for (const workflow of candidates) visit(workflow, [])
  return diagnostics
}

/** Whether a prerequisite would trigger the other workflow if it were an ordinary call. */
function wouldTrigger(workflow: WorkflowDefinition, other: WorkflowDefinition) {
  const { tools = [] } = other.triggers
  return workflow.prerequisites.some(({ tool }) => {
    const call = { tool: { id: tool, server: '', name: lastSegment(tool) }, params: {} }
    const isOwnStep = other !== workflow && ownStep(call, other) !== undefined
    return !isOwnStep && tools.some((name) => callsTool(call, name, other))
  })
}
