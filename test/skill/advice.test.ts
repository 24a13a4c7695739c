import { describe, expect, it } from 'vitest'
import { newSkillText } from '../../src/skill/serialize.ts'
import type { SkillFile } from '../../src/skill/model.ts'
import { validateReference } from '../../src/skill/reference/validate-reference.ts'
import { validateSkill } from '../../src/skill/validate.ts'

interface Given {
  description?: string
  body?: string
  files?: SkillFile[]
}

const good = 'Extracts text and tables from PDF files. Use when the user mentions PDFs or forms.'

function advice({ description = good, body = '', files }: Given): string[] {
  const text = `---\nname: a\ndescription: ${JSON.stringify(description)}\n---\n${body}`
  const options = { path: 'a/SKILL.md', directoryName: 'a', files }
  const { valid, diagnostics } = validateSkill(text, options)
  expect(valid).toBe(true)
  expect(diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([])
  return diagnostics.map(({ code, line }) => `${code}:${line}`)
}

const file = (path: string, executable = false): SkillFile => ({ path, executable, size: 1 })

describe('advice about a description', () => {
  it.each([
    good,
    'Formats commit messages whenever a commit is prepared.',
    'Review pull requests for security. Useful for auditing dependencies.',
    'Answers questions if the user asks about the API of the billing service.',
    'Handles "I need help" tickets in the support queue. Use when triaging.',
    '从 PDF 文件中提取文本和表格。Use when 用户提到 PDF。',
    'A description of what this skill does and when to use it.',
  ])('is empty for %j', (description) => {
    expect(advice({ description })).toEqual([])
  })

  it.each([
    ['Helps with PDFs.', ['description-no-occasion:3', 'description-vague:3']],
    ['Use when needed.', ['description-vague:3']],
    ['Use this skill when you need it.', ['description-vague:3']],
    ['Extracts text, tables and images from large PDF files.', ['description-no-occasion:3']],
    ['I can help you process Excel files when you need totals.', ['description-person:3']],
    ['Processes Excel files. We fill in totals when they are missing.', ['description-person:3']],
    ['You can use this to process Excel files and compute totals.', ['description-person:3']],
    ['Helps you write release notes when a version is tagged.', ['description-person:3']],
  ])('finds in %j: %j', (description, expected) => {
    expect(advice({ description })).toEqual(expected)
  })
})

describe('advice about a body', () => {
  it('counts lines and tokens', () => {
    expect(advice({ body: 'x\n'.repeat(500) })).toEqual([])
    expect(advice({ body: 'x\n'.repeat(501) })).toEqual(['body-too-many-lines:5'])
    expect(advice({ body: 'x'.repeat(20_000) })).toEqual([])
    expect(advice({ body: 'x'.repeat(20_001) })).toEqual(['body-too-many-tokens:5'])
  })

  it('checks the files that the body names, if a list of files is available', () => {
    const body = '\nSee [guide](references/guide.md) and scripts/run.py.\n'
    expect(advice({ body })).toEqual([])
    expect(advice({ body, files: [file('references/guide.md'), file('scripts/run.py')] })).toEqual(
      [],
    )
    expect(advice({ body, files: [] })).toEqual(['reference-missing:6', 'reference-missing:6'])
  })

  it('accepts a directory as a reference', () => {
    const files = [file('examples/a.md')]
    expect(advice({ body: '[examples](examples/) [root](./)', files })).toEqual([])
  })

  it.each([
    ['[a](references/aws/ec2.md)', ['reference-deep:5']],
    ['[a](references/../FORMS.md)', []],
    ['[a](../other/SKILL.md)', ['reference-outside:5']],
    ['[a](references/../../x.md)', ['reference-outside:5']],
  ])('finds in %j: %j', (body, expected) => {
    expect(advice({ body })).toEqual(expected)
  })
})

describe('advice about scripts', () => {
  it.each<[SkillFile[], string, string[]]>([
    [[file('scripts/run')], '', ['script-not-executable:5']],
    [[file('scripts/run.sh')], '', ['script-not-executable:5']],
    [[file('scripts/run.sh', true)], '', []],
    [[file('scripts/run.py'), file('scripts/lib.mjs'), file('scripts/README')], '', []],
    [[file('scripts/run.sh')], 'Call `bash scripts/run.sh`.', []],
    [[file('scripts/run.sh')], 'Call `scripts/run.sh`.', ['script-not-executable:5']],
    [[file('references/run.sh')], '', []],
  ])('is given for the script %j with the body %j', (files, body, expected) => {
    expect(advice({ body, files })).toEqual(expected)
  })
})

describe('a new skill', () => {
  it.each([
    ['pdf-processing', undefined],
    ['a', 'Extracts: text # and "tables". Use when asked about the PDF forms.'],
    ['true', undefined],
    ['007', undefined],
  ])('is valid without advice if it is named %j', (name, description) => {
    const text = newSkillText(name, description)
    const options = { path: 'SKILL.md', directoryName: name, files: [] }
    expect(validateSkill(text, options).diagnostics).toEqual([])
    expect(validateReference(text, options).diagnostics).toEqual([])
  })
})

describe('advice about references that refer on', () => {
  const texts: Readonly<Record<string, string>> = {
    'references/a.md':
      '[b](b.md), [c](references/c.md), [d](d.md), [self](a.md) and [up](../SKILL.md)',
    'references/b.md': 'See [e](e.md).',
    'references/d.md': '',
    'references/e.md': '',
    'references/c.md': 'scripts/run.py',
    'scripts/run.py': '[e](../references/e.md)',
  }
  const chains = (body: string): string[] => {
    const text = `---\nname: a\ndescription: ${good}\n---\n${body}`
    const files = Object.keys(texts).map((path) => file(path, true))
    const options = { path: 'a/SKILL.md', directoryName: 'a', files }
    const { diagnostics } = validateSkill(text, { ...options, readFile: (path) => texts[path] })
    return diagnostics.map(({ code, line, message }) => `${code}:${line} ${message.split('`')[3]}`)
  }

  it('names each document that only another document refers to', () => {
    expect(chains('\n[a](references/a.md)')).toEqual([
      'reference-chain:6 references/b.md',
      'reference-chain:6 references/c.md',
      'reference-chain:6 references/d.md',
    ])
  })

  it('is not given if the body or a script names the document too', () => {
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => `references/${name}.md`).join(' ')
    expect(chains(all)).toEqual([])
    expect(chains('Run scripts/run.py.')).toEqual([])
  })
})

it('gives one warning about a chain in the form of lists, flags and numbers', () => {
  const chain =
    'chain:\n    - b # first\n    - c # then\n  async: false\n  timeout: 5\n  gates: [c]'
  const text = `---\nname: a\ndescription: ${good}\nmetadata:\n  ${chain}\n  version: "1"\n---\n`
  const { diagnostics } = validateSkill(text, { path: 'a/SKILL.md', directoryName: 'a' })
  expect(diagnostics.map(({ code }) => code)).toEqual(['metadata-nested-extension'])
})
