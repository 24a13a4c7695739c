import { sha256 } from '#core/json'
import { isChain, type PlannedChain, type PlannedStep } from './plan-model.ts'

/** How a step is executed, independent of what executes instructions on this machine. */
export type DeclaredKind = 'script' | 'instructions' | 'chain' | 'missing'

export function declaredKind({ executor }: PlannedStep): DeclaredKind {
  if (executor === 'script' || executor === 'chain' || executor === 'missing') return executor
  return 'instructions'
}

/**
 * Returns the digest of what the files of a chain declare: steps in their order, options, policies, and the
 * digests of the skills. Unlike the digest of a plan, it does not depend on trust, sandbox, client and model.
 */
export function declaredDigest(root: PlannedChain): string {
  return sha256(JSON.stringify(declarationOf(root)))
}

/** Includes everything of a step except what a machine or a command adds. */
function declarationOf(step: PlannedStep): unknown {
  const members = Object.entries(step).filter(
    ([name, value]) => value !== undefined && !ofTheMachine.has(name),
  )
  const sortedMembers = members.toSorted(([one], [other]) => (one < other ? -1 : 1))
  const fields = sortedMembers.map(([name, value]) => [
    name,
    name === 'policy' ? pairsOf(value) : value,
  ])
  const steps = isChain(step) ? step.steps.map((inner) => declarationOf(inner)) : []
  return [declaredKind(step), fields, steps]
}

const ofTheMachine: ReadonlySet<string> = new Set([
  'executor',
  'steps',
  'trust',
  'sandboxed',
  'tokens',
  'client',
  'model',
  'notHonoured',
  'excluded',
])

/** The members of a policy in one order, which the place of a `--set` would change. */
function pairsOf(value: unknown): unknown {
  return Object.entries(Object(value)).toSorted(([one], [other]) => (one < other ? -1 : 1))
}
