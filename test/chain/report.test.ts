import { describe, expect, it } from 'vitest'
import { columnsOf } from '../../src/core/text.ts'
import { duration, firstFailed, renderTimeline } from '../../src/chain/timeline.ts'
import { renderReport } from '../../src/chain/report.ts'
import type { RunResult, StepResult } from '../../src/chain/engine.ts'

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

/** A run of one attempt. */
function run({
  steps,
  status = 'failure',
}: {
  steps: StepResult[]
  status?: RunResult['status']
}): RunResult {
  const [attempt] = result.attempts
  if (attempt === undefined) throw new Error('the run has an attempt')
  return { ...result, status, attempts: [{ ...attempt, status, steps }] }
}

describe('a report', () => {
  it('is the result in JSON', () => {
    expect(JSON.parse(renderReport('json', result))).toEqual(result)
  })

  it.each([
    ['junit', 'tests="5" failures="2"'],
    ['html', '<ul class="errors"><li><code>unsteady</code>'],
    ['github', 'unsteady: never'],
  ] as const)('contains the errors of the whole run in %s', (format, expected) => {
    const attempts = result.attempts.map((attempt) => ({
      ...attempt,
      errors: [{ code: 'unsteady', message: 'never <twice> the same' }],
    }))
    const text = renderReport(format, { ...result, attempts })
    expect(text).toContain(expected)
    const said = format === 'github' ? '<' : '&lt;'
    expect(text).toMatch(new RegExp(`unsteady[^]*never ${said}twice`))
  })

  it('counts the steps that are not chains in JUnit, with their text escaped', () => {
    const xml = renderReport('junit', result)
    expect(xml).toContain('tests="4" failures="1" errors="0" skipped="1"')
    expect(xml).toContain('<skipped message="not_run: stopped"/>')
    expect(xml).toContain('&lt;script>'.replace('>', '&gt;'))
    expect(xml).not.toMatch(/<script|\u202e/)
  })

  it('counts the skipped elements in JUnit, and has the start time', () => {
    const statuses = ['success', 'failure', 'cancelled', 'waiting', 'skipped', 'not_run'] as const
    const steps = statuses.map((status) => step(status, { status }))
    const xml = renderReport('junit', run({ steps }))
    expect(xml.split('<skipped ')).toHaveLength(5)
    const counts = 'tests="6" failures="1" errors="0" skipped="4" time="9.000"'
    expect(xml).toContain(`<testsuites name="audit &lt;all&gt;" ${counts}>`)
    expect(xml).toContain(`${counts} timestamp="2026-01-01T00:00:00">`)
  })

  it('contains only characters that XML allows in JUnit', () => {
    const every = Array.from({ length: 0x300 }, (_, code) => String.fromCodePoint(code)).join('')
    const text = `${every}\ud800\ufffe\uffff\udc00${hostile}`
    const bad = {
      status: 'failure',
      result: text,
      errors: [{ code: text, message: text }],
    } as const
    const xml = renderReport('junit', run({ steps: [step(text, { ...bad, log: text })] }))
    expect(xml).not.toMatch(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u)
  })

  it.each([
    ['junit', 'message="e1">reported: e1<'],
    ['github', '    ✗ a  1.5 s  ████████████████████████  e1'],
    ['html', '<span class="note">e1</span>'],
  ] as const)('contains the errors of a step without a result in %s', (format, expected) => {
    const errors = [{ code: 'reported', message: 'e1' }]
    const steps = [step('a', { status: 'failure', result: '', errors })]
    expect(renderReport(format, run({ steps }))).toContain(expected)
  })

  it.each(['junit', 'github', 'html'] as const)('never splits a character in %s', (format) => {
    for (let length = 195; length < 305; length++) {
      const steps = [step('a', { result: `${'x'.repeat(length)}${'🎉'.repeat(20)}` })]
      expect(renderReport(format, run({ steps })).isWellFormed()).toBe(true)
    }
  })

  it('names each mark for screen readers in HTML, and lets the keyboard scroll an output', () => {
    const html = renderReport('html', result)
    expect(html).toContain('role="img" aria-label="failure"')
    expect(html).toContain('<pre tabindex="0" role="region" aria-label="Output of nested/y">')
  })

  it('contains no time in HTML for a run that has not begun', () => {
    const steps = [step('a', { status: 'waiting', startedAt: null, durationMs: 0 })]
    expect(renderReport('html', run({ steps, status: 'waiting' }))).not.toContain('1970')
    expect(renderReport('html', run({ steps: [] }))).toContain('no steps')
  })

  it('is one file in HTML that loads and runs nothing', () => {
    const html = renderReport('html', result)
    expect(html).toContain("default-src 'none'")
    expect(html).not.toMatch(/<script|<link|src=|@import|url\(|https?:/)
    expect(html).toMatch(/<details id="a1-[^"]*" open>/)
    expect(html).toContain('line 1')
  })

  it('escapes markup in output for GitHub', () => {
    const markdown = renderReport('github', result)
    expect(markdown).toMatch(/^ {4}✗ {3}y {2,}1\.5 s/m)
    const [heading, empty, ...lines] = markdown.trimEnd().split('\n')
    expect([heading, empty]).toEqual(['## audit all: failure', ''])
    for (const line of lines) expect(line).toMatch(/^ {4}/)
  })

  it('is complete in every format for a run without steps', () => {
    const empty = { ...result, attempts: [] }
    for (const format of ['json', 'junit', 'github', 'html'] as const) {
      expect(renderReport(format, empty)).toContain('audit')
    }
    expect(renderTimeline(empty, { width: 80 })).toEqual([])
  })
})

it('the timeline shows every step, and the first failure with its last output', () => {
  const lines = renderTimeline(result, { width: 100 })
  expect(lines[0]).toMatch(/^✓ a +1\.5 s +█+$/)
  expect(lines.join('\n')).toMatch(/failed first: nested\/y\n {2}\S.*\n {2}\| line 1/)
  expect(lines.join('\n')).not.toMatch(/\u202e/)
})

describe('the timeline', () => {
  const wide = '検証の手順'

  it.each([20, 40, 80, 300])('stays within %i columns, whatever the steps say', (width) => {
    const steps = [
      step('build'),
      step(wide, { status: 'failure', result: '成功しました🎉'.repeat(20) }),
      step('a-step-of-a-chain-with-a-very-long-name', {
        status: 'not_run',
        startedAt: null,
        reason: 'it had stopped '.repeat(30),
      }),
    ]
    const lines = renderTimeline(run({ steps }), { width }).slice(0, 3)
    expect(lines).toHaveLength(3)
    for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width)
    for (const line of lines) expect(line).toBe(line.trimEnd())
    expect(lines[1]).toContain(' 1.5 s')
  })

  it('keeps its columns with wide names', () => {
    const steps = [step('build'), step(wide, { status: 'failure', result: 'no' })]
    const [build = '', failed = ''] = renderTimeline(run({ steps }), { width: 100 })
    const before = (line: string): number => columnsOf(line.slice(0, line.indexOf('1.5 s')))
    expect(before(build)).toBe(before(failed))
  })

  it('marks a text that is cut', () => {
    const steps = [step('a', { status: 'failure', result: 'word '.repeat(100) })]
    expect(renderTimeline(run({ steps }), { width: 80 })[0]).toMatch(/word w…$/)
  })

  it('names no failed step of a successful run', () => {
    const steps = [step('lost', { status: 'failure' }), step('won')]
    expect(firstFailed(run({ steps, status: 'success' }))).toBeUndefined()
  })

  it('names no failed step of a successful nested chain', () => {
    const lost = step('race/lost', { status: 'failure', durationMs: 1 })
    const steps = [step('race', { steps: [lost] }), step('late', { status: 'failure' })]
    expect(firstFailed(run({ steps }))?.step).toBe('late')
  })

  it('shows the failed attempt if the last one succeeded', () => {
    const [passed] = run({ steps: [step('a')], status: 'success' }).attempts
    const [failed] = run({ steps: [step('a', { status: 'failure' })] }).attempts
    if (passed === undefined || failed === undefined) throw new Error('both have an attempt')
    const attempts = [failed, { ...passed, attempt: 2 }]
    const lines = renderTimeline({ ...result, attempts }, { width: 80 })
    expect(lines[0]).toMatch(/^✗ a/)
    expect(lines[1]).toBe('2 attempts (failure, success); shown is number 1')
    expect(lines.join('\n')).toContain('failed first: a')
  })
})

it.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [999.6, '1.0 s'],
  [59_900, '59.9 s'],
  [59_960, '1 min 00 s'],
  [245_000, '4 min 05 s'],
  [3_599_600, '1 h 00 min'],
  [12_000_000, '3 h 20 min'],
  [2 * 86_400_000, '2 d 00 h'],
  [100_000_000_000, '1157 d 10 h'],
])('writes %i ms as %s', (milliseconds, text) => {
  expect(duration(milliseconds)).toBe(text)
})

describe('a step that failed in the sandbox', () => {
  const hint = 'It ran in a sandbox (bubblewrap). To allow it: skillrail trust .'
  const error = { code: 'exit-code', message: 'exit code 1' }
  const confined = run({
    steps: [
      step('a', { sandbox: 'bubblewrap' }),
      step('b', { status: 'failure', result: '', errors: [error], sandbox: 'bubblewrap', hint }),
    ],
  })

  it.each(['github', 'html', 'junit'] as const)(
    'is marked in the report as %s, with what to do',
    (format) => {
      const report = renderReport(format, confined)
      expect(report).toContain('in the sandbox: exit code 1')
      expect(report).toContain('To allow it')
      expect(report.match(/in the sandbox/g)).toHaveLength(1)
    },
  )

  it('is marked in the table, with what to do below the first failure', () => {
    const lines = renderTimeline(confined, { width: 100 })
    expect(lines[1]).toMatch(/in the sandbox: exit code 1$/)
    expect(lines.slice(-3)).toEqual(['failed first: b', '  exit code 1', `  ${hint}`])
  })
})

it.each([
  [{ code: 'exit-code', message: 'exit code 3: full' }, 'exit code 3: full'],
  [{ code: 'exit-code', message: 'it ended with exit code 3' }, 'it ended with exit code 3'],
  [{ code: 'disk-full', message: 'disk full: /tmp' }, 'disk-full: disk full: /tmp'],
])('shows an error by its code, whatever its message says: %j', (error, text) => {
  const failed = run({ steps: [step('s', { status: 'failure', errors: [error] })] })
  expect(renderTimeline(failed, { width: 100 })).toContain(`  ${text}`)
})

describe('a step that reported a failure without an error', () => {
  it.each([
    [{ result: '' }, ['  it gave no reason']],
    [{ result: '', log: 'one' }, ['  it gave no reason', '  | one']],
    [{ result: '', evidence: 'self-reported' as const }, ['  it gave no reason']],
    [{ result: 'not today' }, ['  not today']],
  ])('shows the reason of a failure: %j', (more, said) => {
    const failed = run({ steps: [step('s', { status: 'failure', ...more })] })
    const lines = renderTimeline(failed, { width: 100 })
    expect(lines.slice(lines.indexOf('failed first: s') + 1)).toEqual(said)
    expect(lines[0]).toMatch(more.result === '' ? /it gave no reason$/ : /not today$/)
  })
})
