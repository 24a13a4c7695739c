import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Runtime } from '../../src/core/runtime.ts'
import { installHook, uninstallHook, uninstallProgram } from '../../src/hooks/install.ts'
import { TrustStore } from '../../src/trust/store.ts'
import { type Platform, platforms } from '../../src/hooks/adapters.ts'
import { makeFixture } from './_fixture.ts'

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
    'installs for %s and restores every byte on uninstallation (needs the build)',
    async (platform) => {
      const { home, runtime, write } = makeFixture()
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
  'removes only its own entries if another program has changed the file (needs the build)',
  async () => {
    const { runtime, write } = makeFixture()
    const path = write('.claude/settings.json', '{\n  "a": 1\n}\n')
    await installHook(runtime, 'claude', { scope: 'user' })
    writeFileSync(path, readFileSync(path, 'utf8').replace('"a": 1', '"a": 2'))
    await uninstallHook(runtime, 'claude', { scope: 'user' })
    expect(readFileSync(path, 'utf8')).toBe('{\n  "a": 2\n}\n')
  },
)

it.skipIf(!isBuilt)(
  'keeps the link to a settings file in another folder (needs the build)',
  async () => {
    const { runtime, write, home } = makeFixture()
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
    const { runtime, skill, write } = makeFixture()
    skill('large', [['^/large', 'a.md']])
    write('.agents/skills/large/a.md', 'x\n'.repeat(6000))
    const { parts, after } = await installHook(runtime, 'claude', { scope: 'user' })
    expect(parts).toBe(2)
    expect(after).toMatch(/skillrail-hook claude 1\/2[^]*skillrail-hook claude 2\/2/)
  },
)

it.skipIf(!isBuilt)('never overwrites a broken or foreign file (needs the build)', async () => {
  const { runtime, write } = makeFixture()
  const broken = write('.claude/settings.json', '{\n  "a": \n')
  await expect(installHook(runtime, 'claude', { scope: 'user' })).rejects.toThrow(`${broken}:3`)
  expect(readFileSync(broken, 'utf8')).toBe('{\n  "a": \n')
  const foreign = write('.copilot/hooks/0-skillrail.json', '{}')
  await expect(installHook(runtime, 'copilot', { scope: 'user' })).rejects.toThrow(
    'was not written by skillrail',
  )
  expect(readFileSync(foreign, 'utf8')).toBe('{}')
})

it.skipIf(!isBuilt)('writes nothing on a dry run (needs the build)', async () => {
  const { runtime, home } = makeFixture()
  const before = files(home)
  const change = await installHook(runtime, 'claude', { scope: 'user', dryRun: true })
  expect(change.after).toContain('skillrail-hook')
  expect(files(home)).toEqual(before)
})

it.skipIf(!isBuilt)('reports a home that cannot be written (needs the build)', async () => {
  const { runtime, home } = makeFixture()
  writeFileSync(join(home, '.local'), '')
  await expect(installHook(runtime, 'claude', { scope: 'user' })).rejects.toMatchObject({
    code: 'hook-unwritable',
  })
  expect(existsSync(join(home, '.claude'))).toBe(false)
})

it.skipIf(!isBuilt)('survives two installations at once (needs the build)', async () => {
  const { runtime, home } = makeFixture()
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
    const { runtime, home, project } = makeFixture()
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
  'writes into a project a command whose program no variable of the project chooses (needs the build)',
  async () => {
    const { runtime, home, project, write } = makeFixture()
    const data = join(home, 'data')
    const mine = { ...runtime, env: { ...runtime.env, XDG_DATA_HOME: data } }
    const before = Object.keys(files(home))
    await installHook(mine, 'claude', { scope: 'user' })
    const { after } = await installHook(mine, 'claude', { scope: 'project' })
    const { hooks } = JSON.parse(after ?? '')
    const [{ command }] = hooks.UserPromptSubmit[0].hooks
    write('project/.data/skillrail/hook/skillrail-hook', '#!/bin/sh\necho of the project\n')
    chmodSync(join(project, '.data/skillrail/hook/skillrail-hook'), 0o755)
    for (const value of [data, join(project, '.data'), '.data', undefined]) {
      const env = { HOME: home, PATH: '/usr/bin:/bin', XDG_DATA_HOME: value }
      const input = JSON.stringify({ session_id: 's', prompt: 'hello', cwd: project })
      const answer = spawnSync('sh', ['-c', command], {
        input,
        encoding: 'utf8',
        cwd: project,
        env,
      })
      expect([answer.stdout, answer.stderr]).toEqual(['', ''])
    }
    const launcher = join(home, '.local/share/skillrail/hook/skillrail-hook')
    writeFileSync(launcher, '#!/bin/sh\necho of the user\n')
    const env = { HOME: home, PATH: '/usr/bin:/bin', XDG_DATA_HOME: data }
    expect(execFileSync('sh', ['-c', command], { env, input: '', encoding: 'utf8' })).toContain(
      'of the user',
    )
    for (const scope of ['project', 'user'] as const) await uninstallHook(mine, 'claude', { scope })
    const left = Object.keys(files(home)).filter((path) => !/\.data|hooks.jsonl|\.cache/.test(path))
    expect(left).toEqual(before)
  },
)

it.skipIf(!isBuilt)(
  'calls the hook through the launcher, with the Node that exists (needs the build)',
  async () => {
    const { runtime, home, project, skill, write } = makeFixture()
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

it.skipIf(!isBuilt)('reads plugins with the installed libraries (needs the build)', async () => {
  const { runtime, home, project, write } = makeFixture()
  const skill = (place: string, name: string) => {
    const triggers = `triggers:\n  - match: ^/${name}\n    inject: a.md\n`
    write(
      `${place}/skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: For tests.\n${triggers}---\nDo.\n`,
    )
    write(`${place}/skills/${name}/a.md`, `FLOW OF ${name}`)
  }
  const $schema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
  write('.agents/plugins/one/plugin.json', JSON.stringify({ $schema, name: 'one' }))
  skill('.agents/plugins/one', 'portable')
  write('.codex/config.toml', '[plugins."two@market"]\nenabled = true\n')
  write('.codex/plugins/cache/market/two/1.0.0/.codex-plugin/plugin.json', '{ "name": "two" }')
  skill('.codex/plugins/cache/market/two/1.0.0', 'installed')
  await installHook(runtime, 'codex', { scope: 'user' })
  const launcher = join(home, '.local/share/skillrail/hook/skillrail-hook')
  for (const name of ['portable', 'installed']) {
    const input = JSON.stringify({ prompt: `/${name}`, cwd: project })
    const env = { HOME: home, PATH: '/usr/bin:/bin' }
    const { stdout, stderr } = spawnSync(launcher, ['codex'], { input, encoding: 'utf8', env })
    expect({ stdout, stderr }).toEqual({
      stdout: expect.stringContaining(`FLOW OF ${name}`),
      stderr: '',
    })
  }
})

it.skipIf(!isBuilt)(
  'reports a missing hook, and lets the prompt through (needs the build)',
  async () => {
    const { runtime, home } = makeFixture()
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
  'keeps the hook in one small file without YAML and schemas (needs the build)',
  () => {
    const hook = new URL('../../dist/hook/hook.cjs', import.meta.url)
    expect(statSync(hook).size).toBeLessThan(70_000)
    expect(readFileSync(hook, 'utf8')).not.toMatch(/require\(["'](?:yaml|zod|jsonc-parser)["']\)/)
  },
)

it.skipIf(!isBuilt)(
  'works with a read-only file in a writable home (needs the build)',
  async () => {
    const { runtime, write } = makeFixture()
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
  'restores %s %s with %j although foreign entries came and went (needs the build)',
  async (platform, path, text) => {
    const { runtime, write, home } = makeFixture()
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
  "keeps the user's empty object, and removes the list that it created (needs the build)",
  async () => {
    const { runtime, write } = makeFixture()
    const path = write('.claude/settings.json', '{ "hooks": {}, "a": 1 }\n')
    await installHook(runtime, 'claude', { scope: 'user' })
    writeFileSync(path, readFileSync(path, 'utf8').replace('"a": 1', '"a": 2'))
    await uninstallHook(runtime, 'claude', { scope: 'user' })
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ hooks: {}, a: 2 })
  },
)

it.skipIf(!isBuilt)(
  'keeps a file that it created if the file contains a foreign hook (needs the build)',
  async () => {
    const { runtime, home } = makeFixture()
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
  'removes a file that it created, even if foreign entries came and went (needs the build)',
  async () => {
    const { runtime, home } = makeFixture()
    await installHook(runtime, 'cursor', { scope: 'user' })
    const path = join(home, '.cursor/hooks.json')
    writeFileSync(path, `${readFileSync(path, 'utf8')}\n`)
    await uninstallHook(runtime, 'cursor', { scope: 'user' })
    expect(Object.keys(files(home))).toEqual([])
  },
)

describe.skipIf(!isBuilt)('the program that all hooks call', () => {
  const launcher = (home: string) => join(home, '.local/share/skillrail/hook/skillrail-hook')
  const elsewhere = (runtime: Runtime, home: string): Runtime => ({
    ...runtime,
    cwd: join(home, 'unrelated'),
  })

  it.each(platforms)(
    'stays when %s is removed from a project that has no hook (needs the build)',
    async (platform) => {
      const { runtime, home, write } = makeFixture()
      write('unrelated/.git/HEAD', '')
      await installHook(runtime, platform, { scope: 'project' })
      const before = files(home)
      await uninstallHook(elsewhere(runtime, home), platform, { scope: 'project' })
      await uninstallHook(elsewhere(runtime, home), platform, { scope: 'user' })
      expect(files(home)).toEqual(before)
    },
  )

  it('stays for hooks that came with a clone, whatever --project removes (needs the build)', async () => {
    const { runtime, home, write } = makeFixture()
    await installHook(runtime, 'claude', { scope: 'project' })
    const text = readFileSync(join(home, 'project/.claude/settings.json'), 'utf8')
    write('unrelated/.git/HEAD', '')
    write('unrelated/.claude/settings.json', text)
    await uninstallHook(runtime, 'claude', { scope: 'project' })
    expect(existsSync(launcher(home))).toBe(true)
  })

  it("stays after the user's last hook while a hook of a project calls it (needs the build)", async () => {
    const { runtime, home, write } = makeFixture()
    write('unrelated/.git/HEAD', '')
    await installHook(runtime, 'claude', { scope: 'project' })
    const other = elsewhere(runtime, home)
    await installHook(other, 'codex', { scope: 'user' })
    await uninstallHook(other, 'codex', { scope: 'user' })
    const caller = join(home, 'project/.claude/settings.json')
    expect(await uninstallProgram(other, { dryRun: false })).toMatchObject({
      action: 'kept',
      callers: [caller],
    })
    expect(existsSync(launcher(home))).toBe(true)
    rmSync(caller)
    expect(await uninstallProgram(other, { dryRun: true })).toMatchObject({ action: 'removed' })
    expect(existsSync(launcher(home))).toBe(true)
    expect(await uninstallProgram(other, { dryRun: false })).toMatchObject({ action: 'removed' })
    expect(existsSync(launcher(home))).toBe(false)
  })

  it('stays for the hook of a trusted project that came with a clone (needs the build)', async () => {
    const { runtime, home, write } = makeFixture()
    await installHook(runtime, 'claude', { scope: 'project' })
    const text = readFileSync(join(home, 'project/.claude/settings.json'), 'utf8')
    await uninstallHook(runtime, 'claude', { scope: 'project' })
    write('unrelated/.git/HEAD', '')
    write('unrelated/.claude/settings.json', text)
    const clone = join(home, 'unrelated')
    await new TrustStore(runtime).accept(clone, [], { pinned: false, newText: false })
    expect(await uninstallProgram(runtime, { dryRun: false })).toMatchObject({ action: 'kept' })
    expect(existsSync(launcher(home))).toBe(true)
  })
})
