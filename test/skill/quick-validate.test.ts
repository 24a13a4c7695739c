import { execFileSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serializeSkill } from '../../src/skill/serialize.ts'
import { validateReference } from '../../src/skill/reference/validate-reference.ts'
import { validateSkill } from '../../src/skill/validate.ts'
import { anyFields } from './_generated.ts'

const script = new URL('../../skills/creating-skills/scripts/quick_validate.mjs', import.meta.url)
const corpus = process.env['SKILLRAIL_CORPUS'] ?? '../shared/corpus'
const fixtures = new URL('../fixtures', import.meta.url).pathname

interface QuickValidate {
  validateBytes(bytes: Uint8Array, directoryName: string): string[]
}

let quick: QuickValidate
let root: string

beforeAll(async () => {
  quick = await import(pathToFileURL(script.pathname).href)
  root = mkdtempSync(join(tmpdir(), 'skillrail-quick-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** What both say about one file, as one value to compare. */
function verdicts(bytes: Uint8Array, directoryName: string): { own: unknown; quick: unknown } {
  const { valid, diagnostics } = validateSkill(bytes, { path: 'SKILL.md', directoryName })
  const problems = quick.validateBytes(bytes, directoryName)
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  return {
    own: valid,
    quick:
      (problems.length === 0) === valid
        ? valid
        : { problems, errors: errors.map(({ code }) => code) },
  }
}

function skillFiles(directory: string): string[] {
  return globSync(['**/[Ss][Kk][Ii][Ll][Ll].md', '**/.*/**/SKILL.md'], {
    cwd: directory,
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function run(...paths: string[]): string {
  return execFileSync(process.execPath, [script.pathname, ...paths], {
    cwd: root,
    encoding: 'utf8',
  })
}

describe('the validator that the skill creating-skills carries', () => {
  const hasCorpus = existsSync(corpus)
  it.skipIf(!hasCorpus)(
    'judges every skill of the corpus as the spec profile does (needs the corpus)',
    () => {
      const files = skillFiles(corpus)
      expect(files.length).toBeGreaterThan(600)
      for (const file of files) {
        const { own, quick: other } = verdicts(readFileSync(file), basename(dirname(file)))
        expect({ file, verdict: other }).toEqual({ file, verdict: own })
      }
    },
  )

  it.skipIf(!existsSync(fixtures))(
    'judges every fixture as the spec profile does (needs the fixtures)',
    () => {
      for (const file of skillFiles(fixtures)) {
        const { own, quick: other } = verdicts(readFileSync(file), basename(dirname(file)))
        expect({ file, verdict: other }).toEqual({ file, verdict: own })
      }
    },
  )

  it.each([
    '---\nname: a\ndescription: b\n---\n',
    '\ufeff---\r\nname: a\r\ndescription: b\r\n---\r\n',
    '--- \nname: a\ndescription: "b: c" # d\n---\t\nBody --- \n',
    'name: a',
    '---\nname: a\ndescription: b\n',
    '---\n---\n',
    '---\n# only a comment\n---\n',
    '---\n- a\n---\n',
    '---\njust text\n---\n',
    '---\nname: a\ndescription: b: c\n---\n',
    '---\nname: a\nname: a\ndescription: b\n---\n',
    '---\nname: a\ndescription: &x b\n---\n',
    '---\nname: a\ndescription: *x\n---\n',
    '---\nname: a\ndescription: !!str b\n---\n',
    '---\nname: a\ndescription: @b\n---\n',
    '---\nname: a\ndescription: "b\n---\n',
    '---\nname: a\n\tdescription: b\n---\n',
    '---\nname: a\ndescription: |\n  Use: it\n\n  # no comment\nlicense: x\n---\n',
    '---\nname: a\ndescription: >-\n  folded\n  text\n---\n',
    '---\nname: a\ndescription: two\n  lines\n---\n',
    '---\nname: a\ndescription: two\n  lines: here\n---\n',
    '---\nname: a\n description: b\n---\n',
    '---\n  name: a\n  description: b\n---\n',
    '---\n{name: a, description: b}\n---\n',
    '---\nname: a\ndescription: b\nmetadata: {x: y}\n---\n',
    '---\nname: a\ndescription: b\nmetadata:\n  x: [y]\n---\n',
    '---\nname: a\ndescription: b\nmetadata:\n  __proto__: y\n---\n',
    '---\nname: a\ndescription: b\nallowed-tools: [A, "B(c, d)"]\n---\n',
    '---\nname: a\ndescription: b\nallowed-tools: [A, B\n---\n',
    '---\nname: a\ndescription: b\nallowed-tools: A(b\n---\n',
    '---\nname: a\ndescription: b\ntriggers:\n- match: x\n  inject: y.md\n---\n',
    '---\nname: a\ndescription: b\ntriggers:\n- match: x\n---\n',
    '---\nname: a\ndescription: b\nmetadata:\n  chain: x y\n  timeout: "-1"\n---\n',
    '---\nname: a\ndescription: b\nmetadata:\n  chain: ../x\n---\n',
    '---\nname: a\ndescription: b\nmetadata:\n  chain:\n    - x\n  gates: y\n---\n',
    '---\nname: a\ndescription: b\nhooks: "{}"\narguments: a b\n---\n',
    `---\nname: a\ndescription: b\nmetadata:\n${'  '.repeat(1)}x: ${'['.repeat(40)}${']'.repeat(40)}\n---\n`,
    `---\nname: a\ndescription: ${'x'.repeat(1025)}\n---\n`,
    '---\nname: a\ndescription: b\0\n---\n',
  ])('judges %j alike', (text) => {
    const { own, quick: other } = verdicts(Buffer.from(text), 'a')
    expect(other).toBe(own)
  })

  it('judges bytes that are not UTF-8 alike', () => {
    const { own, quick: other } = verdicts(Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff]), 'a')
    expect(other).toBe(own)
  })

  it('judges whatever Skillrail writes alike', () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const text = serializeSkill({ fields, body: '' })
        const { own, quick: other } = verdicts(Buffer.from(text), fields.name ?? '')
        expect(other).toBe(own)
      }),
      { numRuns: 300 },
    )
  })

  it('prints a verdict for each directory and ends with 1 where one is invalid', () => {
    for (const [name, text] of [
      ['good', '---\nname: good\ndescription: b\n---\n'],
      ['bad', '---\nname: Bad\ndescription: b\n---\n'],
    ] as const) {
      mkdirSync(join(root, name))
      writeFileSync(join(root, name, 'SKILL.md'), text)
    }
    expect(run('good')).toBe('good: valid\n')
    expect(() => run('good', 'bad')).toThrow(expect.objectContaining({ status: 1 }))
    expect(() => run()).toThrow(expect.objectContaining({ status: 2 }))
  })

  it('finds its own skill valid, without advice', () => {
    const directory = new URL('../../skills/creating-skills/', import.meta.url)
    const text = readFileSync(new URL('SKILL.md', directory), 'utf8')
    const files = ['references/fields.md', 'scripts/quick_validate.mjs'].map((path) => {
      expect(existsSync(new URL(path, directory))).toBe(true)
      return { path, executable: true, size: 1 }
    })
    const options = { path: 'SKILL.md', directoryName: 'creating-skills', files }
    expect(validateSkill(text, options).diagnostics).toEqual([])
    expect(validateReference(text, options).diagnostics).toEqual([])
  })
})
