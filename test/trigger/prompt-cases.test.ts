import { expect, it } from 'vitest'
import { readPromptCases, shareOf } from '../../src/trigger/prompt-cases.ts'

it('reads the files of skill-creator, too', () => {
  const queries =
    '[{"query":"ship it","should_trigger":true},{"query":"hi","should_trigger":false}]'
  expect(readPromptCases(queries, 'trigger-eval.json').cases).toEqual([
    { prompt: 'ship it', inject: true },
    { prompt: 'hi', inject: false },
  ])
  const evals = '{"skill_name":"a","evals":[{"id":1,"prompt":"ship it","expected_output":"x"}]}'
  expect(readPromptCases(evals, 'evals.json').cases).toEqual([{ prompt: 'ship it', inject: true }])
})

it.each(['', '[', '{"evals":[]}', '{"evals":[{"id":1}]}', '[{"query":"x"}]', 'hello'])(
  'says what is wrong with %j',
  (text) => {
    const { cases, diagnostics } = readPromptCases(text, 'f.json')
    expect(cases).toEqual([])
    expect(diagnostics[0]?.code).toBe('prompt-case-invalid')
  },
)

it('gives the interval of Wilson', () => {
  expect(shareOf(9, 10)).toEqual({ share: 0.9, low: 0.596, high: 0.982, total: 10 })
  expect(shareOf(0, 0)).toEqual({ share: 0, low: 0, high: 1, total: 0 })
})
