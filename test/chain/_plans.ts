import type { PlannedChain, PlannedStep, PlannedTask } from '../../src/chain/plan-model.ts'
import { defaultChainPolicy } from '../../src/skill/declarations.ts'
import type { ChainPolicy } from '../../src/skill/model.ts'

/** A planned step for tests of what a plan means. */
export function task(step: string, more: Partial<PlannedTask> = {}): PlannedTask {
  return {
    step,
    skill: step.slice(step.lastIndexOf('/') + 1).replace(/#\d+$/, ''),
    path: `${step}/SKILL.md`,
    trust: 'trusted',
    digest: `sha256:${step}`,
    tokens: 1,
    executor: 'script',
    ...more,
  }
}

export function chain(
  steps: readonly PlannedStep[],
  policy: Partial<ChainPolicy> = {},
  step = '',
): PlannedChain {
  return {
    step,
    skill: step === '' ? 'root' : step.slice(step.lastIndexOf('/') + 1),
    path: 'root/SKILL.md',
    trust: 'trusted',
    digest: 'sha256:root',
    tokens: 1,
    executor: 'chain',
    policy: { ...defaultChainPolicy, ...policy },
    steps,
  }
}
