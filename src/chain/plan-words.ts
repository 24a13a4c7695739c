import { defaultChainPolicy, policyKeys, type ChainPolicy } from '../skill/index.ts'
import { isChain, type PlannedStep } from './plan-model.ts'

/** The step below its chain. */
export function stepLabel({ step }: PlannedStep): string {
  return step.slice(step.lastIndexOf('/') + 1)
}

/** Enough of a digest to see whether it changed. */
export function shortDigest(digest: string): string {
  return digest.slice('sha256:'.length, 15)
}

/** What is special about the execution of a step, and the policy of a chain. */
export function executionWords(step: PlannedStep): string[] {
  return [
    ...(step.gate === true ? ['gate'] : []),
    ...(step.verify === undefined ? [] : ['verified']),
    ...(step.sandboxed === true ? ['sandbox'] : []),
    ...(step.excluded === true ? ['left out'] : []),
    ...(isChain(step) ? policyWords(step.policy) : withoutWords(step.notHonoured ?? [])),
  ]
}

/** Only what differs from the defaults, in the spelling of the metadata. */
export function policyWords(policy: ChainPolicy): string[] {
  const spelled: Record<string, unknown> = { ...policy }
  const defaults: Record<string, unknown> = { ...defaultChainPolicy }
  return Object.entries(policyKeys).flatMap(([key, name]) =>
    spelled[key] === defaults[key] ? [] : [`${name}=${String(spelled[key])}`],
  )
}

/** What the executor cannot do for the skill. */
function withoutWords(requests: readonly string[]): string[] {
  return requests.length === 0 ? [] : [`without ${requests.join(' and ')}`]
}
