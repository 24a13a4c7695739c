import { expect, it } from 'vitest'
import {
  type ApprovalRecord,
  gateOf,
  isStrongEnough,
  passGate,
} from '../../src/chain/run-journal.ts'
import { requiredGate } from '../../src/project/gates.ts'
import { addOutputs, emptyState } from '../../src/chain/step-result.ts'

const gate = gateOf({ key: '1:deploy', state: emptyState }, 'sha256:plan')
const answer = (change: Partial<ApprovalRecord>): unknown =>
  passGate(
    gate,
    { step: 'deploy', gate: true },
    { type: 'approval', ...gate, approved: true, by: 'person', at: '', ...change },
    0,
  )

it('opens a gate after a yes, and rejects its step after a no', () => {
  expect(passGate(gate, { step: 'deploy', gate: true }, undefined, 0)).toMatchObject({
    why: 'approval',
  })
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
])('keeps a gate closed if the decision was about %s', (_what, change) => {
  expect(answer(change)).toMatchObject({ why: 'approval' })
  expect(answer({ ...change, approved: false })).toMatchObject({ why: 'approval' })
})

it.each([
  ['attended', 'prompted', false],
  ['attended', 'unknown', false],
  ['attended', undefined, false],
  ['attended', 'attended', true],
  ['attended', 'signed', true],
  ['signed', 'attended', false],
  ['signed', 'signed', true],
  [true, undefined, true],
  [true, 'prompted', true],
] as const)(
  'compares the required strength %s with an approval that is %s: %s',
  (required, strength, opens) => {
    const decision = {
      type: 'approval',
      ...gate,
      approved: true,
      by: 'person',
      at: '',
      strength,
    } as const
    const outcome = passGate(gate, { step: 'deploy', gate: required }, decision, 0)
    expect(outcome === undefined).toBe(opens)
  },
)

it.each([
  [true, 'terminal', true],
  [true, 'prompt', false],
  ['attended', 'terminal', false],
] as const)(
  'compares the required strength %s with an approval of unknown strength from a %s: %s',
  (required, channel, opens) => {
    expect(isStrongEnough(required, { channel, strength: 'unknown' })).toBe(opens)
  },
)

it.each([
  [true, 'prompted', true],
  [true, 'attended', 'attended'],
  ['attended', 'prompted', 'attended'],
  ['signed', 'attended', 'signed'],
  ['attended', 'signed', 'signed'],
] as const)(
  'combines the gate of a chain (%s) with the setting %s: %s',
  (gate, approval, required) => {
    expect(requiredGate(gate, { rail: { approval } })).toBe(required)
  },
)
