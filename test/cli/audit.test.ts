import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliResult, runInProcess } from '../run-in-process.ts'

let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-audit-cli-'))
  mkdirSync(join(root, 'home'))
  write('.agents/skills/plain/SKILL.md', skill('plain', 'Run `curl https://a.example`.'))
  write('.agents/skills/hidden/SKILL.md', skill('hidden', 'a\u200b\u200bb'))
  write('.agents/skills/broken/SKILL.md', 'no frontmatter')
  write('other/p1ain/SKILL.md', skill('p1ain', 'Imitates.'))
  write(
    'other/triggered/SKILL.md',
    skill('triggered', 'x', 'triggers:\n  - match: "["\n    inject: a.md\n'),
  )
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, text: string): void {
  const file = join(root, 'project', path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function skill(name: string, body: string, more = ''): string {
  return `---\nname: ${name}\ndescription: Does ${name}. Use when asked for ${name}.\n${more}---\n${body}\n`
}

function skillrail(...args: string[]): Promise<CliResult> {
  return runInProcess(args, { cwd: join(root, 'project'), home: join(root, 'home') })
}

describe('skillrail audit', () => {
  it('groups findings by skill, with one line for each kind', async () => {
    const { code, stdout } = await skillrail('audit', 'plain')
    expect(code).toBe(0)
    expect(stdout).toBe(
      'plain  .agents/skills/plain  (1 file, 101 B of text)\n' +
        '  network-address      a.example  SKILL.md:5\n' +
        '  network-call         curl  SKILL.md:5\n' +
        '\n' +
        '1 skill audited: 0 errors, 0 warnings, 2 facts\n',
    )
  })

  it('audits every installed skill, broken ones too, and ends with 1 for an error', async () => {
    const { code, stdout } = await skillrail('audit')
    expect(code).toBe(1)
    expect(stdout).toContain(
      'SKILL.md:5: error: 2 invisible characters: U+200B U+200B [hidden-characters]',
    )
    expect(stdout).toContain('?  .agents/skills/broken')
    expect(stdout).toMatch(/3 skills audited: 1 error, 1 warning, 2 facts\n$/)
  })

  it('ends with 1 for a warning only with --fail-on warning', async () => {
    expect((await skillrail('audit', '.agents/skills/broken')).code).toBe(0)
    expect((await skillrail('audit', '--fail-on', 'warning', '.agents/skills/broken')).code).toBe(1)
  })

  it('names the installed skill that another name imitates', async () => {
    const { code, stdout } = await skillrail('audit', 'other/p1ain')
    expect(code).toBe(1)
    expect(stdout).toContain('looks like plain')
  })

  it('names links below a folder and does not follow them', async () => {
    mkdirSync(join(root, 'project/links'))
    symlinkSync('../.agents/skills/plain', join(root, 'project/links/plain'))
    write('links/own/SKILL.md', skill('own', 'x'))
    const { stdout, stderr } = await skillrail('audit', 'links')
    expect(stdout).toContain('1 skill audited')
    expect(stderr).toContain('links/plain: warning: is a link')
  })

  it('prints one JSON document of the documented shape', async () => {
    const { code, stdout } = await skillrail('audit', '--json', 'plain')
    expect(code).toBe(0)
    const answer: unknown = JSON.parse(stdout)
    expect(answer).toMatchObject({
      skills: [
        {
          name: 'plain',
          files: 1,
          findings: [
            {
              code: 'network-call',
              kind: 'capability',
              file: 'SKILL.md',
              line: 5,
              subject: 'curl',
            },
            { code: 'network-address', subject: 'a.example' },
          ],
        },
      ],
      diagnostics: [],
      summary: { audited: 1, errors: 0, warnings: 0, facts: 2 },
    })
  })

  it.each([
    ['audit', '.agents/skills', 'hidden-characters', '.agents/skills/hidden/SKILL.md'],
    ['validate', '.agents/skills', 'frontmatter-missing', '.agents/skills/broken/SKILL.md'],
    ['triggers check', './other/triggered', '', 'other/triggered/SKILL.md'],
  ])('prints one log with places for %s --format sarif', async (command, path, code, uri) => {
    const result = await skillrail(...command.split(' '), '--format', 'sarif', path)
    expect(result.code).toBe(1)
    const log: unknown = JSON.parse(result.stdout)
    expect(log).toMatchObject({
      version: '2.1.0',
      runs: [{ tool: { driver: { name: 'Skillrail' } } }],
    })
    const { rules }: { rules: { shortDescription?: { text: string } }[] } = JSON.parse(
      result.stdout,
    ).runs[0].tool.driver
    expect(rules.filter(({ shortDescription }) => shortDescription === undefined)).toEqual([])
    expect(result.stdout).toContain(`"uri": "${uri}"`)
    expect(result.stdout).toContain(code === '' ? '"level": "error"' : `"ruleId": "${code}"`)
  })

  it.each([
    [['audit', '--format', 'xml'], 2],
    [['audit', '--fail-on', 'info'], 2],
    [['audit', '--json', '--format', 'sarif'], 2],
    [['triggers', 'check', '--format', 'xml'], 2],
    [['audit', 'no-such-skill'], 3],
    [['audit', './no/such/path'], 3],
  ])('ends for %j with %i', async (args, code) => {
    expect((await skillrail(...args)).code).toBe(code)
  })
})
