import { describe, expect, it } from 'vitest'
import {
  renderReport,
  renderTimeline,
  type RunResult,
  type StepResult,
} from '../../src/chain/index.ts'

const step = (name: string, more: Partial<StepResult> = {}): StepResult => ({
  step: name,
  skill: name,
  status: 'success',
  result: 'fine',
  errors: [],
  metrics: {},
  evidence: 'exit-code',
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1500,
  ...more,
})

const hostile = `<script>alert(1)</script>]]>"&'\u001b[31m\u202e| **bold** \`\`\``

const result: RunResult = {
  runId: '0abc',
  skill: 'audit <all>',
  status: 'failure',
  attempts: [
    {
      attempt: 1,
      status: 'failure',
      steps: [
        step('a', { metrics: { n: 3 } }),
        step('nested', {
          status: 'failure',
          result: '1 of 2',
          steps: [
            step('nested/x'),
            step('nested/y', {
              status: 'failure',
              result: hostile,
              errors: [{ code: 'exit-code', message: hostile }],
              log: `line 1\n${hostile}`,
              startedAt: '2026-01-01T00:00:01.000Z',
            }),
          ],
        }),
        step('c', {
          status: 'not_run',
          startedAt: null,
          durationMs: 0,
          evidence: null,
          reason: 'stopped',
        }),
      ],
      chain_state: { previous_outputs: [], accumulated_errors: [], total_metrics: {} },
    },
  ],
}

describe('a report', () => {
  it('as JSON is the result', () => {
    expect(JSON.parse(renderReport('json', result))).toEqual(result)
  })

  it.each([
    ['junit', 'tests="5" failures="2"'],
    ['html', '<ul class="errors"><li><code>unsteady</code>'],
    ['github', 'unsteady: never'],
  ] as const)('as %s says what no step is to blame for', (format, expected) => {
    const attempts = result.attempts.map((attempt) => ({
      ...attempt,
      errors: [{ code: 'unsteady', message: 'never <twice> the same' }],
    }))
    const text = renderReport(format, { ...result, attempts })
    expect(text).toContain(expected)
    expect(text).toMatch(/unsteady[\s\S]*never &lt;twice/)
  })

  it('as JUnit counts the steps that do something, escaped', () => {
    const xml = renderReport('junit', result)
    expect(xml).toContain('tests="4" failures="1" errors="0" skipped="1"')
    expect(xml).toContain('<skipped message="not_run: stopped"/>')
    expect(xml).toContain('&lt;script>'.replace('>', '&gt;'))
    expect(xml).not.toMatch(/<script|\u202e/)
  })

  it('as HTML is one file that loads and runs nothing', () => {
    const html = renderReport('html', result)
    expect(html).toContain("default-src 'none'")
    expect(html).not.toMatch(/<script|<link|src=|@import|url\(|https?:/)
    expect(html).toMatch(/<details id="a1-[^"]*" open>/)
    expect(html).toContain('line 1')
  })

  it('for GitHub lets no output become markup', () => {
    const markdown = renderReport('github', result)
    expect(markdown).toContain('| ✗ failure | &nbsp;&nbsp;y | 1.5 s |')
    const rows = markdown.split('\n').filter((line) => line.startsWith('|'))
    for (const row of rows) expect(row).not.toMatch(/<script|\*\*bold|```/)
  })

  it('of a run without steps is whole in every format', () => {
    const empty = { ...result, attempts: [] }
    for (const format of ['json', 'junit', 'github', 'html'] as const) {
      expect(renderReport(format, empty)).toContain('audit')
    }
    expect(renderTimeline(empty, { width: 80 })).toEqual([])
  })
})

it('the timeline shows every step, and what failed first with its last output', () => {
  const lines = renderTimeline(result, { width: 100 })
  expect(lines[0]).toMatch(/^✓ a +1\.5 s +█+$/)
  expect(lines.join('\n')).toMatch(/failed first: nested\/y\n {2}exit-code: .*\n {2}\| line 1/)
  expect(lines.join('\n')).not.toMatch(/\u202e/)
})
