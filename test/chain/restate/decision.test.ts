import { expect, it } from 'vitest'
import { readDecision } from '../../../src/chain/restate/worker.ts'

const approval = {
  type: 'approval',
  key: '1:ship',
  approved: true,
  planDigest: 'sha256:1',
  stateDigest: 'sha256:2',
  by: 'person',
  at: '2026-01-01T00:00:00.000Z',
}

it('reads the decision of a user', () => {
  expect(readDecision(JSON.stringify({ approvals: [approval] }))).toEqual({ approvals: [approval] })
  expect(readDecision('{"approvals":[],"yesGates":true}')).toEqual({ approvals: [] })
})

it.each([
  '',
  'null',
  '[]',
  '{',
  '"yes"',
  '{"approvals":"all"}',
  JSON.stringify({ approvals: [{ ...approval, approved: 'yes' }] }),
  JSON.stringify({ approvals: [{ ...approval, stateDigest: undefined }] }),
  JSON.stringify({ approvals: [{ ...approval, type: 'gate' }, 7, null] }),
])('reads no decision in %s', (text) => {
  expect(readDecision(text)).toEqual({ approvals: [] })
})
