import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliResult, runInProcess } from '../../run-in-process.ts'

let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-validate-'))
  mkdirSync(join(root, 'home'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function skillrail(...args: string[]): Promise<CliResult> {
  return runInProcess(args, { cwd: join(root, 'project'), home: join(root, 'home') })
}

function write(path: string, text: string | Uint8Array): string {
  const file = join(root, 'project', path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const good = (name: string): string =>
  `---\nname: ${name}\ndescription: Extracts text from PDFs. Use when the user mentions forms.\n---\n\nBody.\n`

describe('skillrail validate', () => {
  beforeAll(() => {
    write('skills/good/SKILL.md', good('good'))
    write('skills/bad/SKILL.md', good('Bad'))
    write('skills/deep/er/SKILL.md', good('er'))
    write('skills/bytes/SKILL.md', Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff]))
    write('skills/node_modules/x/SKILL.md', 'broken')
    write('empty/README.md', 'nothing')
  })

  it('accepts a skill, a SKILL.md and the current directory, with one line of output', async () => {
    const line = '1 skill checked, valid: 0 errors, 0 warnings\n'
    for (const path of [
      'skills/good',
      'skills/good/',
      'skills/good/SKILL.md',
      './skills/../skills/good',
    ]) {
      expect(await skillrail('validate', path)).toEqual({ code: 0, stdout: line, stderr: '' })
    }
    const inside = await runInProcess(['validate'], {
      cwd: join(root, 'project/skills/good'),
      home: join(root, 'home'),
    })
    expect(inside).toEqual({ code: 0, stdout: line, stderr: '' })
  })

  it('searches folders, shows every place, and ends with 1 if one skill is invalid', async () => {
    const { code, stdout, stderr } = await skillrail('validate')
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toBe(
      `skills/bad/SKILL.md:2:7: error: The skill is named \`Bad\`, its directory \`bad\`. [name-directory-mismatch]
  Rename one of them.
skills/bad/SKILL.md:2:7: error: The name \`Bad\` has upper-case letters. [name-uppercase]
  Call it \`bad\`.
skills/bytes/SKILL.md: error: The file is not UTF-8 text. [file-not-utf8]
  Save it as UTF-8.
4 skills checked, 2 invalid: 3 errors, 0 warnings
`,
    )
  })

  it('prints one document with --json', async () => {
    const { code, stdout } = await skillrail('validate', 'skills', '--json')
    expect(code).toBe(1)
    const document = JSON.parse(stdout)
    expect(Object.keys(document)).toEqual(['skills', 'summary', 'directory', 'failOn'])
    expect(document.summary).toEqual({
      checked: 4,
      valid: 2,
      invalid: 2,
      errors: 3,
      warnings: 0,
      infos: 0,
    })
    const [bad, bytes, , er] = document.skills
    expect(Object.keys(bad)).toEqual(['path', 'name', 'valid', 'diagnostics'])
    expect(bad).toMatchObject({ path: 'skills/bad/SKILL.md', name: 'Bad', valid: false })
    expect(bad.diagnostics[0]).toMatchObject({
      code: 'name-directory-mismatch',
      line: 2,
      column: 7,
    })
    expect(bytes).toMatchObject({ name: null, valid: false })
    expect(er).toEqual({
      path: 'skills/deep/er/SKILL.md',
      name: 'er',
      valid: true,
      diagnostics: [],
    })
  })

  it('prints the same document with --format json, for any number of skills', async () => {
    for (const path of ['skills', 'skills/good']) {
      const [json, format] = await Promise.all([
        skillrail('validate', path, '--json'),
        skillrail('validate', path, '--format', 'json'),
      ])
      expect(format.stdout).toBe(json.stdout)
      expect(`${JSON.stringify(JSON.parse(json.stdout), null, 2)}\n`).toBe(json.stdout)
    }
  })

  it('annotates a workflow run with --format github', async () => {
    write('other/50%,a:b/SKILL.md', good('Bad'))
    const { stdout } = await skillrail('validate', 'other', '--format', 'github')
    expect(stdout.split('\n')[1]).toBe(
      '::error file=other/50%25%2Ca%3Ab/SKILL.md,line=2,col=7,title=name-uppercase::The name `Bad` has upper-case letters.%0ACall it `bad`.',
    )
  })

  it('applies the reference profile', async () => {
    write('quirk/SKILL.md', '---name: quirk\ndescription: a---')
    expect(await skillrail('validate', 'quirk', '--profile', 'reference')).toMatchObject({
      code: 0,
    })
    expect(await skillrail('validate', 'quirk')).toMatchObject({ code: 1 })
  })

  it("uses the skill's files for advice", async () => {
    write('advice/SKILL.md', `${good('advice')}[x](references/no.md)\n`)
    write('advice/scripts/run.sh', '#!/bin/sh\n')
    const { code, stdout } = await skillrail('validate', 'advice')
    expect(code).toBe(0)
    expect(stdout).toContain('[reference-missing]')
    expect(stdout).toContain('[script-not-executable]')
    expect((await skillrail('validate', 'advice', '--quiet')).stdout).not.toContain('info')
  })

  it('prints the errors of all skills first, then warnings, then advice, and counts each', async () => {
    write('order/a/SKILL.md', `${good('a')}[x](references/no.md)\n`)
    write('order/b/SKILL.md', good('b').replace('forms.', 'forms #pdf.'))
    write('order/c/SKILL.md', good('C'))
    const { stdout } = await skillrail('validate', 'order')
    const severities = [...stdout.matchAll(/: (error|warning|info): /g)].map(([, one]) => one)
    expect(severities).toEqual(['error', 'error', 'warning', 'info'])
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      '3 skills checked, 1 invalid: 2 errors, 1 warning, 1 info',
    )
    const { summary } = JSON.parse((await skillrail('validate', 'order', '--json')).stdout)
    expect(summary).toMatchObject({ errors: 2, warnings: 1, infos: 1 })
  })

  it('finds references that only another reference names', async () => {
    write('chain/SKILL.md', `${good('chain')}[x](references/a.md)\n`)
    write('chain/references/a.md', '[y](b.md)')
    write('chain/references/b.md', 'text')
    expect((await skillrail('validate', 'chain')).stdout).toContain('[reference-chain]')
  })

  it('reports a directory in the place of a SKILL.md and continues', async () => {
    mkdirSync(join(root, 'project/odd/dir/SKILL.md'), { recursive: true })
    write('odd/fine/SKILL.md', good('fine'))
    const { code, stdout } = await skillrail('validate', 'odd', '--json')
    expect(code).toBe(1)
    const { skills, summary } = JSON.parse(stdout)
    expect(summary).toMatchObject({ checked: 2, valid: 1, invalid: 1 })
    expect(skills[0].diagnostics[0].code).toBe('file-not-regular')
  })

  it('counts a skill once if the command names it twice', async () => {
    const { stdout } = await skillrail('validate', 'skills/good', 'skills/good/SKILL.md', '--json')
    expect(JSON.parse(stdout).summary.checked).toBe(1)
  })

  it.each([
    [['validate', 'nowhere'], 3, 'nowhere does not exist'],
    [['validate', 'empty'], 3, 'empty has no SKILL.md'],
    [['validate', '--profile', 'strict'], 2, 'allowed: spec, reference'],
    [['validate', '--format', 'xml'], 2, 'allowed: text, json, github, sarif'],
    [['validate', '--json', '--format', 'text'], 2, 'allowed with --json: json'],
  ])('ends for %j with %i', async (args, code, message) => {
    const result = await skillrail(...args)
    expect(result.code).toBe(code)
    expect(result.stdout + result.stderr).toContain(message)
  })

  it('makes control characters visible', async () => {
    write('hostile/SKILL.md', good('"\\e[31m\\u202ex"'))
    const { stdout } = await skillrail('validate', 'hostile')
    expect(stdout).not.toMatch(/[\u001b\u202e]/u)
    expect(stdout).toContain('\\x1b')
  })
})

describe('skillrail validate --fix', () => {
  const broken = `\ufeff---\r\nname: crooked\r\ndescription: Reads PDF files. Use when: a form is named\r\nallowed-tools: Read, Grep\r\n---\r\n\r\nBody.\r\n`
  const repaired = `---\nname: crooked\ndescription: "Reads PDF files. Use when: a form is named"\nallowed-tools: Read Grep\n---\n\nBody.\n`

  it('shows a diff with --dry-run and writes nothing', async () => {
    const file = write('crooked/SKILL.md', broken)
    const { code, stdout } = await skillrail('validate', 'crooked', '--fix', '--dry-run')
    expect(code).toBe(0)
    expect(stdout).toContain('--- a/crooked/SKILL.md\n+++ b/crooked/SKILL.md\n@@ -1,7 +1,7 @@\n')
    expect(stdout).toContain('-name: crooked^M\n')
    expect(stdout).toContain('+allowed-tools: Read Grep\n')
    expect(stdout).toContain('crooked/SKILL.md:4: would fix: ')
    expect(readFileSync(file, 'utf8')).toBe(broken)
    const json = await skillrail('validate', 'crooked', '--dry-run', '--json')
    expect(JSON.parse(json.stdout).skills[0]).toMatchObject({
      valid: true,
      changes: [{ line: 1 }, { line: 1 }, { line: 3 }, { line: 4 }],
      diff: expect.stringContaining('+name: crooked\n'),
    })
  })

  it('writes fixes through a link with the same mode, and then finds nothing to fix', async () => {
    const file = write('store/SKILL.md', broken)
    chmodSync(file, 0o640)
    mkdirSync(join(root, 'project/links/crooked'), { recursive: true })
    const link = join(root, 'project/links/crooked/SKILL.md')
    symlinkSync(file, link)
    const first = await skillrail('validate', 'links/crooked', '--fix')
    expect(first).toMatchObject({ code: 0 })
    expect(first.stdout.match(/: fixed: /g)).toHaveLength(4)
    expect(readFileSync(file, 'utf8')).toBe(repaired)
    expect(readFileSync(link, 'utf8')).toBe(repaired)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    const { stdout } = await skillrail('validate', 'links/crooked', '--fix')
    expect(stdout).toBe(
      'Nothing can be fixed automatically.\n1 skill checked, valid: 0 errors, 0 warnings\n',
    )
  })

  it('leaves a file unchanged that is not text', async () => {
    const bytes = Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0x0d, 0x0a])
    const file = write('raw/SKILL.md', bytes)
    expect(await skillrail('validate', 'raw', '--fix')).toMatchObject({ code: 1 })
    expect(readFileSync(file)).toEqual(bytes)
  })
})

describe('skillrail new', () => {
  it('creates a skill without findings of validate', async () => {
    const made = await skillrail('new', 'release-notes')
    expect(made).toMatchObject({ code: 0, stdout: '.agents/skills/release-notes/SKILL.md\n' })
    for (const profile of ['spec', 'reference']) {
      const { stdout } = await skillrail(
        'validate',
        '.agents/skills',
        '--json',
        '--profile',
        profile,
      )
      expect(JSON.parse(stdout).skills[0]).toMatchObject({ valid: true, diagnostics: [] })
    }
  })

  it.each([[], ['--dry-run']])('never overwrites %j', async (...options) => {
    const file = write('here/taken/SKILL.md', 'mine')
    const { code, stderr } = await skillrail('new', 'taken', '--dir', 'here', ...options)
    expect(code).toBe(1)
    expect(stderr).toContain('here/taken exists already; nothing was written')
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })

  it('prints the text with --dry-run', async () => {
    const description = 'Writes release notes: short ones. Use when a version is tagged.'
    const { code, stdout } = await skillrail(
      'new',
      'notes',
      '--dry-run',
      '--description',
      description,
    )
    expect(code).toBe(0)
    expect(stdout).toContain(`---\nname: notes\ndescription: ${JSON.stringify(description)}\n---\n`)
    expect(await skillrail('validate', '.agents/skills/notes')).toMatchObject({ code: 3 })
  })

  it.each(['Bad Name', '../escape', 'a--b', '-x'])('refuses the name %j', async (name) => {
    const { code, stderr } = await skillrail('new', '--', name)
    expect(code).toBe(2)
    expect(stderr).toContain('would not be valid')
  })

  it('shows advice about the description', async () => {
    const { code, stderr } = await skillrail('new', 'vague', '--description', 'Helps with PDFs.')
    expect(code).toBe(0)
    expect(stderr).toContain('[description-vague]')
  })
})

describe('skillrail new --schema', () => {
  it('prints the schema, or writes it', async () => {
    const { stdout } = await skillrail('new', '--schema')
    expect(JSON.parse(stdout)).toMatchObject({ title: 'Frontmatter of a SKILL.md' })
    expect(await skillrail('new', '--schema', '--output', 'out/schema.json')).toMatchObject({
      code: 0,
      stdout: '',
    })
    expect(readFileSync(join(root, 'project/out/schema.json'), 'utf8')).toBe(stdout)
  })
})
