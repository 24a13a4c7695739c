import fc from 'fast-check'
import { defaultChainPolicy } from '../../src/skill/declarations.ts'
import type { StepStatus } from '../../src/exec/output-protocol.ts'
import type { ChainPolicy } from '../../src/skill/model.ts'

export const status: fc.Arbitrary<StepStatus> = fc.constantFrom<StepStatus>(
  'success',
  'success',
  'failure',
  'critical',
)

/** Every combination that a plan allows. */
export const policies: fc.Arbitrary<ChainPolicy> = fc
  .record({
    async: fc.boolean(),
    continueOnError: fc.boolean(),
    parallelLimit: fc.integer({ min: 1, max: 6 }),
    earlyExitOn: fc.constantFrom('none', 'failure', 'success', 'critical'),
    continueOnSuccess: fc.boolean(),
    passState: fc.boolean(),
    retryCount: fc.integer({ min: 1, max: 4 }),
    retryUntil: fc.constantFrom('none', 'stable', 'success'),
    raceMode: fc.boolean(),
  })
  .map((policy) => ({ ...defaultChainPolicy, ...policy }))
  .filter(({ async, raceMode, continueOnSuccess }) => (async ? !continueOnSuccess : !raceMode))
