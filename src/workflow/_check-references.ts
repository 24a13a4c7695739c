import { type Diagnostic, nearest } from '../base/index.ts'
import { finding } from './_finding.ts'
import { textsOf } from './_json-values.ts'
import { parseReferences, type Reference } from './reference.ts'
import { stepOf } from './resolve-params.ts'
import { foldParameter, resolveTool } from './tool-names.ts'
import type { Prerequisite, WorkflowDefinition, WorkflowTool } from './model.ts'

/** References that lead nowhere, and parameters that the tool does not have. */
export function checkReferences(
  workflow: WorkflowDefinition,
  installed: readonly WorkflowTool[] | undefined,
): Diagnostic[] {
  return workflow.prerequisites.flatMap((step) => [
    ...textsOf(step.params ?? {}).flatMap((text) => checkText(workflow, step, text)),
    ...checkParameters(workflow, step, installed),
  ])
}

function checkText(workflow: WorkflowDefinition, step: Prerequisite, text: string): Diagnostic[] {
  const chain = parseReferences(text)
  if (chain === undefined) {
    if (!/\$(?:call|steps|sql)[.[]/.test(text)) return []
    const message = `step ${step.step}: ${JSON.stringify(text)} is passed as it stands; a reference is the whole text`
    return [finding(workflow, 'workflow-reference-inside', 'warning', message)]
  }
  return chain.references.flatMap((reference) => {
    const problem = problemOf(workflow, step, reference)
    if (problem === undefined) return []
    const message = `step ${step.step}: ${reference.text} ${problem}`
    return [finding(workflow, 'workflow-reference-unknown', 'error', message)]
  })
}

function problemOf(
  { prerequisites }: WorkflowDefinition,
  { step }: Prerequisite,
  reference: Reference,
): string | undefined {
  const { root, path } = reference
  if (root.kind === 'sql') {
    const isKnown = ['table', 'tables', 'database'].includes(String(path[0]))
    return isKnown ? undefined : 'must be $sql.table, $sql.tables or $sql.database'
  }
  if (root.kind === 'call') {
    return path.length > 0 ? undefined : 'must name a parameter, such as $call.database'
  }
  const target = stepOf(reference, prerequisites)
  if (target === undefined) return 'is the output_as of no step'
  if (!prerequisites.some((other) => other.step === target)) return 'is the result of no step'
  return target < step ? undefined : 'is the result of a step that comes later'
}

function checkParameters(
  workflow: WorkflowDefinition,
  step: Prerequisite,
  installed: readonly WorkflowTool[] | undefined,
): Diagnostic[] {
  const resolved = resolveTool(step.tool, workflow.triggers.category, installed ?? [], undefined)
  const known = resolved?.tool.parameters
  if (resolved === undefined || known === undefined) return []
  const has = (name: string, names: readonly string[]): boolean =>
    names.some((candidate) => foldParameter(candidate) === foldParameter(name))
  const given = Object.keys({ ...step.params, ...resolved.params })
  const lacking = (resolved.tool.required ?? []).filter((name) => !has(name, given))
  const left = known.filter((name) => !has(name, given))
  const misspelt = Object.keys(step.params ?? {}).flatMap((name) => {
    const meant = has(name, known) ? undefined : nearest(name, left)
    if (meant === undefined) return []
    const message = `step ${step.step}: ${resolved.tool.id} has no parameter ${name}, so it is not passed`
    const hint = `Did you mean ${meant}?`
    return [finding(workflow, 'workflow-parameter-unknown', 'warning', message, hint)]
  })
  const missing = lacking.map((name) => {
    const message = `step ${step.step}: ${resolved.tool.id} needs ${name}, and the step has no such parameter`
    const hint = `Add "${name}": "$call.${name}" to its params.`
    return finding(workflow, 'workflow-parameter-missing', 'warning', message, hint)
  })
  return [...misspelt, ...missing]
}
