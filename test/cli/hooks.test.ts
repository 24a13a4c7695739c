import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { CliResult } from '../run-in-process.ts'
import { runCli } from './run-cli.ts'

const isBuilt = existsSync(new URL('../../dist/hook/hook.cjs', import.meta.url))

function fixture() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'agent-home-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const cwd = join(home, 'project')
  const write = (path: string, text: string): string => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
    return join(home, path)
  }
  write('project/.git/HEAD', '')
  write(
    '.agents/skills/saw/SKILL.md',
    '---\nname: saw\ndescription: For tests.\ntriggers:\n  - match: ^/saw\n    inject: flow.md\n---\n',
  )
  write('.agents/skills/saw/flow.md', 'FLOW\n')
  // No client that this machine may have.
  const bin = join(home, 'bin')
  mkdirSync(bin)
  symlinkSync(process.execPath, join(bin, 'node'))
  const run = (args: readonly string[], stdin?: string): Promise<CliResult> =>
    runCli(args, { cwd, home, stdin, env: { PATH: bin } })
  return { home, cwd, write, run }
}

it.skipIf(!isBuilt)(
  'shows the difference, installs the hook, and restores everything (needs the build)',
  async () => {
    const { write, run, home } = fixture()
    const path = write('.claude/settings.json', '{\n  "theme": "dark"\n}\n')
    const dry = await run(['hooks', 'install', '--dry-run'])
    expect(dry.stdout).toContain(`Claude Code: would be changed: ${path}`)
    expect(dry.stdout).toContain('+  "theme": "dark",')
    expect(readFileSync(path, 'utf8')).not.toContain('skillrail')
    expect((await run(['hooks', 'install'])).code).toBe(0)
    expect((await run(['hooks', 'install'])).stdout).toContain('nothing to change')
    const status = await run(['hooks', 'status'])
    expect(status.stdout).toMatch(/Claude Code\s+not found\s+you: installed\s+project: absent/)
    expect(status.stdout).toMatch(/one call\s+\d+ ms\s+as it should be/)
    expect(status.code).toBe(0)
    const doctor = await run(['doctor', '--probe'])
    expect(doctor.stdout).toMatch(/Claude Code probe\s+answered in \d+ ms/)
    const removed = await run(['hooks', 'uninstall'])
    expect(removed.code).toBe(0)
    const program = join(home, '.local/share/skillrail/hook')
    expect(removed.stdout).toMatch(/hook program\s+removed/)
    expect(removed.stdout).toContain(program)
    expect(existsSync(program)).toBe(false)
    const [, folders = ''] = /To remove them too: rm -r (.*)/.exec(removed.stderr) ?? []
    expect(folders).toContain(join(home, '.local/state/skillrail'))
    for (const folder of folders.split(' ')) expect(existsSync(folder)).toBe(true)
    expect(readFileSync(path, 'utf8')).toBe('{\n  "theme": "dark"\n}\n')
  },
)

it.skipIf(!isBuilt)(
  'ends with 1 for a hook that will not run, and names the line of a broken file (needs the build)',
  async () => {
    const { write, run, home } = fixture()
    await run(['hooks', 'install', 'claude', '--quiet'])
    rmSync(join(home, '.local/share/skillrail'), { recursive: true })
    expect((await run(['hooks', 'status'])).code).toBe(1)
    const path = write('.gemini/settings.json', '{\n"a"\n')
    const { code, stdout } = await run(['hooks', 'install', 'gemini', 'qwen', '--json'])
    expect(code).toBe(1)
    const { changes, errors } = JSON.parse(stdout)
    expect(changes).toMatchObject([{ platform: 'qwen', changed: true }])
    expect(errors).toMatchObject([{ platform: 'gemini', code: 'client-configuration-broken' }])
    expect(errors[0].message).toContain(`${path}:3`)
  },
)

it.skipIf(!isBuilt)(
  'recommends no installation for a hook that the client cannot read (needs the build)',
  async () => {
    const { write, run } = fixture()
    write('.claude/settings.json', '{\n  // a comment\n  "theme": "dark"\n}\n')
    await run(['hooks', 'install', 'claude'])
    const { stdout } = await run(['hooks', 'status', 'claude'])
    expect(stdout).toContain('no chain runs as a rail: Claude Code cannot read the file')
    expect(stdout).not.toContain('skillrail hooks install')
    expect((await run([])).stdout).toContain('skillrail hooks status claude')
  },
)

it('reports that a client has no hook to remove', async () => {
  const { run, home } = fixture()
  const { code, stdout } = await run(['hooks', 'uninstall', 'claude'])
  expect(code).toBe(0)
  expect(stdout).toBe(`Claude Code  nothing to change  ${join(home, '.claude/settings.json')}\n`)
})

it('answers a prompt as a hook, and logs the prompt', async () => {
  const { run, cwd } = fixture()
  const { code, stdout } = await run(
    ['hooks', 'run', 'copilot'],
    JSON.stringify({ prompt: '/saw x', cwd }),
  )
  expect(code).toBe(0)
  expect(JSON.parse(stdout).additionalContext).toContain('FLOW')
  const log = await run(['hooks', 'log'])
  expect(log.stdout).toContain('/saw x\n  + saw/flow.md (5 characters)\n')
  const { traces } = JSON.parse((await run(['hooks', 'log', '--json'])).stdout)
  expect(traces).toMatchObject([{ platform: 'copilot', prompt: '/saw x', withheld: [] }])
})

it('never fails a prompt, and refuses a client that does not exist', async () => {
  const { run } = fixture()
  const broken = await run(['hooks', 'run', 'claude'], 'no json')
  expect(broken).toMatchObject({ code: 0, stdout: '' })
  expect(broken.stderr).toContain('standard input holds no JSON')
  const unknown = await run(['hooks', 'run', 'cloude'], '{}')
  expect(unknown.code).toBe(2)
  expect(unknown.stderr).toContain('Did you mean claude?')
  expect((await run(['hooks', 'install'])).code).toBe(2)
})

it.skipIf(!isBuilt)(
  'reports whether a hook will run in this folder, and what the client does not tell (needs the build)',
  async () => {
    const { run, home } = fixture()
    await run(['hooks', 'install', 'gemini', '--quiet'])
    const status = await run(['hooks', 'status'])
    expect(status.code).toBe(0)
    expect(status.stdout).toMatch(/Gemini CLI\s.*without: compaction, subagents\n/)
    const step = 'Trust the folder in Gemini CLI: it runs hooks only in folders that you trust.'
    expect(status.stdout).toContain(step)
    expect((await run(['doctor', '--json'])).stdout).toContain(step)
    const { platforms } = JSON.parse((await run(['hooks', 'status', '--json'])).stdout)
    expect(platforms).toContainEqual(
      expect.objectContaining({
        platform: 'gemini',
        folder: { state: 'unknown', reason: expect.any(String) },
        runs: { user: { answer: 'unknown', reason: expect.any(String), step } },
        steps: [step],
      }),
    )
    writeFileSync(join(home, 'bin/gemini'), '#!/bin/sh\n', { mode: 0o755 })
    rmSync(join(home, '.local/share/skillrail'), { recursive: true })
    expect((await run(['hooks', 'status'])).stdout).toContain('Run: skillrail hooks install')
  },
)
