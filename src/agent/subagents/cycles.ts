import { SubagentConfigError } from '../errors.ts'

/** What the search for circles needs to know of skills and subagents. */
export interface ReferenceGraph {
  /** The subagent that a skill forks to; undefined for one that does not, or is unknown. */
  agentOf: (skill: string) => string | undefined
  /** The skills that a subagent has from the start. */
  skillsOf: (agent: string) => readonly string[]
}

/** Where a search begins or has come to. */
export interface ReferenceNode {
  kind: 'skill' | 'agent'
  name: string
}

/**
 * A way from a skill or a subagent back to itself: a skill that forks to a subagent which has that
 * skill from the start. The first and the last name are the same; undefined where there is none.
 */
export function findCycle(
  graph: ReferenceGraph,
  start: ReferenceNode,
): readonly string[] | undefined {
  const path: string[] = []
  const seen = new Set<string>()
  return visit(start)

  function visit(node: ReferenceNode): readonly string[] | undefined {
    const label = `${node.kind}:${node.name}`
    const before = path.indexOf(label)
    if (before !== -1) return [...path.slice(before), label]
    if (seen.has(label)) return undefined
    seen.add(label)
    path.push(label)
    for (const next of nextOf(graph, node)) {
      const cycle = visit(next)
      if (cycle !== undefined) return cycle
    }
    path.pop()
    return undefined
  }
}

/** @throws {SubagentConfigError} that names the way. */
export function refuseCycle(graph: ReferenceGraph, start: ReferenceNode): void {
  const cycle = findCycle(graph, start)
  if (cycle === undefined) return
  throw new SubagentConfigError({
    code: 'subagent-cycle',
    message: `Skills and subagents refer to one another in a circle: ${cycle.join(' -> ')}.`,
    hint: 'Take the skill out of the `skills` of the subagent, or let the skill fork to another one.',
  })
}

function nextOf(graph: ReferenceGraph, { kind, name }: ReferenceNode): ReferenceNode[] {
  if (kind === 'agent') return graph.skillsOf(name).map((skill) => ({ kind: 'skill', name: skill }))
  const agent = graph.agentOf(name)
  return agent === undefined ? [] : [{ kind: 'agent', name: agent }]
}
