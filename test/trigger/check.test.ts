import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type CheckedSkill,
  checkTriggers,
  fixTriggers,
  portableRewrite,
} from '../../src/trigger/check.ts'
import { exportTriggers, withoutExport } from '../../src/trigger/export-triggers.ts'
import { readPromptCases } from '../../src/trigger/prompt-cases.ts'
import { readTriggers } from '../../src/trigger/read-triggers.ts'

let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-check-'))
  mkdirSync(join(root, 'saw/references'), { recursive: true })
  writeFileSync(join(root, 'saw/references/a.md'), 'x'.repeat(10_000))
  writeFileSync(join(root, 'saw/references/b.md'), 'B\n')
})
afterAll(() => rmSync(root, { recursive: true }))

function skill(triggers: string, body = '# saw\n\nWhen it is blocked, wait.\n'): CheckedSkill {
  const directory = join(root, 'saw')
  const path = join(directory, 'SKILL.md')
  const text = `---\nname: saw\ndescription: x\ntriggers:\n${triggers}---\n${body}`
  return { name: 'saw', directory, path, text, body, triggers: readTriggers(text, path).triggers }
}

function trigger(match: string, inject = 'references/a.md'): string {
  return `  - match: '${match}'\n    inject: ${inject}\n`
}

describe('triggers check', () => {
  it('reports nothing about correct triggers', () => {
    const checked = checkTriggers(
      skill(trigger('^/saw program') + trigger('^/saw amend', 'references/b.md')),
    )
    expect(checked.diagnostics).toEqual([])
    expect(checked.triggers.map(({ risk }) => risk)).toEqual([undefined, undefined])
  })

  it('names the line of the body that a pattern matches', () => {
    const checked = checkTriggers(skill(trigger('failure|blocked')))
    expect(checked.triggers[0]?.risk).toEqual({ bodyLine: 3, text: 'When it is blocked, wait.' })
  })

  it.each([
    ['trigger-matches-body', 'error', trigger('is bl'), 5],
    ['trigger-mid-execution', 'warning', trigger('timeout'), 5],
    ['trigger-target-missing', 'error', trigger('^/saw', 'references/none.md'), 5],
    ['pattern-invalid', 'error', trigger('^/saw ('), 5],
    ['trigger-pattern-not-portable', 'warning', trigger('^/saw \\d'), 5],
    ['trigger-duplicate', 'warning', trigger('^/saw') + trigger('^/saw'), 7],
    ['trigger-format', 'info', `  - inject: references/a.md\n    match: ^/saw\n`, 5],
    ['trigger-small-skill', 'info', trigger('^/saw', 'references/b.md'), 5],
  ])('reports %s', (code, severity, triggers, line) => {
    const { diagnostics } = checkTriggers(skill(triggers))
    expect(diagnostics.map((one) => [one.code, one.severity, one.line])).toEqual([
      [code, severity, line],
    ])
  })

  it('points at the character of the pattern that another engine reads in another way', () => {
    const [found] = checkTriggers(skill(trigger('^/saw \\d'))).diagnostics
    expect(found).toMatchObject({
      column: 19,
      message: expect.stringContaining('grep and awk'),
      hint: 'Write `^/saw [0-9]`; `--fix` does it.',
    })
  })
})

it.each(['\\s', '\\S', '\\t', '\\b'])('suggests a replacement for %s', (construct) => {
  const { diagnostics } = checkTriggers(skill(trigger(`deploy${construct}it`)))
  const hints = diagnostics
    .filter(({ code }) => code === 'trigger-pattern-not-portable')
    .map(({ hint }) => hint)
  expect(hints).toEqual([expect.stringMatching(/^Write /)])
})

describe('a portable rewrite', () => {
  it.each([
    ['^/t \\d+', '^/t [0-9]+'],
    ['a\\Wb', 'a[^A-Za-z0-9_]b'],
    ['(?:alpha|beta)', '(alpha|beta)'],
    ['^/t .*?alpha', '^/t .*alpha'],
    ['[[:alpha:]_]', '[A-Za-z_]'],
    ['[\\d-]', '[0-9-]'],
    ['^\\/t', '^/t'],
    ['{name}', '[{]name}'],
    ['\\Aabc\\z', '^abc$'],
  ])('replaces %s by %s', (source, rewritten) => expect(portableRewrite(source)).toBe(rewritten))

  it.each([
    '\\d*{05}',
    'a\\sb',
    '\\bx',
    'alpha|',
    'ab{2,3}',
    '(?i)skill',
    '\\p{L}',
    '^/t plain',
    '(',
  ])('does not exist for %s', (source) => expect(portableRewrite(source)).toBeUndefined())

  it('changes only the pattern in the file', () => {
    const before = skill(
      `${trigger('^/t \\d+')}  # why\n  - match: "a\\\\d" # here\n    inject: references/b.md\n${trigger('^/x')}`,
    ).text
    const { text, changes } = fixTriggers(before, 'SKILL.md')
    expect(changes.map(({ line, to }) => [line, to])).toEqual([
      [5, '^/t [0-9]+'],
      [8, 'a[0-9]'],
    ])
    expect(text).toBe(before.replace("'^/t \\d+'", '"^/t [0-9]+"').replace('"a\\\\d"', '"a[0-9]"'))
    expect(fixTriggers(text, 'SKILL.md').changes).toEqual([])
  })
})

describe('an export into a body', () => {
  it.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
  ])(
    'changes nothing the second time with %s, and is removed without a trace',
    (_name, newline) => {
      const before = skill(trigger('^/saw a|b')).text.replaceAll('\n', newline)
      const one = exportTriggers({ ...skill(trigger('^/saw a|b')), text: before })
      expect(one.text).toContain('| `^/saw a\\|b` | `references/a.md` |')
      expect(one.text.replaceAll('\r\n', '\n').includes('\r')).toBe(false)
      const two = exportTriggers({ ...skill(trigger('^/saw a|b')), text: one.text })
      expect(two.text).toBe(one.text)
      expect(withoutExport(one.text)).toBe(before)
    },
  )

  it('is updated in place if the triggers change', () => {
    const one = exportTriggers(skill(trigger('^/saw a'))).text
    const changed = `${one.replace("'^/saw a'", "'^/saw b'")}\nThe end.\n`
    const triggers = readTriggers(changed, 'SKILL.md').triggers
    const two = exportTriggers({ ...skill(''), triggers, text: changed }).text
    expect(two).toContain('`^/saw b`')
    expect(two).not.toContain('`^/saw a`')
    expect(two.endsWith('\nThe end.\n')).toBe(true)
  })

  it('leaves a body with a damaged marker alone', () => {
    const { text } = skill(trigger('^/saw'), 'a\n<!-- skillrail:triggers -->\nb\n')
    const result = exportTriggers({ ...skill(trigger('^/saw')), text })
    expect(result.text).toBe(text)
    expect(result.diagnostics).toMatchObject([{ code: 'trigger-markers', severity: 'error' }])
  })
})

describe('a file of prompts', () => {
  it('is a JSON list or has one JSON value in each line', () => {
    const expected = [{ prompt: 'a', inject: ['b'] }]
    expect(readPromptCases('[{"prompt":"a","inject":["b"]}]', 'p.json').cases).toEqual(expected)
    expect(readPromptCases('\n{"prompt":"a","inject":["b"]}\n', 'p.jsonl').cases).toEqual(expected)
  })

  it.each([
    ['[1', 1],
    ['{"prompt": 1, "inject": []}', 1],
    ['{"prompt": "a"}', 1],
    ['{"prompt": "a", "inject": [1]}', 1],
    ['not JSON', 1],
  ])('reports %j with its line', (text, line) => {
    expect(readPromptCases(text, 'p.json')).toMatchObject({
      cases: [],
      diagnostics: [{ code: 'prompt-case-invalid', severity: 'error', line }],
    })
  })
})
