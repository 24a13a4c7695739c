import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runInProcess } from '../run-in-process.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-overlay-'))
  mkdirSync(join(root, 'project/.git'), { recursive: true })
  write('home/.agents/skills/saw/SKILL.md', '---\nname: saw\ndescription: Saws.\n---\n# saw\n')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

async function check(...more: string[]): Promise<{ code: number | null; codes: string[] }> {
  const options = { cwd: join(root, 'project'), home: join(root, 'home') }
  const { code, stdout } = await runInProcess(['triggers', 'check', '--json', ...more], options)
  const { skills, diagnostics } = JSON.parse(stdout)
  const all = [
    ...skills.flatMap((skill: { diagnostics: object[] }) => skill.diagnostics),
    ...diagnostics,
  ]
  return { code, codes: all.map((one: { code: string }) => one.code) }
}

it.each([
  ['match: ^/saw\n    inject: gone.md', 'trigger-target-missing', 1],
  ['match: "^/saw ["\n    inject: a.md', 'pattern-invalid', 1],
  ['match: "^ saw"\n    inject: a.md', 'trigger-never-fires', 0],
  ['paths: ["nowhere/**"]\n    inject: a.md', 'trigger-paths-unmatched', 0],
])('reports a mistake in a trigger of an overlay: %s', async (trigger, expected, exit) => {
  write('project/.skillrail/a.md', 'TEXT')
  write('project/.skillrail/triggers.yaml', `saw:\n  - ${trigger}\n`)
  const { code, codes } = await check('--trust-workspace')
  expect(codes).toContain(expected)
  expect(code).toBe(exit)
})

it('reports that the overlay of an untrusted project has no effect', async () => {
  write('project/.skillrail/triggers.yaml', 'saw:\n  - match: ^/saw\n    inject: a.md\n')
  expect((await check()).codes).toEqual(['overlay-unused'])
})

describe.each([
  ['of the user', 'home/.config/skillrail'],
  ['of a trusted project', 'project/.skillrail'],
])('the triggers of an overlay %s', (_, place) => {
  const ask = async (...args: string[]) => {
    const options = { cwd: join(root, 'project'), home: join(root, 'home') }
    const { code, stdout } = await runInProcess([...args, '--trust-workspace', '--json'], options)
    return { code, answer: JSON.parse(stdout) }
  }
  const triggers = 'saw:\n  - match: ^/saw deep\n    inject: a.md\n'

  beforeEach(() => {
    write(`${place}/a.md`, 'TEXT')
    write(`${place}/triggers.yaml`, triggers)
    const cases = [
      { prompt: '/saw deep', inject: ['a.md'] },
      { prompt: '/saw', inject: [] },
    ]
    write('project/prompts.json', JSON.stringify(cases))
  })

  it.each(['saw', '../home/.agents/skills/saw'])(
    'fire in triggers check --prompts and eval as in the hook, for %s',
    async (reference) => {
      for (const command of ['check', 'eval']) {
        const { code, answer } = await ask(
          'triggers',
          command,
          reference,
          '--prompts',
          'prompts.json',
        )
        const verdicts = answer.prompts ?? answer.evaluations[0].prompts
        expect(verdicts.map(({ injected }: { injected: string[] }) => injected)).toEqual([
          ['a.md'],
          [],
        ])
        expect(code).toBe(0)
      }
    },
  )

  it('are compared with the files of the project', async () => {
    write('project/src/app.ts', '')
    const globs = "saw:\n  - paths: ['src/*.py', 'src/']\n    inject: a.md\n"
    write(`${place}/triggers.yaml`, globs)
    const { codes } = await check('--trust-workspace')
    expect(codes.filter((code) => code === 'trigger-paths-unmatched')).toHaveLength(1)
  })

  it('are not written into the skill by an export', async () => {
    const file =
      '---\nname: saw\ndescription: Saws.\ntriggers:\n  - match: ^/saw wood\n    inject: b.md\n---\n# saw\n'
    write('home/.agents/skills/saw/SKILL.md', file)
    write('home/.agents/skills/saw/b.md', 'TEXT')
    await ask('triggers', 'export', 'saw')
    const exported = readFileSync(join(root, 'home/.agents/skills/saw/SKILL.md'), 'utf8')
    expect(exported).toContain('b.md')
    expect(exported.split('---\n').at(-1)).not.toContain('/saw deep')
    expect((await check('--trust-workspace')).codes).not.toContain('trigger-export-outdated')
  })
})
