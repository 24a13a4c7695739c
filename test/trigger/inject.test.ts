import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  explainPrompt,
  matchPrompt,
  planInjection,
  renderInjection,
  type TriggerSkill,
} from '../../src/trigger/index.ts'

let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-inject-'))
  for (const name of ['one', 'two']) mkdirSync(join(root, name, 'references'), { recursive: true })
  writeFileSync(join(root, 'one/references/a.md'), `A\n${'x'.repeat(398)}`)
  writeFileSync(join(root, 'one/references/b.md'), 'B\n\n\n')
  writeFileSync(join(root, 'one/references/big.md'), 'x'.repeat(10 * 1024 * 1024))
  writeFileSync(join(root, 'one/references/nul.bin'), 'A\0B\n')
  writeFileSync(join(root, 'one/references/latin1.md'), Buffer.from([0x63, 0xe9]))
  writeFileSync(join(root, 'two/references/a.md'), 'TWO\n')
})
afterAll(() => rmSync(root, { recursive: true }))

function skill(name: string, ...triggers: [string, string][]): TriggerSkill {
  const directory = join(root, name)
  const path = join(directory, 'SKILL.md')
  return {
    name,
    directory,
    path,
    triggers: triggers.map(([match, inject], index) => ({ match, inject, line: 5 + 2 * index })),
  }
}

function fires(match: string, prompt: string): boolean {
  return matchPrompt(prompt, [skill('one', [match, 'a'])]).matches.length > 0
}

describe('an injection', () => {
  it('has skills in the order given, triggers as declared, each file once', () => {
    const skills = [
      skill('two', ['x', 'references/a.md']),
      skill('one', ['y', 'references/b.md'], ['x', './references/b.md'], ['x', 'references/a.md']),
    ]
    const { matches } = matchPrompt('x y', skills)
    const { injected } = planInjection(matches)
    expect(injected.map((reference) => `${reference.skill}:${reference.path}`)).toEqual([
      'two:references/a.md',
      'one:references/b.md',
      'one:references/a.md',
    ])
    expect(renderInjection(injected.slice(0, 2))).toBe(
      '<!-- injected: references/a.md -->\nTWO\n\n<!-- injected: references/b.md -->\nB\n\n',
    )
  })

  it('defers what does not fit the budget, with the file and the reason, and goes on', () => {
    const { matches } = matchPrompt('x', [
      skill('one', ['x', 'references/a.md'], ['x', 'references/b.md']),
    ])
    const plan = planInjection(matches, { tokenBudget: 10 })
    expect(plan.injected.map(({ path }) => path)).toEqual(['references/b.md'])
    expect(plan.deferred).toEqual([
      {
        skill: 'one',
        path: 'references/a.md',
        file: expect.stringContaining('references/a.md'),
        reason: '100 tokens do not fit: 0 of 10 are used',
      },
    ])
  })

  it('leaves out a skill whose text may not be injected, and says so', () => {
    const { matches } = matchPrompt('x', [skill('one', ['x', 'references/b.md'])])
    expect(planInjection(matches, { mayInject: () => false })).toEqual({
      injected: [],
      deferred: [{ skill: 'one', path: 'references/b.md', reason: 'the skill is not trusted' }],
      diagnostics: [],
    })
  })

  it.each([
    ['references/none.md', 'trigger-target-missing'],
    ['../two/references/a.md', 'trigger-target-outside'],
    ['/etc/hostname', 'trigger-target-outside'],
    ['references', 'trigger-target-unusable'],
    ['references/big.md', 'trigger-target-too-large'],
    ['references/nul.bin', 'trigger-target-binary'],
    ['references/latin1.md', 'trigger-target-binary'],
  ])('reports %s as %s and injects nothing', (inject, code) => {
    const { matches } = matchPrompt('x', [skill('one', ['x', inject])])
    const { injected, deferred, diagnostics } = planInjection(matches)
    expect({ injected, deferred: deferred.length }).toEqual({ injected: [], deferred: 1 })
    expect(diagnostics).toMatchObject([{ code, severity: 'error', line: 5 }])
  })
})

describe('a prompt', () => {
  it.each([
    ['1 MiB in one line, the match at its end', `${'x'.repeat(1024 * 1024)} needle`],
    ['1 MiB in short lines, the match in the first', `needle\n${'filler line\n'.repeat(90_000)}`],
    [
      'every control character',
      `${Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('')}needle`,
    ],
    ['a lone surrogate', '\ud800 needle'],
  ])('of %s is matched', (_what, prompt) => {
    const { matches } = matchPrompt(prompt, [
      skill('one', ['needle', 'a'], ['n[e]{2}dle', 'b'], ['(?i)NEEDLE', 'c']),
    ])
    expect(matches.map(({ trigger, text }) => trigger.inject + text)).toEqual([
      'aneedle',
      'bneedle',
      'cneedle',
    ])
  })

  it('is matched line by line, CRLF as LF, and is not trimmed', () => {
    expect(fires('^/t', 'hello\r\n/t')).toBe(true)
    expect(fires('alpha$', 'alpha\r\nmore')).toBe(true)
    expect(fires('alpha$', 'alpha\r')).toBe(false)
    expect(fires('^/t', ' /t')).toBe(false)
    expect(fires('a[^b]c', 'a\nc')).toBe(false)
    expect(fires('^$', '')).toBe(true)
  })

  it('may meet 500 triggers in one skill', () => {
    const triggers = Array.from({ length: 500 }, (_, index): [string, string] => [
      `^/t ${index}$`,
      `${index}.md`,
    ])
    const { matches } = matchPrompt('/t 250', [skill('one', ...triggers)])
    expect(matches.map(({ trigger }) => trigger.inject)).toEqual(['250.md'])
  })

  it('gets a diagnostic for every pattern that is not accepted, and the others still fire', () => {
    const { matches, diagnostics } = matchPrompt('x', [
      skill('one', ['x(?=y)', 'a'], ['(', 'b'], ['x', 'c']),
    ])
    expect(matches.map(({ trigger }) => trigger.inject)).toEqual(['c'])
    expect(diagnostics).toMatchObject([
      { code: 'pattern-unsupported', severity: 'error', line: 5 },
      { code: 'pattern-invalid', severity: 'error', line: 7 },
    ])
  })
})

describe('an explanation', () => {
  it.each([
    ['^/saw program', '/saw program x', 'fired'],
    ['^/saw program', ' /saw program', 'blanks'],
    ['^/saw program', '/SAW program', 'case'],
    ['^/saw program', ' /SAW program', 'blanks,case'],
    ['^/saw program', 'run /saw program', 'not-at-start'],
    ['program$', 'program now', 'not-at-end'],
    ['^/saw program', '$saw program x', 'sigil'],
    ['^/saw program', '/skill:saw program x', 'sigil'],
    ['^/saw program', '/saw progr', 'part'],
    ['^/saw program', 'hello', 'no-match'],
    ['(', 'hello', 'invalid'],
  ])('of %j on %j says %s', (match, prompt, expected) => {
    const [explanation] = explainPrompt(prompt, [skill('one', [match, 'references/b.md'])])
    const verdict = explanation?.verdicts[0]
    const said = verdict?.outcome === 'near-miss' ? verdict.miss.causes.join() : verdict?.outcome
    expect(said).toBe(expected)
  })
})
