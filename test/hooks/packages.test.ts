import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const repository = fileURLToPath(new URL('../..', import.meta.url))

it('the client packages match the entries that the adapters register', () => {
  const check = ['dev/plugins.mjs', '--check']
  expect(execFileSync(process.execPath, check, { cwd: repository, encoding: 'utf8' })).toBe('')
})

const variables = {
  claude: 'CLAUDE_PLUGIN_ROOT',
  copilot: 'COPILOT_PLUGIN_ROOT',
  gemini: 'extensionPath',
  opencode: 'SKILLRAIL_PLUGIN',
  pi: 'SKILLRAIL_PLUGIN',
  qwen: 'CLAUDE_PLUGIN_ROOT',
}

/** Every command that the package registers. */
function commandsOf(client: string): string[] {
  const path = { opencode: 'index.js', pi: 'index.ts' }[client] ?? 'hooks/hooks.json'
  const text = readFileSync(join(repository, 'plugins', client, path), 'utf8')
  const strings = text.matchAll(/(?:"command": |"bash": |const command = )("(?:[^"\\]|\\.)*")/g)
  return [...strings].map(([, literal = '']) => String(JSON.parse(literal)))
}

describe.each(Object.entries(variables))('the package for %s', (client, variable) => {
  const launcher = readFileSync(join(repository, 'plugins', client, 'skillrail-hook'), 'utf8')

  /** Runs each command with a package of these parts, where a client says it is. */
  function run(place: { root: string; path?: string; cwd?: string }) {
    const { root, path = process.env['PATH'], cwd = tmpdir() } = place
    return commandsOf(client).map((command) => {
      const env = { PATH: path, HOME: '/nonexistent', [variable]: root }
      const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], {
        env,
        cwd,
        input: '{}',
        encoding: 'utf8',
      })
      return { status, said: stdout + stderr }
    })
  }

  function packageWith(hook: string | undefined): string {
    const root = mkdtempSync(join(tmpdir(), 'a package '))
    writeFileSync(join(root, 'skillrail-hook'), launcher)
    chmodSync(join(root, 'skillrail-hook'), 0o755)
    mkdirSync(join(root, 'hook'), { recursive: true })
    if (hook !== undefined) writeFileSync(join(root, 'hook/hook.cjs'), hook)
    return root
  }

  it("calls the hook inside the package, with the client's name", () => {
    const root = packageWith('process.stdout.write(process.argv.slice(2).join(" "))')
    const answers = run({ root })
    expect(answers.length).toBeGreaterThan(0)
    for (const { status, said } of answers) {
      expect(status).toBe(0)
      expect(said.split(' ')[0]).toBe(client)
    }
  })

  it('ends with 0 and no output if the hook, the launcher or everything is missing', () => {
    const quiet = commandsOf(client).map(() => ({ status: 0, said: '' }))
    expect(run({ root: packageWith(undefined) })).toEqual(quiet)
    const empty = mkdtempSync(join(tmpdir(), 'an empty package '))
    expect(run({ root: empty })).toEqual(quiet)
    expect(run({ root: join(empty, 'gone') })).toEqual(quiet)
  })

  it('ends with 0 and no output without Node', () => {
    const root = packageWith('process.stdout.write("called")')
    const elsewhere = launcher.replaceAll(/\/(?:usr|opt)\/\S*node/g, '/nonexistent/node')
    writeFileSync(join(root, 'skillrail-hook'), elsewhere)
    const tools = join(root, 'tools')
    mkdirSync(tools)
    symlinkSync('/bin/cat', join(tools, 'cat'))
    const quiet = commandsOf(client).map(() => ({ status: 0, said: '' }))
    expect(run({ root, path: tools })).toEqual(quiet)
  })

  it('never runs with a Node of the project', () => {
    const root = packageWith('process.stdout.write("called")')
    const project = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-project-')))
    const folders = ['node_modules/.bin', 'tools', 'packages/app/node_modules/.bin']
    for (const folder of ['.git', ...folders]) mkdirSync(join(project, folder), { recursive: true })
    for (const folder of folders) {
      const program = `#!/bin/sh\necho a program of the project\n`
      writeFileSync(join(project, folder, 'node'), program, { mode: 0o755 })
    }
    const first = [...folders.map((folder) => join(project, folder)), '.', 'tools', 'x/../tools']
    const path = [...first, process.env['PATH']].join(delimiter)
    for (const cwd of [project, join(project, 'packages/app')]) {
      const answers = run({ root, path, cwd })
      expect(answers.length).toBeGreaterThan(0)
      for (const { said } of answers) expect(said).toBe('called')
    }
  })

  it('ends with 0 if the hook fails', () => {
    for (const { status } of run({ root: packageWith('process.exit(127)') })) expect(status).toBe(0)
  })
})
