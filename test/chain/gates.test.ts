import { expect, it } from 'vitest'
import { answerOfGate, stateDigest } from '../../src/chain/gates.ts'
import type { ApprovalRecord } from '../../src/chain/journal-records.ts'
import { addOutputs, emptyState } from '../../src/chain/state.ts'

const gate = { key: '1:deploy', planDigest: 'sha256:plan', stateDigest: stateDigest(emptyState) }
const answer = (change: Partial<ApprovalRecord>): string =>
  answerOfGate(gate, { type: 'approval', ...gate, approved: true, by: 'person', at: '', ...change })

it('opens by a yes, and is rejected by a no', () => {
  expect(answerOfGate(gate, undefined)).toBe('waiting')
  expect(answer({})).toBe('approved')
  expect(answer({ approved: false })).toBe('rejected')
})

it.each<[string, Partial<ApprovalRecord>]>([
  ['another attempt', { key: '2:deploy' }],
  ['another plan', { planDigest: 'sha256:other' }],
  [
    'other results',
    {
      stateDigest: stateDigest(
        addOutputs(emptyState, [
          { step: 'a', skill: 'a', status: 'success', result: '', errors: [], metrics: {} },
        ]),
      ),
    },
  ],
])('waits on where the decision was about %s', (_what, change) => {
  expect(answer(change)).toBe('waiting')
  expect(answer({ ...change, approved: false })).toBe('waiting')
})
