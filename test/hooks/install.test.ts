import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installHook, uninstallHook } from '../../src/hooks/install.ts'
import { type Platform, platforms } from '../../src/hooks/adapters.ts'
import { makeWorld } from './_world.ts'

const isBuilt = existsSync(new URL('../../dist/hook/hook.cjs', import.meta.url))

/** Every file and its bytes, below a home. */
function files(home: string): Record<string, string> {
  const entries = readdirSync(home, { recursive: true, withFileTypes: true })
  return Object.fromEntries(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => [
        join(entry.parentPath, entry.name),
        readFileSync(join(entry.parentPath, entry.name), 'latin1'),
      ]),
  )
}

const existing: Partial<Record<Platform, [string, string]>> = {
  claude: [
    '.claude/settings.json',
    '{\r\n\t"hooks": {"UserPromptSubmit": [ ]},\r\n\t// odd   spacing\r\n\t"a":1}',
  ],
  codex: ['.codex/hooks.json', '{ "hooks": {} }'],
  gemini: ['.gemini/settings.json', '{"theme":"x"}\n\n\n'],
  cursor: ['.cursor/hooks.json', '{"version": 1, "hooks": {"stop": [{"command": "x"}]}}'],
  qwen: ['.qwen/settings.json', ''],
}

describe.skipIf(!isBuilt)('every client', () => {
  it.each(platforms)(
    'installs for %s and gives everything back to the byte (needs the build)',
    async (platform) => {
      const { home, runtime, write } = makeWorld()
      const [path, text] = existing[platform] ?? []
      if (path !== undefined && text !== undefined) write(path, text)
      const before = files(home)
      const { path: written, after } = await installHook(runtime, platform, { scope: 'user' })
      expect(readFileSync(written, 'utf8')).toBe(after)
      expect(after).toContain('skillrail-hook')
      const once = files(home)
      await installHook(runtime, platform, { scope: 'user' })
      expect(files(home)).toEqual(once)
      await uninstallHook(runtime, platform, { scope: 'user' })
      expect(files(home)).toEqual(before)
    },
  )
})

it.skipIf(!isBuilt)(
  'takes out only its own entries where somebody else has changed the file (needs the build)',
  async () => {
    const { runtime, write } = makeWorld()
    const path = write('.claude/settings.json', '{\n  "a": 1\n}\n')
    await installHook(runtime, 'claude', { scope: 'user' })
    writeFileSync(path, readFileSync(path, 'utf8').replace('"a": 1', '"a": 2'))
    await uninstallHook(runtime, 'claude', { scope: 'user' })
    expect(readFileSync(path, 'utf8')).toBe('{\n  "a": 2\n}\n')
  },
)

it.skipIf(!isBuilt)(
  'keeps the link of a settings file that lies elsewhere (needs the build)',
  async () => {
    const { runtime, write, home } = makeWorld()
    const target = write('dotfiles/settings.json', '{}\n')
    write('.claude/x', '')
    symlinkSync(target, join(home, '.claude/settings.json'))
    await installHook(runtime, 'claude', { scope: 'user' })
    expect(readFileSync(target, 'utf8')).toContain('skillrail-hook')
  },
)

it.skipIf(!isBuilt)(
  'registers for Claude Code as many parts as the largest skill needs (needs the build)',
  async () => {
    const { runtime, skill, write } = makeWorld()
    skill('large', [['^/large', 'a.md']])
    write('.agents/skills/large/a.md', 'x\n'.repeat(6000))
    const { parts, after } = await installHook(runtime, 'claude', { scope: 'user' })
    expect(parts).toBe(2)
    expect(after).toMatch(/skillrail-hook claude 1\/2[^]*skillrail-hook claude 2\/2/)
  },
)

it.skipIf(!isBuilt)(
  'never overwrites a file that is broken or not its own (needs the build)',
  async () => {
    const { runtime, write } = makeWorld()
    const broken = write('.claude/settings.json', '{\n  "a": \n')
    await expect(installHook(runtime, 'claude', { scope: 'user' })).rejects.toThrow(`${broken}:3`)
    expect(readFileSync(broken, 'utf8')).toBe('{\n  "a": \n')
    const foreign = write('.copilot/hooks/skillrail.json', '{}')
    await expect(installHook(runtime, 'copilot', { scope: 'user' })).rejects.toThrow(
      'was not written by skillrail',
    )
    expect(readFileSync(foreign, 'utf8')).toBe('{}')
  },
)

it.skipIf(!isBuilt)('writes nothing on a dry run (needs the build)', async () => {
  const { runtime, home } = makeWorld()
  const before = files(home)
  const change = await installHook(runtime, 'claude', { scope: 'user', dryRun: true })
  expect(change.after).toContain('skillrail-hook')
  expect(files(home)).toEqual(before)
})

it.skipIf(!isBuilt)(
  'says what is wrong with a home that cannot be written (needs the build)',
  async () => {
    const { runtime, home } = makeWorld()
    writeFileSync(join(home, '.local'), '')
    await expect(installHook(runtime, 'claude', { scope: 'user' })).rejects.toMatchObject({
      code: 'hook-unwritable',
    })
    expect(existsSync(join(home, '.claude'))).toBe(false)
  },
)

it.skipIf(!isBuilt)('survives two installations at once (needs the build)', async () => {
  const { runtime, home } = makeWorld()
  await Promise.all(
    ['claude', 'gemini', 'claude', 'codex'].map((platform) =>
      installHook(
        runtime,
        platform === 'claude' ? 'claude' : platform === 'gemini' ? 'gemini' : 'codex',
        {
          scope: 'user',
        },
      ),
    ),
  )
  const text = readFileSync(join(home, '.claude/settings.json'), 'utf8')
  expect(JSON.parse(text).hooks.UserPromptSubmit).toHaveLength(1)
  for (const platform of ['claude', 'gemini', 'codex'] as const) {
    await uninstallHook(runtime, platform, { scope: 'user' })
  }
  expect(Object.keys(files(home))).toEqual([])
})

it.skipIf(!isBuilt)(
  'writes into a project a command that does nothing for people without Skillrail (needs the build)',
  async () => {
    const { runtime, home, project } = makeWorld()
    const { after } = await installHook(runtime, 'claude', { scope: 'project' })
    const { hooks } = JSON.parse(after ?? '')
    const [command] = hooks.UserPromptSubmit[0].hooks.map(
      (hook: { command: string }) => hook.command,
    )
    const run = (HOME: string): string =>
      execFileSync('sh', ['-c', command], {
        input: '{"prompt":"hello"}',
        encoding: 'utf8',
        cwd: project,
        env: { HOME, PATH: '/usr/bin:/bin' },
      })
    expect(run(home)).toBe('')
    expect(run('/nonexistent')).toBe('')
    expect(after).not.toContain(home)
  },
)

it.skipIf(!isBuilt)(
  'calls the hook through the launcher, on the Node that is there (needs the build)',
  async () => {
    const { runtime, home, project, skill, write } = makeWorld()
    skill('saw', [['^/saw', 'a.md']])
    write('.agents/skills/saw/a.md', 'FLOW')
    await installHook(runtime, 'claude', { scope: 'user' })
    const launcher = join(home, '.local/share/skillrail/hook/skillrail-hook')
    expect(statSync(launcher).mode & 0o777).toBe(0o700)
    const input = JSON.stringify({ prompt: '/saw', cwd: project })
    const run = (env: Record<string, string>) =>
      spawnSync(launcher, ['claude'], { input, encoding: 'utf8', env: { HOME: home, ...env } })
    expect(run({ PATH: '/usr/bin:/bin', NODE_OPTIONS: '--require /gone' }).stdout).toContain('FLOW')
    const text = readFileSync(launcher, 'utf8')
    writeFileSync(
      launcher,
      text.replaceAll(process.execPath, '/gone').replaceAll(/ \/\S*\/bin\/node/g, ' /gone'),
    )
    const bin = join(home, 'bin')
    write('bin/x', '')
    symlinkSync('/bin/cat', join(bin, 'cat'))
    const { status, stdout, stderr } = run({ PATH: bin })
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
    expect(stderr).toContain('no Node was found')
    symlinkSync(process.execPath, join(bin, 'node'))
    expect(run({ PATH: bin }).stdout).toContain('FLOW')
  },
)

it.skipIf(!isBuilt)(
  'says so where the hook itself is gone, and lets the prompt through (needs the build)',
  async () => {
    const { runtime, home } = makeWorld()
    await installHook(runtime, 'claude', { scope: 'user' })
    const launcher = join(home, '.local/share/skillrail/hook/skillrail-hook')
    writeFileSync(
      launcher,
      readFileSync(launcher, 'utf8').replace(/^entry=.*/m, 'entry=/gone/hook.cjs'),
    )
    const { status, stdout, stderr } = spawnSync(launcher, ['claude'], {
      input: '{"prompt":"x"}',
      encoding: 'utf8',
      env: { HOME: home, PATH: '/usr/bin:/bin' },
    })
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
    expect(stderr).toContain('npx skillrail hooks install')
  },
)

it.skipIf(!isBuilt)(
  'holds the hook to one small file without YAML and schemas (needs the build)',
  () => {
    const hook = new URL('../../dist/hook/hook.cjs', import.meta.url)
    expect(statSync(hook).size).toBeLessThan(56_000)
    expect(readFileSync(hook, 'utf8')).not.toMatch(/require\(["'](?:yaml|zod|jsonc-parser)["']\)/)
  },
)

it.skipIf(!isBuilt)(
  'works with a file that may not be written and a home that may (needs the build)',
  async () => {
    const { runtime, write } = makeWorld()
    const path = write('.claude/settings.json', '{}')
    chmodSync(path, 0o444)
    await installHook(runtime, 'claude', { scope: 'user' })
    expect(statSync(path).mode & 0o777).toBe(0o444)
  },
)

const nothingElse: [Platform, string, string][] = [
  ['claude', '.claude/settings.json', '{ "hooks": {} }'],
  ['claude', '.claude/settings.json', '{\n  "hooks": {\n    "UserPromptSubmit": [ ]\n  }\n}\n'],
  ['codex', '.codex/hooks.json', '{ }'],
  ['cursor', '.cursor/hooks.json', '{}'],
  ['gemini', '.gemini/settings.json', ''],
]
it.skipIf(!isBuilt).each(nothingElse)(
  'gives %s %s with %j back although others came and went (needs the build)',
  async (platform, path, text) => {
    const { runtime, write, home } = makeWorld()
    const file = write(path, text)
    await installHook(runtime, platform, { scope: 'user' })
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n\n`)
    await installHook(runtime, platform, { scope: 'user' })
    await uninstallHook(runtime, platform, { scope: 'user' })
    const left = readFileSync(join(home, path), 'utf8')
    expect(left === text || left === `${text}\n\n`).toBe(true)
  },
)

it.skipIf(!isBuilt)(
  'keeps an empty object of the user, and takes the list that it made (needs the build)',
  async () => {
    const { runtime, write } = makeWorld()
    const path = write('.claude/settings.json', '{ "hooks": {}, "a": 1 }\n')
    await installHook(runtime, 'claude', { scope: 'user' })
    writeFileSync(path, readFileSync(path, 'utf8').replace('"a": 1', '"a": 2'))
    await uninstallHook(runtime, 'claude', { scope: 'user' })
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ hooks: {}, a: 2 })
  },
)

it.skipIf(!isBuilt)(
  'keeps what it made once it holds the hook of another (needs the build)',
  async () => {
    const { runtime, home } = makeWorld()
    await installHook(runtime, 'claude', { scope: 'user' })
    const path = join(home, '.claude/settings.json')
    const text = readFileSync(path, 'utf8')
    const foreign = '{ "hooks": [{ "type": "command", "command": "theirs" }] }'
    writeFileSync(path, text.replace('"UserPromptSubmit": [', `"UserPromptSubmit": [${foreign},`))
    await uninstallHook(runtime, 'claude', { scope: 'user' })
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      hooks: { UserPromptSubmit: [JSON.parse(foreign)] },
    })
  },
)

it.skipIf(!isBuilt)(
  'takes a file away that it made, also when others came and went (needs the build)',
  async () => {
    const { runtime, home } = makeWorld()
    await installHook(runtime, 'cursor', { scope: 'user' })
    const path = join(home, '.cursor/hooks.json')
    writeFileSync(path, `${readFileSync(path, 'utf8')}\n`)
    await uninstallHook(runtime, 'cursor', { scope: 'user' })
    expect(Object.keys(files(home))).toEqual([])
  },
)
