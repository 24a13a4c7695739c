import { expect, it } from 'vitest'
import { emptyState } from '../../../src/chain/state.ts'
import type { StepResult } from '../../../src/chain/engine.ts'
import { fitAnswer, type RunAnswer } from '../../../src/chain/restate/protocol.ts'

const long = 'x'.repeat(5000)

const inner: StepResult = {
  step: 'outer/inner',
  skill: 'inner',
  status: 'success',
  result: long,
  errors: [],
  metrics: { count: 1 },
  evidence: 'exit-code',
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1,
  log: long,
}

const steps = [{ ...inner, step: 'outer', steps: [inner] }]

const answer: RunAnswer = {
  planDigest: 'sha256:1',
  result: {
    runId: 'r1',
    skill: 'root',
    status: 'success',
    attempts: [{ attempt: 1, status: 'success', steps, chain_state: emptyState }],
  },
}

it('leaves an answer as it is that the server takes', () => {
  expect(fitAnswer(answer)).toEqual(answer)
})

it('drops what steps printed first, on every level, and keeps their results', () => {
  const fitted = fitAnswer(answer, 15_000).result.attempts[0]?.steps[0]
  expect(fitted?.log).toBeUndefined()
  expect(fitted?.steps?.[0]?.log).toBeUndefined()
  expect(fitted?.steps?.[0]?.result).toBe(long)
})

it('is a failure where its results do not fit: none is cut', () => {
  const { status, attempts } = fitAnswer(answer, 5000).result
  expect(status).toBe('failure')
  expect(attempts).toMatchObject([{ steps: [], errors: [{ code: 'result-too-large' }] }])
})
