import { readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validateReference } from '../../src/skill/validate.ts'
import { corpusFolder } from './_corpus.ts'
import { grammarText, mutatedText, ordinaryText, randomFrom } from './_fuzz-text.ts'
import { fileCases, frontmatterCases } from './_reference-cases.ts'

async function codesOf(content: string | Uint8Array, directoryName?: string): Promise<string> {
  const options = { path: 'SKILL.md', directoryName }
  const { valid, diagnostics } = await validateReference(content, options)
  expect(valid).toBe(diagnostics.length === 0)
  return diagnostics.map(({ code }) => code).join(' ')
}

describe('the profile `reference`', () => {
  it.each(frontmatterCases)(
    'agrees with the reference validator on %s',
    async (_, frontmatter, codes) => {
      const text = `---\n${frontmatter}---\n`
      expect(await codesOf(text)).toBe(codes)
      expect(await codesOf(Buffer.from(text))).toBe(codes)
    },
  )

  it.each(fileCases)(
    'agrees with the reference validator on a file with %s',
    async (_, text, codes) => {
      expect(await codesOf(text)).toBe(codes)
      expect(await codesOf(Buffer.from(text))).toBe(codes)
    },
  )

  it.each([
    ['the same name', 'a', 'a', ''],
    ['another name', 'a', 'b', 'name-directory-mismatch'],
    ['`.` as path, whose name is empty', 'a', '', 'name-directory-mismatch'],
    ['a composed directory name', 'cafe\u0301', 'caf\u00e9', ''],
    ['a full-width name', 'ａ', 'a', ''],
  ])('compares the directory: %s', async (_, name, directoryName, codes) => {
    expect(await codesOf(`---\nname: ${name}\ndescription: b\n---\n`, directoryName)).toBe(codes)
  })

  it('calls a file that is not UTF-8 invalid, wherever the byte is', async () => {
    const text = Buffer.from('---\nname: a\ndescription: b\n---\nbody')
    expect(await codesOf(Buffer.concat([text, Buffer.of(0xe9)]))).toBe('reference-crash')
  })

  it('reports the line and column in the file', async () => {
    const texts = ['---\nname: a\nlicense: [x]\n---\n', '--- &a b: c\n---\n']
    const [flow, inLine] = await Promise.all(
      texts.map((text) => validateReference(text, { path: 'p', directoryName: undefined })),
    )
    expect(flow?.diagnostics[0]).toMatchObject({ line: 3, column: 10 })
    expect(inLine?.diagnostics[0]).toMatchObject({ line: 1, column: 5 })
  })

  it('gives a verdict on any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const random = randomFrom(seed)
        const text = ordinaryText(random)
        for (const each of [text, grammarText(random), mutatedText(random, text)]) {
          expect(typeof (await codesOf(each))).toBe('string')
        }
      }),
      { numRuns: 1500 },
    )
  })

  it('gives a verdict on any bytes', async () => {
    const bytes = fc.uint8Array({ maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(bytes, bytes, async (frontmatter, body) => {
        const rule = Buffer.from('---\n')
        const content = Buffer.concat([rule, frontmatter, rule, body])
        expect(typeof (await codesOf(content))).toBe('string')
      }),
      { numRuns: 2000 },
    )
  })
})

describe('published skills', () => {
  it.skipIf(corpusFolder === undefined)(
    'have the verdict and messages of the reference validator (skipped without SKILLRAIL_CORPUS)',
    async () => {
      const folder = corpusFolder ?? ''
      const lines = readFileSync(path.join(folder, 'reference-verdicts.jsonl'), 'utf8')
        .trim()
        .split('\n')
      const different: string[] = []
      for (const line of lines) {
        const expected: Verdict = JSON.parse(line)
        const bytes = readFileSync(path.join(folder, expected.file))
        const directoryName = path.basename(path.dirname(expected.file))
        const options = { path: expected.file, directoryName }
        const { valid, diagnostics } = await validateReference(bytes, options)
        const classes = expected.classes.map((name) => codes[name])
        const same = JSON.stringify(classes) === JSON.stringify(diagnostics.map(({ code }) => code))
        if (valid !== expected.valid || !same) different.push(line)
      }
      expect(lines.length).toBeGreaterThan(600)
      expect(different).toEqual([])
    },
  )
})

interface Verdict {
  file: string
  valid: boolean
  classes: string[]
}

const codes: Readonly<Record<string, string | undefined>> = {
  'unknown top-level field': 'unknown-field',
  'name != directory': 'name-directory-mismatch',
  'name invalid chars': 'name-characters',
  'yaml: flow collection [..]/{..} (strictyaml only)': 'yaml-flow-collection',
}
