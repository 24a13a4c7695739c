import { compareDiagnostics, type Diagnostic, nearest } from '../base/index.ts'
import { findCycles } from './_check-cycles.ts'
import { checkReferences } from './_check-references.ts'
import { finding } from './_finding.ts'
import { isOfAnotherCategory, matchWorkflows } from './match.ts'
import { resolveTool } from './tool-names.ts'
import type { Prerequisite, WorkflowDefinition, WorkflowTool } from './model.ts'

/**
 * What is wrong with workflows that can be read: steps that are numbered wrongly, references that
 * lead nowhere, workflows that trigger each other, that never trigger, that stand before one tool
 * together, and tools that no server has. Without `installed` nothing is said about tools.
 */
export function checkWorkflows(
  workflows: readonly WorkflowDefinition[],
  installed?: readonly WorkflowTool[],
): Diagnostic[] {
  const found = [
    ...workflows.flatMap(checkSteps),
    ...workflows.flatMap((workflow) => checkReferences(workflow, installed)),
    ...workflows.flatMap(checkTriggers),
    ...findCycles(workflows.filter(({ enabled }) => enabled)),
    ...(installed === undefined
      ? []
      : [
          ...workflows.flatMap((workflow) => checkTools(workflow, installed)),
          ...checkConflicts(workflows, installed),
        ]),
  ]
  return found.toSorted(compareDiagnostics)
}

function checkSteps(workflow: WorkflowDefinition): Diagnostic[] {
  const numbers = workflow.prerequisites.map(({ step }) => step)
  if (numbers.length === 0) {
    return [finding(workflow, 'workflow-no-steps', 'warning', 'it has no prerequisites')]
  }
  const twice = numbers.find((number, index) => numbers.indexOf(number) !== index)
  if (twice !== undefined) {
    const message = `step ${twice} is there twice; they run in the order of the file`
    return [finding(workflow, 'workflow-step-repeated', 'warning', message)]
  }
  const gap = numbers.findIndex((number, index) => number !== index + 1)
  if (gap === -1) return []
  const message = `step ${gap + 1} is missing; the next one is ${numbers[gap]}`
  return [finding(workflow, 'workflow-step-gap', 'warning', message, 'Number the steps from 1.')]
}

function checkTriggers(workflow: WorkflowDefinition): Diagnostic[] {
  const { category, tools = [], keywords = [] } = workflow.triggers
  if (category === undefined && tools.length === 0 && keywords.length === 0) {
    const hint = 'Give a category, tools or keywords.'
    return [finding(workflow, 'workflow-unreachable', 'warning', 'nothing triggers it', hint)]
  }
  const silent = keywords.filter((keyword) => !/[\p{L}\p{N}]/u.test(keyword))
  return silent.map((keyword) => {
    const message = `the keyword ${JSON.stringify(keyword)} has no letter or digit and matches nothing`
    return finding(workflow, 'workflow-keyword-silent', 'warning', message)
  })
}

function checkTools(
  workflow: WorkflowDefinition,
  installed: readonly WorkflowTool[],
): Diagnostic[] {
  const { category, tools = [] } = workflow.triggers
  const has = (tool: string): boolean =>
    resolveTool(tool, category, installed, undefined) !== undefined
  const missing = workflow.prerequisites.filter(({ tool }) => !has(tool))
  const unknown = missing.map((step) => unknownTool(workflow, step, installed))
  const isReached =
    tools.some(has) ||
    installed.some((tool) => category !== undefined && tool.category === category) ||
    (category === undefined && (workflow.triggers.keywords ?? []).length > 0)
  if (isReached || (category === undefined && tools.length === 0)) return unknown
  const message = 'no server here has a tool of its triggers'
  return [...unknown, finding(workflow, 'workflow-unreachable', 'warning', message)]
}

function unknownTool(
  workflow: WorkflowDefinition,
  { step, tool, required }: Prerequisite,
  installed: readonly WorkflowTool[],
): Diagnostic {
  const consequence = required ? 'the workflow is not enforced' : 'the step is left out'
  const message = `step ${step}: no server here has ${tool}, so ${consequence}`
  const names = installed.flatMap(({ id, name }) => [name, id])
  const meant = nearest(tool, names)
  const known = meant === undefined ? '' : `Did you mean ${meant}? `
  const hint = `${known}skillrail tools refresh looks for new tools.`
  return finding(workflow, 'workflow-tool-unknown', required ? 'warning' : 'info', message, hint)
}

/** Two enabled workflows that could stand before one tool: only the first is used. */
function checkConflicts(
  workflows: readonly WorkflowDefinition[],
  installed: readonly WorkflowTool[],
): Diagnostic[] {
  const conflicts = new Map<string, { first: string; other: WorkflowDefinition; tools: string[] }>()
  for (const tool of installed) {
    const call = { tool, params: {} }
    const { matched, also } = matchWorkflows(call, workflows, installed)
    for (const name of also) {
      const other = workflows.find((workflow) => workflow.name === name)
      if (matched === undefined || other === undefined) continue
      if (isOfAnotherCategory(call, other) && !isOfAnotherCategory(call, matched)) continue
      const key = JSON.stringify([matched.name, name])
      const known = conflicts.get(key) ?? { first: matched.name, other, tools: [] }
      known.tools.push(tool.id)
      conflicts.set(key, known)
    }
  }
  return [...conflicts.values()].map(({ first, other, tools }) => {
    const shown = tools.slice(0, 3).join(', ')
    const more = tools.length > 3 ? ` and ${tools.length - 3} more` : ''
    const message = `'${first}' matches ${shown}${more} too and is used, being defined first`
    const hint = `Put it before '${first}' in the file, or take the shared trigger out of one of them.`
    return finding(other, 'workflow-conflict', 'warning', message, hint)
  })
}
