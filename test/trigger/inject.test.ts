import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { explainPrompt } from '../../src/trigger/explain.ts'
import { matchPrompt, type TriggerSkill } from '../../src/trigger/match.ts'
import { planInjection, renderInjection } from '../../src/trigger/inject.ts'

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
  it('keeps the order of skills and triggers, and contains each file once', () => {
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

  it('has the file and its size in tokens for each text', () => {
    const { matches } = matchPrompt('x', [skill('one', ['x', 'references/a.md'])])
    expect(planInjection(matches)).toEqual({
      injected: [
        {
          skill: 'one',
          path: 'references/a.md',
          file: join(realpathSync(root), 'one/references/a.md'),
          tokens: 100,
          text: `A\n${'x'.repeat(398)}`,
        },
      ],
      deferred: [],
      diagnostics: [],
    })
  })

  it('contains files with one path from each skill, and one file once under any name', () => {
    const { matches } = matchPrompt('x', [
      skill('one', ['x', 'references/a.md'], ['x', 'references/../references/a.md']),
      skill('two', ['x', 'references/a.md'], ['x', 'references/a.md']),
    ])
    const { injected, deferred } = planInjection(matches)
    expect(injected.map(({ skill: name }) => name)).toEqual(['one', 'two'])
    expect(deferred).toEqual([])
  })

  it('names an unusable file once', () => {
    const { matches } = matchPrompt('x', [
      skill('one', ['x', 'references/none.md'], ['x', 'references/none.md']),
    ])
    const { deferred, diagnostics } = planInjection(matches)
    expect([deferred.length, diagnostics.length]).toEqual([1, 1])
  })

  it('can use the whole budget, which includes earlier injections', () => {
    const { matches } = matchPrompt('x', [
      skill('one', ['x', 'references/a.md'], ['x', 'references/b.md']),
      skill('two', ['x', 'references/a.md']),
    ])
    const whole = planInjection(matches)
    const sizes = whole.injected.map(({ tokens }) => tokens)
    const sum = sizes.reduce((total, tokens) => total + tokens, 0)
    expect(sizes).toHaveLength(3)
    expect(planInjection(matches, { tokenBudget: sum })).toEqual(whole)
    const less = planInjection(matches, { tokenBudget: sum - 1 })
    expect(less.injected).toEqual(whole.injected.slice(0, 2))
    expect(less.deferred).toMatchObject([
      {
        skill: 'two',
        reason: `${sizes[2]} tokens do not fit: ${sum - (sizes[2] ?? 0)} of ${sum - 1} are used`,
      },
    ])
  })

  it.each([
    ['', '<!-- injected: p.md -->\n\n\n'],
    ['\n\n', '<!-- injected: p.md -->\n\n\n'],
    ['a', '<!-- injected: p.md -->\na\n\n'],
    ['\na\n \n\n', '<!-- injected: p.md -->\n\na\n \n\n'],
    ['a\r\n', '<!-- injected: p.md -->\na\r\n\n'],
  ])('changes the text %j to %j', (text, rendered) => {
    const reference = { skill: 'one', path: 'p.md', file: '/p.md', tokens: 1, text }
    expect(renderInjection([reference])).toBe(rendered)
    expect(renderInjection([])).toBe('')
  })

  it('defers a reference over the budget, with the file and the reason, and continues', () => {
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

  it('leaves out a skill whose text may not be injected, and reports that', () => {
    const { matches } = matchPrompt('x', [skill('one', ['x', 'references/b.md'])])
    expect(planInjection(matches, { mayInject: () => false })).toEqual({
      injected: [],
      deferred: [
        {
          skill: 'one',
          path: 'references/b.md',
          reason: 'the skill is not trusted (skillrail trust)',
        },
      ],
      diagnostics: [],
    })
  })

  it.each([
    ['references/none.md', 'trigger-target-missing', 'none.md'],
    ['../two/references/a.md', 'trigger-target-outside', '../two'],
    ['/etc/hostname', 'trigger-target-outside', '/etc/hostname'],
    ['references', 'trigger-target-unusable', 'references'],
    ['references/big.md', 'trigger-target-too-large', 'big.md'],
    ['references/nul.bin', 'trigger-target-binary', 'nul.bin'],
    ['references/latin1.md', 'trigger-target-binary', 'latin1.md'],
  ])('reports %j as %s and injects nothing', (inject, code, named) => {
    const one = skill('one', ['x', inject])
    const { injected, deferred, diagnostics } = planInjection(matchPrompt('x', [one]).matches)
    expect(injected).toEqual([])
    expect(deferred).toEqual([
      { skill: 'one', path: inject, reason: expect.stringContaining(named) },
    ])
    const message = `The file that a trigger injects cannot be used: ${deferred[0]?.reason}.`
    expect(diagnostics).toEqual([{ code, severity: 'error', message, path: one.path, line: 5 }])
  })
})

describe('a prompt', () => {
  it.each([
    [
      'every control character',
      `${Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('')}needle`,
    ],
    ['a lone surrogate', '\ud800 needle'],
    ['10 kB in one line, the match at its end', `${'x'.repeat(10_000)} needle`],
  ])('matches with %s', (_what, prompt) => {
    const { matches } = matchPrompt(prompt, [
      skill('one', ['needle', 'a'], ['n[e]{2}dle', 'b'], ['(?i)NEEDLE', 'c']),
    ])
    expect(matches.map(({ trigger, text }) => trigger.inject + text)).toEqual([
      'aneedle',
      'bneedle',
      'cneedle',
    ])
  })

  it('matches line by line, with CRLF as LF, and is not trimmed', () => {
    expect(fires('^/t', 'hello\r\n/t')).toBe(true)
    expect(fires('alpha$', 'alpha\r\nmore')).toBe(true)
    expect(fires('alpha$', 'alpha\r')).toBe(false)
    expect(fires('^/t', ' /t')).toBe(false)
    expect(fires('a[^b]c', 'a\nc')).toBe(false)
    expect(fires('^$', '')).toBe(false)
    expect(fires('^$', 'a\n')).toBe(true)
  })

  it('matches against 500 triggers of one skill', () => {
    const triggers = Array.from({ length: 500 }, (_, index): [string, string] => [
      `^/t ${index}$`,
      `${index}.md`,
    ])
    const { matches } = matchPrompt('/t 250', [skill('one', ...triggers)])
    expect(matches.map(({ trigger }) => trigger.inject)).toEqual(['250.md'])
  })

  it('has a diagnostic for every refused pattern, and the others still fire', () => {
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
    ['^/saw program', 'hello', 'no-match'],
    ['(', 'hello', 'invalid'],
  ])('explains for %j on %j: %s', (match, prompt, expected) => {
    const [explanation] = explainPrompt(prompt, [skill('one', [match, 'references/b.md'])])
    const verdict = explanation?.verdicts[0]
    const said = verdict?.outcome === 'near-miss' ? verdict.miss.causes.join() : verdict?.outcome
    expect(said).toBe(expected)
  })
})
