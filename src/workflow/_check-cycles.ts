import type { Diagnostic } from '../base/index.ts'
import { finding } from './_finding.ts'
import { foldName, lastSegment, namesFor } from './tool-names.ts'
import type { WorkflowDefinition } from './model.ts'

/** Where a file has more, mending these changes the others. */
const mostCycles = 100

/**
 * Workflows that trigger each other through their prerequisites: a step of A is a tool that triggers
 * B, and a step of B one that triggers A. The gate never loops, since a prerequisite is not gated
 * again; but neither of the two can be kept as it was meant. Each cycle is reported once,
 * a hundred at most.
 */
export function findCycles(workflows: readonly WorkflowDefinition[]): Diagnostic[] {
  const cycles: WorkflowDefinition[][] = []
  const finished = new Set<WorkflowDefinition>()
  const path: WorkflowDefinition[] = []
  const onPath = new Set<WorkflowDefinition>()
  const waiting: Iterator<WorkflowDefinition>[] = []
  const triggeredBy = prepareTriggers(workflows)
  for (const workflow of workflows) {
    if (cycles.length < mostCycles) visit(workflow)
  }
  return cycles.flatMap((cycle) => {
    const [first] = cycle
    if (first === undefined) return []
    const names = [...cycle, first].map(({ name }) => name).join(' → ')
    const message = `it is part of a cycle: ${names}`
    const hint = 'Take a prerequisite out of one of them.'
    return [finding(first, 'workflow-cycle', 'error', message, hint)]
  })

  /** A file can have ways that are longer than the stack is deep. */
  function visit(first: WorkflowDefinition): void {
    enter(first)
    while (waiting.length > 0) {
      const next = cycles.length < mostCycles ? waiting.at(-1)?.next().value : undefined
      if (next === undefined) leave()
      else enter(next)
    }
  }

  function enter(workflow: WorkflowDefinition): void {
    if (onPath.has(workflow)) cycles.push(path.slice(path.indexOf(workflow)))
    if (onPath.has(workflow) || finished.has(workflow)) return
    path.push(workflow)
    onPath.add(workflow)
    waiting.push(triggeredBy(workflow).values())
  }

  function leave(): void {
    waiting.pop()
    const workflow = path.pop()
    if (workflow === undefined) return
    onPath.delete(workflow)
    finished.add(workflow)
  }
}

/** Finds the workflows that a prerequisite would trigger, were it an ordinary call, in their order. */
function prepareTriggers(
  workflows: readonly WorkflowDefinition[],
): (workflow: WorkflowDefinition) => readonly WorkflowDefinition[] {
  const places = new Map(workflows.map((workflow, at) => [workflow, at]))
  const triggered = new Map<string, WorkflowDefinition[]>()
  const own = new Map<WorkflowDefinition, ReadonlySet<string>>()
  for (const workflow of workflows) {
    own.set(
      workflow,
      namesIn(
        workflow,
        workflow.prerequisites.map(({ tool }) => tool),
      ),
    )
    for (const name of namesIn(workflow, workflow.triggers.tools ?? [])) {
      const known = triggered.get(name)
      if (known === undefined) triggered.set(name, [workflow])
      else known.push(workflow)
    }
  }
  return (workflow) => {
    const found = new Set<WorkflowDefinition>()
    for (const { tool } of workflow.prerequisites) {
      const names = [foldName(tool), foldName(lastSegment(tool))]
      for (const other of names.flatMap((name) => triggered.get(name) ?? [])) {
        const isOwn = other !== workflow && names.some((name) => own.get(other)?.has(name))
        if (!isOwn) found.add(other)
      }
    }
    return [...found].toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
  }
}

/** What tools are called, as names are compared, and what stands for them without parameters. */
function namesIn({ triggers }: WorkflowDefinition, tools: readonly string[]): ReadonlySet<string> {
  const names = tools.flatMap((tool) => namesFor(tool, triggers.category))
  return new Set(
    names
      .filter(({ params }) => Object.keys(params ?? {}).length === 0)
      .map(({ name }) => foldName(name)),
  )
}
