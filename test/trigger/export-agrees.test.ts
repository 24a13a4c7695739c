import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exportTriggers } from '../../src/trigger/export-triggers.ts'
import { compilePattern } from '../../src/trigger/pattern.ts'
import { runInProcess } from '../run-in-process.ts'

let root: string
let skill: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-export-'))
  skill = join(root, '.agents/skills/ops')
  mkdirSync(join(skill, 'references'), { recursive: true })
  writeFileSync(join(skill, 'references/a.md'), 'TEXT '.repeat(2000))
})
afterEach(() => rmSync(root, { recursive: true }))

function write(triggers: string, body = '# ops\n'): void {
  const text = `---\nname: ops\ndescription: Operates things. Use for tests.\ntriggers:\n${triggers}---\n\n${body}`
  writeFileSync(join(skill, 'SKILL.md'), text)
}

function trigger(match: string): string {
  return `  - match: ${match}\n    inject: references/a.md\n`
}

async function ask(...args: readonly string[]) {
  const { code, stdout } = await runInProcess([...args, '--json'], { cwd: root, home: root })
  const answer: unknown = JSON.parse(stdout)
  return { code, answer: Object(answer) }
}

async function codes(command: readonly string[]): Promise<string[]> {
  const { answer } = await ask(...command)
  return answer.skills[0].diagnostics.map(({ code }: { code: string }) => code)
}

const checks = [
  ['triggers', 'check', 'ops'],
  ['validate', '.agents/skills/ops'],
]

describe('triggers export', () => {
  it('keeps a skill valid if its pattern would match its row of the table', async () => {
    write(trigger('deploy (to )?staging|roll back'))
    expect((await ask('triggers', 'export', 'ops')).code).toBe(0)
    const text = readFileSync(join(skill, 'SKILL.md'), 'utf8')
    expect(text).toContain('[d]eploy ([t]o )?[s]taging\\|[r]oll [b]ack')
    expect((await ask('validate', '.agents/skills/ops')).code).toBe(0)
  })

  it('writes nothing if the pattern would match the table in any form', async () => {
    write(trigger('references'))
    const before = readFileSync(join(skill, 'SKILL.md'), 'utf8')
    const { code, answer } = await ask('triggers', 'export', 'ops')
    expect([code, answer.written]).toEqual([1, false])
    expect(answer.diagnostics[0]).toMatchObject({ code: 'trigger-matches-body', severity: 'error' })
    expect(readFileSync(join(skill, 'SKILL.md'), 'utf8')).toBe(before)
  })

  it('never makes a valid skill invalid', async () => {
    const part = fc.constantFrom(
      'deploy',
      'a',
      'to ',
      '^/ops ',
      'x?',
      '(b|c)',
      '[de]',
      '.*',
      'prompt',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 4 }), async (parts) => {
        write(trigger(`'${parts.join('')}'`))
        const before = (await ask('validate', '.agents/skills/ops')).code
        await ask('triggers', 'export', 'ops', '--force')
        expect((await ask('validate', '.agents/skills/ops')).code).toBe(before)
      }),
      { numRuns: 40 },
    )
  })

  it('writes a pattern that matches the same lines', () => {
    const part = fc.constantFrom(
      'deploy',
      'a',
      ' ',
      'x?',
      '(b|cc)',
      '[de]+',
      '\\.',
      'y{2,3}',
      '[[:digit:]]',
      '$',
      '12',
    )
    const line = fc.array(
      fc.constantFrom('deploy', 'a', ' ', 'x', 'b', 'cc', 'd', '.', 'yy', '7', '12'),
      { maxLength: 6 },
    )
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), line, (parts, pieces) => {
        const match = parts.join('')
        const text = `---\nname: ops\ndescription: x\n---\n`
        const triggers = [{ match, inject: 'a.md', line: 1 }]
        const exported = exportTriggers({
          name: 'ops',
          directory: '',
          path: '',
          triggers,
          text,
        }).text
        const [, written = ''] = /\n\|---\|---\|\n\| `(.*?)` \|/.exec(exported) ?? []
        const [one, two] = [match, written.replaceAll('\\|', '|')].map(compilePattern)
        const typed = pieces.join('')
        expect(two?.ok && two.pattern.test(typed)).toBe(one?.ok && one.pattern.test(typed))
      }),
      { numRuns: 500 },
    )
  })

  it('checks with --check whether the export is up to date, and writes nothing', async () => {
    write(trigger('^/ops a'))
    expect(await ask('triggers', 'export', 'ops', '--check')).toMatchObject({
      code: 1,
      answer: { outdated: true, written: false },
    })
    await ask('triggers', 'export', 'ops')
    expect(await ask('triggers', 'export', 'ops', '--check')).toMatchObject({
      code: 0,
      answer: { outdated: false },
    })
  })
})

describe.each(checks)('%s %s after an export', (...command) => {
  it('warns of a table without the triggers', async () => {
    write(trigger('^/ops a'))
    expect(await codes(command)).not.toContain('trigger-export-outdated')
    await ask('triggers', 'export', 'ops')
    expect(await codes(command)).not.toContain('trigger-export-outdated')
    const path = join(skill, 'SKILL.md')
    const text = readFileSync(path, 'utf8').replace('match: ^/ops a', 'match: ^/ops b')
    writeFileSync(path, text)
    expect(await codes(command)).toContain('trigger-export-outdated')
  })

  it('warns of a trigger that only the hook reads', async () => {
    write(trigger('^/ops a'))
    await ask('triggers', 'export', 'ops')
    const path = join(skill, 'SKILL.md')
    const text = readFileSync(path, 'utf8').replace('match: ^/ops a', 'match: |\n      ^/ops a')
    writeFileSync(path, text)
    await ask('triggers', 'export', 'ops')
    expect(await codes(command)).toContain('trigger-format')
  })

  it('warns of a table without its script', async () => {
    write(trigger('^/ops a'))
    await ask('triggers', 'export', 'ops')
    rmSync(join(skill, 'scripts'), { recursive: true })
    expect(await codes(command)).toContain('trigger-export-outdated')
  })
})
