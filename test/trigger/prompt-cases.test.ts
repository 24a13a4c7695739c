import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  judgeCase,
  measure,
  measureLine,
  readPromptCases,
  shareOf,
} from '../../src/trigger/prompt-cases.ts'

it('reads the files of skill-creator too', () => {
  const queries =
    '[{"query":"ship it","should_trigger":true},{"query":"hi","should_trigger":false}]'
  expect(readPromptCases(queries, 'trigger-eval.json').cases).toEqual([
    { prompt: 'ship it', inject: true },
    { prompt: 'hi', inject: false },
  ])
  const named = `{"skill_name":"a","queries":${queries}}`
  expect(readPromptCases(named, 'trigger-eval.json').cases).toHaveLength(2)
  const evals = '{"skill_name":"a","evals":[{"id":1,"prompt":"ship it","expected_output":"x"}]}'
  expect(readPromptCases(evals, 'evals.json').cases).toEqual([{ prompt: 'ship it', inject: true }])
})

it.each([
  '',
  '[',
  '{"evals":[]}',
  '{"queries":[]}',
  '{"evals":[{"id":1}]}',
  '[{"query":"x"}]',
  '[{"query":" ","should_trigger":true}]',
  'hello',
])('reports the mistake in %j', (text) => {
  const { cases, diagnostics } = readPromptCases(text, 'f.json')
  expect(cases).toEqual([])
  expect(diagnostics[0]?.code).toBe('prompt-case-invalid')
})

it.each([
  ['[{"query":"a","should_trigger":true},\n {"query":"b"}]', 2, 'Entry 2 is not of the form'],
  ['{\n "evals": [\n  {"id":1},\n  {"prompt":"a"}]}', 3, 'Entry 1 is not of the form'],
  ['{\n "evals": [\n  {"prompt":"a"\n  ,}]}', 4, 'The file is not valid JSON.'],
  ['[\n{"query":"a" "should_trigger":true}]', 2, 'The file is not valid JSON.'],
  ['{"evals":"x"}', 1, 'evals is not a list.'],
  ['{"queries":null}', 1, 'queries is not a list.'],
  [
    '{"queries":[\n{"query":"a","should_trigger":true},\n{"query":"a"}]}',
    3,
    'Entry 2 is not of the form',
  ],
  ['{"prompt":"a","inject":true}\n{"prompt":', 2, 'The line is not of the form'],
])('names the line of the error in %j', (text, line, message) => {
  const { diagnostics } = readPromptCases(text, 'f.json')
  expect(diagnostics).toHaveLength(1)
  expect(diagnostics[0]).toMatchObject({ line, message: expect.stringContaining(message) })
})

it('computes the Wilson interval', () => {
  expect(shareOf(9, 10)).toEqual({ share: 0.9, low: 0.596, high: 0.982, total: 10 })
  expect(shareOf(0, 0)).toEqual({ share: 0, low: 0, high: 1, total: 0 })
})

it('prints no share if there are no cases', () => {
  expect(measureLine(measure([]))).toBe(
    'precision unknown, as nothing fired, recall unknown, as no prompt is meant to fire, with 95 % confidence',
  )
})

it('counts a prompt for a skill as wrong if it injects a reference of another skill too', () => {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-cases-'))
  const skills = ['deploy', 'ship'].map((name) => {
    writeFileSync(join(directory, `${name}.md`), 'text')
    const triggers = [{ match: name, inject: `${name}.md`, line: 1 }]
    return { name, directory, path: join(directory, 'SKILL.md'), triggers }
  })
  const judged = (prompt: string, inject: boolean) =>
    judgeCase({ prompt, inject }, skills, 'deploy')
  expect(judged('deploy it', true)).toMatchObject({ ok: true, injected: ['deploy.md'] })
  const both = judged('deploy and ship it', true)
  expect(both).toMatchObject({ ok: false, foreign: ['ship:ship.md'] })
  expect(judged('ship it', false)).toMatchObject({ ok: true, foreign: ['ship:ship.md'] })
  const missed = judged('ship it', true)
  expect(missed).toMatchObject({ ok: false, injected: [], foreign: ['ship:ship.md'] })
  expect(measure([both, missed]).precision).toMatchObject({ share: 0, total: 2 })
})
