import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCli } from '../cli/run-cli.ts'
import { runInProcess } from '../run-in-process.ts'
import { isInProject, systemRuntime, userDirectories } from '../../src/core/runtime.ts'

function makeProject() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-places-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const project = join(base, 'project')
  const home = join(base, 'home')
  const write = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text, { mode })
  }
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(home)
  const skill = '.skillrail/skills/build'
  write(
    `${skill}/SKILL.md`,
    '---\nname: build\ndescription: Builds. Use for builds.\nmetadata:\n  triggers:\n    - match: "^build"\n      inject: a.md\n---\n',
  )
  write(`${skill}/a.md`, 'REFERENCE')
  write(`${skill}/scripts/run.sh`, '#!/bin/sh\ntouch "$HOME/ran"\n', 0o755)
  return { base, project, home, write }
}

type Folders = ReturnType<typeof makeProject>

/** What a repository brings: everything that trusting it would write for a user. */
async function bringTrust({ project, home }: Folders, into: string, below = '.local/state') {
  const accepted = await runInProcess(['trust', '--yes'], { cwd: project, home })
  expect(accepted.code).toBe(0)
  mkdirSync(dirname(join(into, below)), { recursive: true })
  cpSync(join(home, '.local/state'), join(into, below), { recursive: true })
  rmSync(join(home, '.local'), { recursive: true })
}

/** From a process of its own, which finds the home of the user in its environment. */
async function trustOf(cwd: string, home: string, env: Record<string, string>, words = ['list']) {
  const { stdout, stderr } = await runCli([...words, '--json'], { cwd, home, env })
  const { skills }: { skills: { name: string; scope: string; trust: string }[] } =
    JSON.parse(stdout)
  return { ...skills.find(({ name }) => name === 'build'), stderr }
}

const kinds = ['config', 'state', 'cache', 'data'] as const

describe('a directory of the user that a variable leads into the project', () => {
  it.each(kinds)('is not used for %s files', (kind) => {
    const { project, home } = makeProject()
    const variable = `XDG_${kind.toUpperCase()}_HOME`
    const runtime = { home, cwd: project, env: {} }
    const usual = userDirectories(runtime)[kind]
    for (const value of [project, join(project, '.ci'), join(project, 'not/yet/there')]) {
      expect(userDirectories({ ...runtime, env: { [variable]: value } })[kind]).toBe(usual)
    }
    const outside = join(home, 'elsewhere')
    const moved = userDirectories({ ...runtime, env: { [variable]: outside } })
    expect(moved[kind]).toBe(join(outside, 'skillrail'))
  })

  it('is recognised from a subdirectory, through a link and from a nested repository', () => {
    const { base, project } = makeProject()
    mkdirSync(join(project, 'a/b'), { recursive: true })
    mkdirSync(join(project, 'module/.git'), { recursive: true })
    symlinkSync(project, join(base, 'link'))
    for (const cwd of [project, join(project, 'a/b'), join(project, 'module')]) {
      expect(isInProject(join(project, '.state'), cwd)).toBe(true)
      expect(isInProject(join(base, 'link/missing/state'), cwd)).toBe(true)
      expect(isInProject(join(base, 'state'), cwd)).toBe(false)
    }
  })

  it('is accepted if the account’s home is a Git repository', () => {
    const { homedir } = userInfo()
    expect(isInProject(join(homedir, '.local/state'), homedir)).toBe(false)
  })

  it.each(['', '/', '/.', '/home'])('is never HOME at the project%s', (below) => {
    const { project } = makeProject()
    mkdirSync(`${project}${below}`, { recursive: true })
    const { home } = systemRuntime({ cwd: project, env: { HOME: `${project}${below}` } })
    expect(isInProject(home, project)).toBe(false)
  })
})

describe('a record of trust that a repository brings', () => {
  it('is ignored, and the message names the variable', async () => {
    const folders = makeProject()
    const { project, home } = folders
    await bringTrust(folders, join(project, '.ci'), 'state')
    const env = { XDG_STATE_HOME: join(project, '.ci/state') }
    const { trust, stderr } = await trustOf(project, home, env)
    expect(trust).toBe('untrusted')
    expect(stderr).toContain('XDG_STATE_HOME')
    const plan = await runInProcess(['run', 'build', '--dry-run', '--json'], {
      cwd: project,
      home,
      env,
    })
    expect(JSON.parse(plan.stdout).steps).toMatchObject([{ trust: 'untrusted' }])
  })

  it.each(['the project', 'a folder of it'])('is ignored in a HOME that is %s', async (what) => {
    const folders = makeProject()
    const { project, base } = folders
    const home = what === 'the project' ? project : join(project, '.home')
    await bringTrust(folders, home)
    // What the command keeps goes into the test's own directories.
    const env = Object.fromEntries(
      ['STATE', 'CACHE', 'DATA', 'CONFIG'].map((name) => [`XDG_${name}_HOME`, join(base, name)]),
    )
    delete env['XDG_STATE_HOME']
    const { trust, scope, stderr } = await trustOf(project, home, env)
    expect({ trust, scope }).toEqual({ trust: 'untrusted', scope: 'project' })
    expect(stderr).toContain('HOME')
  })

  it('is ignored if -C leads into the project', async () => {
    const folders = makeProject()
    const { project, home, base } = folders
    await bringTrust(folders, join(project, '.ci'), 'state')
    const env = { XDG_STATE_HOME: join(project, '.ci/state') }
    expect((await trustOf(base, home, env, ['-C', project, 'list'])).trust).toBe('untrusted')
  })
})

it('user settings inside a repository raise no rights', async () => {
  const { project, home, write } = makeProject()
  write('.ci/skillrail/config.json', '{ "workspaceTrust": "trusted" }')
  const env = { XDG_CONFIG_HOME: join(project, '.ci') }
  const { trust, stderr } = await trustOf(project, home, env)
  expect(trust).toBe('untrusted')
  expect(stderr).toContain('XDG_CONFIG_HOME')
})

it('all commands work with every user directory in the checkout, and write nothing there', async () => {
  const { project, home } = makeProject()
  const env = Object.fromEntries(
    kinds.map((kind) => [`XDG_${kind.toUpperCase()}_HOME`, join(project, '.ci', kind)]),
  )
  const options = { cwd: project, home, env }
  expect((await runInProcess(['trust', '--yes'], options)).code).toBe(0)
  expect((await runInProcess(['run', 'build'], options)).code).toBe(0)
  expect((await runInProcess(['runs', 'list', '--json'], options)).stdout).toContain('build')
  expect((await runInProcess(['list'], options)).code).toBe(0)
  expect(existsSync(join(project, '.ci'))).toBe(false)
})

describe('a plugin that a variable names in the project', () => {
  it.each(['.ci/plugin', 'link', '.'])('is not a plugin of the user: %s', async (place) => {
    const { project, home, write } = makeProject()
    write('.ci/plugin/skillrail-hook', '')
    symlinkSync(join(project, '.ci/plugin'), join(project, 'link'))
    for (const folder of ['.ci/plugin/skills', 'skills']) {
      cpSync(join(project, '.skillrail/skills'), join(project, folder), { recursive: true })
    }
    rmSync(join(project, '.skillrail'), { recursive: true })
    for (const value of [join(project, place), place]) {
      const env = { SKILLRAIL_PLUGIN: value }
      const listed = await runInProcess(['list', '--json'], { cwd: project, home, env })
      const { skills }: { skills: object[] } = JSON.parse(listed.stdout)
      expect(skills).toEqual([])
      expect(listed.stderr).toContain('SKILLRAIL_PLUGIN')
      const input = JSON.stringify({ session_id: 's', prompt: 'build', cwd: project })
      const options = { cwd: project, home, env, stdin: input }
      expect((await runInProcess(['hooks', 'run', 'claude'], options)).stdout).toBe('')
    }
    const outside = join(home, 'plugin')
    cpSync(join(project, '.ci/plugin'), outside, { recursive: true })
    const { trust } = await trustOf(project, home, { SKILLRAIL_PLUGIN: outside })
    expect(trust).toBe('trusted')
  })
})

describe('a state.directory in the project', () => {
  it("keeps runs under the user's key, and refuses runs of the repository under its own key", async () => {
    const folders = makeProject()
    const { project, home, base } = folders
    const env = { SKILLRAIL_STATE_DIRECTORY: join(project, '.ci') }
    const options = { cwd: project, home, env }
    await runInProcess(['trust', '--yes'], options)
    expect((await runInProcess(['run', 'build'], options)).code).toBe(0)
    expect((await runInProcess(['runs', 'list', '--json'], options)).stdout).toContain('build')
    expect(existsSync(join(project, '.ci/key'))).toBe(false)
    // Another user of the same path gets the journals and a key with them.
    cpSync(join(home, '.local/state/skillrail/key'), join(project, '.ci/key'))
    const other = { ...options, home: join(base, 'other') }
    mkdirSync(other.home)
    const shown = await runInProcess(['runs', 'show', 'latest', '--json'], other)
    expect(shown.stdout + shown.stderr).toContain('journal-foreign')
  })
})

it.each([
  ['CLAUDE_CONFIG_DIR', '.c', '.c/.claude.json', '{"mcpServers":{"x":COMMAND}}'],
  ['CODEX_HOME', '.c', '.c/config.toml', '[mcp_servers.x]\ncommand = "touch"\nargs = ["FILE"]\n'],
  [
    'OPENCODE_CONFIG',
    'o.json',
    'o.json',
    '{"mcp":{"x":{"type":"local","command":["touch","FILE"]}}}',
  ],
])('a server that %s moves into the project is not started', async (name, value, path, text) => {
  const { base, project, home, write } = makeProject()
  const file = join(base, 'started')
  const command = `{"command":"touch","args":["${file}"]}`
  write(path, text.replace('COMMAND', command).replace('FILE', file))
  const env = { [name]: join(project, value) }
  await runInProcess(['tools', 'refresh'], { cwd: project, home, env })
  expect(existsSync(file)).toBe(false)
})
