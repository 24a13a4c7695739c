import { expect, it } from 'vitest'
import { type ApprovalRecord, gateOf, passGate } from '../../src/chain/run-journal.ts'
import { addOutputs, emptyState } from '../../src/chain/step-result.ts'

const gate = gateOf({ key: '1:deploy', state: emptyState }, 'sha256:plan')
const answer = (change: Partial<ApprovalRecord>): unknown =>
  passGate(
    gate,
    'deploy',
    { type: 'approval', ...gate, approved: true, by: 'person', at: '', ...change },
    0,
  )

it('opens by a yes, and is rejected by a no', () => {
  expect(passGate(gate, 'deploy', undefined, 0)).toMatchObject({ why: 'approval' })
  expect(answer({})).toBeUndefined()
  expect(answer({ approved: false })).toMatchObject({ kind: 'finished', rejected: true })
})

const more = addOutputs(emptyState, [
  { step: 'a', skill: 'a', status: 'success', result: '', errors: [], metrics: {} },
])

it.each<[string, Partial<ApprovalRecord>]>([
  ['another attempt', { key: '2:deploy' }],
  ['another plan', { planDigest: 'sha256:other' }],
  ['other results', gateOf({ key: '1:deploy', state: more }, 'sha256:plan')],
])('waits on where the decision was about %s', (_what, change) => {
  expect(answer(change)).toMatchObject({ why: 'approval' })
  expect(answer({ ...change, approved: false })).toMatchObject({ why: 'approval' })
})
