import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkTriggers } from '../../src/trigger/check.ts'
import { type KnownServers, unknownTool } from '../../src/trigger/never-fires.ts'
import { filesFor } from '../../src/trigger/project-files.ts'
import { readTriggers } from '../../src/trigger/read-triggers.ts'
import { globPattern, matchToolCall } from '../../src/trigger/tool-call.ts'
import { compilePattern } from '../../src/trigger/pattern.ts'

let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-never-'))
  write('.git/HEAD', '')
  write('infra/network/main.tf', '')
  write('src/app.ts', '')
  write('node_modules/x/index.js', '')
  write('.agents/skills/ops/references/a.md', 'A')
  write('.agents/skills/ops/references/empty.md', ' \n')
})
afterAll(() => rmSync(root, { recursive: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function codesOf(trigger: string, inject = 'references/a.md', servers?: KnownServers): string[] {
  const directory = join(root, '.agents/skills/ops')
  const path = join(directory, 'SKILL.md')
  const text = `---\nname: ops\ndescription: x\ntriggers:\n  - ${trigger}\n    inject: ${inject}\n---\n# ops\n`
  const { triggers } = readTriggers(text, path)
  const skill = { name: 'ops', directory, path, triggers, text, body: '# ops\n' }
  const runtime = { cwd: join(root, 'src'), home: '/nowhere' }
  return checkTriggers(skill, { files: filesFor(skill, runtime), servers })
    .diagnostics.map(({ code }) => code)
    .filter((code) => code !== 'trigger-small-skill')
}

describe('a trigger that cannot fire', () => {
  it.each([
    ['infra/*', ['trigger-paths-unmatched']],
    ['infra', ['trigger-paths-unmatched']],
    ['infra/*.tf', ['trigger-paths-unmatched']],
    ['Src/**', ['trigger-paths-unmatched']],
    ['*.py', ['trigger-paths-unmatched']],
    ['node_modules/**', ['trigger-paths-unmatched']],
    ['infra/', []],
    ['./infra/', []],
    ['infra/**', []],
    ['main.tf', []],
    ['**/', []],
    ['*.{py,ts}', []],
  ])('is reported for the glob %s if no file of the project matches', (glob, codes) => {
    expect(codesOf(`paths: '${glob}'`)).toEqual(codes)
  })

  it.each([
    ['^ git push', ['trigger-never-fires']],
    ['^git  push', ['trigger-never-fires']],
    ['cd x && git push', ['trigger-never-fires']],
    ['curl .* [|] sh', []],
    ['curl .* \\| sh', ['trigger-never-fires']],
    ['^git commit -m "wip"', ['trigger-never-fires']],
    ['^ls # all', ['trigger-never-fires']],
    ['^CI=1 npm test', []],
    ['^git push', []],
    ['--force', []],
    ['> /etc', []],
    ['push ', []],
    ['^sudo ', []],
    ['^(npm|pnpm) run', []],
    ['git push', ['trigger-command-anywhere']],
  ])('is reported for the command %s if no shell line matches', (pattern, codes) => {
    expect(codesOf(`command: '${pattern}'`)).toEqual(codes)
  })

  it.each([
    ['mcp__db__query', []],
    ['mcp__db', []],
    ['mcp__*__query', []],
    ['mcp__d*__*', []],
    ['mcp__my_notes__add', []],
    ['mcp__files__read', []],
    ['mcp__db__querry', ['trigger-tool-unknown']],
    ['mcp__db__drop_*', ['trigger-tool-unknown']],
    ['mcp__dbb__query', ['trigger-tool-unknown']],
    ['mcp_db_query', ['trigger-never-fires']],
    ['mcp__', ['trigger-never-fires']],
    ['mcp__db__', ['trigger-never-fires']],
    ['mcp__db__query(a)', ['trigger-never-fires']],
    ['mcp__db__query, mcp__db__list', ['trigger-never-fires']],
    ['db__query', ['trigger-never-fires']],
    ['Bash', ['trigger-never-fires']],
  ])('is reported for the tool %s if no server has such a tool', (pattern, codes) => {
    const tools: Readonly<Record<string, readonly string[]>> = {
      db: ['query', 'list'],
      'my notes': ['add'],
    }
    const names = [...Object.keys(tools), 'files']
    const servers = { names, toolsOf: (name: string) => tools[name] }
    expect(codesOf(`tool: '${pattern}'`, 'references/a.md', servers)).toEqual(codes)
  })

  it('names the server or the tool that a misspelled one may mean', () => {
    const servers = { names: ['db'], toolsOf: () => ['query'] }
    expect(unknownTool('mcp__dbb__query', servers)?.hint).toBe('Did you mean db?')
    expect(unknownTool('mcp__db__querry', servers)?.hint).toBe('Did you mean query?')
  })

  it('is reported for a prompt that would have to begin with a blank', () => {
    expect(codesOf(`match: '^ /ops'`)).toContain('trigger-never-fires')
    expect(codesOf(`match: '^ */ops'`)).not.toContain('trigger-never-fires')
  })

  it('is reported for a reference without text', () => {
    expect(codesOf(`match: '^/ops'`, 'references/empty.md')).toEqual(['trigger-target-empty'])
  })

  it('is never reported for a command that fires on its own text', async () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9./_-]{0,6}$/)
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 4 }), async (words) => {
        const pattern = `^${words.join(' ').replaceAll('.', '\\.')}`
        const when = { kind: 'command', pattern, require: false } as const
        const trigger = { match: pattern, inject: 'a.md', line: 1, when }
        const skill = { name: 's', directory: '/s', path: '/s/SKILL.md', triggers: [trigger] }
        const call = { kind: 'shell', paths: [], command: words.join(' ') } as const
        const matches = await matchToolCall(call, [skill], { cwd: '/', root: '/' })
        const isSilent = !codesOf(`command: '${pattern}'`).includes('trigger-never-fires')
        expect(isSilent || matches.length === 0).toBe(true)
      }),
    )
  })
})

it('reads a folder as every file below it', () => {
  const name = fc.stringMatching(/^[a-z]{1,4}$/)
  fc.assert(
    fc.property(
      fc.array(name, { minLength: 1, maxLength: 3 }),
      fc.array(name, { minLength: 1, maxLength: 3 }),
      (folder, rest) => {
        const reading = compilePattern(globPattern(`${folder.join('/')}/`))
        expect(reading.ok && reading.pattern.test([...folder, ...rest].join('/'))).toBe(true)
        expect(reading.ok && reading.pattern.test(['z9', ...folder, ...rest].join('/'))).toBe(false)
        expect(reading.ok && reading.pattern.test(folder.join('/'))).toBe(false)
      },
    ),
  )
})
