import { expect, it } from 'vitest'
import { emptyState } from '../../../src/chain/step-result.ts'
import type { FinishedOutcome, StepResult } from '../../../src/chain/engine.ts'
import { emptyPass, fitAnswer, type RunAnswer } from '../../../src/chain/restate/protocol.ts'

const long = 'x'.repeat(5000)

const said = { status: 'success', result: long, errors: [], evidence: 'exit-code' } as const
const inner: StepResult = {
  ...said,
  step: 'outer/inner',
  skill: 'inner',
  metrics: { count: 1 },
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1,
  log: long,
}
const outer: FinishedOutcome = {
  kind: 'finished',
  output: { ...said, metrics: {} },
  startedAt: 0,
  durationMs: 1,
  log: long,
  chain: {
    status: 'success',
    attempts: [{ attempt: 1, status: 'success', steps: [inner], chain_state: emptyState }],
  },
}

const answer: RunAnswer = {
  planDigest: 'sha256:1',
  status: 'success',
  pass: emptyPass({ '1:outer': outer, '1:outer/1:inner': { ...outer, chain: undefined } }),
}

it('leaves an answer unchanged if the server accepts its size', () => {
  expect(fitAnswer(answer)).toEqual(answer)
})

it('removes printed output first, on every level, and keeps the results', () => {
  const { '1:outer': fitted } = fitAnswer(answer, 25_000).pass.answered
  expect(fitted).toMatchObject({ output: { result: long } })
  expect(fitted && 'log' in fitted && fitted.log).toBeUndefined()
  const step = fitted?.chain?.attempts[0]?.steps[0]
  expect(step?.log).toBeUndefined()
  expect(step?.result).toBe(long)
})

it('fails a run whose results do not fit, and cuts none', () => {
  const { status, pass } = fitAnswer(answer, 5000)
  expect(status).toBe('failure')
  expect(Object.keys(pass.answered)).toEqual(['1:outer'])
  expect(pass.answered).toMatchObject({
    '1:outer': { output: { status: 'failure', errors: [{ code: 'result-too-large' }] } },
  })
})
