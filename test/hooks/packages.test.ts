import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const repository = fileURLToPath(new URL('../..', import.meta.url))

it('the packages of clients are what the adapters register now', () => {
  const check = ['scripts/plugins.mjs', '--check']
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
  function run({ root, path = process.env['PATH'] }: { root: string; path?: string }) {
    return commandsOf(client).map((command) => {
      const env = { PATH: path, HOME: '/nonexistent', [variable]: root }
      const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], {
        env,
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

  it('calls the hook that lies in it, with the name of the client', () => {
    const root = packageWith('process.stdout.write(process.argv.slice(2).join(" "))')
    const answers = run({ root })
    expect(answers.length).toBeGreaterThan(0)
    for (const { status, said } of answers) {
      expect(status).toBe(0)
      expect(said.split(' ')[0]).toBe(client)
    }
  })

  it('ends with 0 and says nothing where the hook, the launcher or everything is missing', () => {
    const quiet = commandsOf(client).map(() => ({ status: 0, said: '' }))
    expect(run({ root: packageWith(undefined) })).toEqual(quiet)
    const empty = mkdtempSync(join(tmpdir(), 'an empty package '))
    expect(run({ root: empty })).toEqual(quiet)
    expect(run({ root: join(empty, 'gone') })).toEqual(quiet)
  })

  it('ends with 0 and says nothing where there is no Node', () => {
    const root = packageWith('process.stdout.write("called")')
    const elsewhere = launcher.replaceAll(/\/(?:usr|opt)\/\S*node/g, '/nonexistent/node')
    writeFileSync(join(root, 'skillrail-hook'), elsewhere)
    const tools = join(root, 'tools')
    mkdirSync(tools)
    symlinkSync('/bin/cat', join(tools, 'cat'))
    const quiet = commandsOf(client).map(() => ({ status: 0, said: '' }))
    expect(run({ root, path: tools })).toEqual(quiet)
  })

  it('ends with 0 where the hook fails', () => {
    for (const { status } of run({ root: packageWith('process.exit(127)') })) expect(status).toBe(0)
  })
})
