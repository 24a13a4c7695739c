import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
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
import { adapters } from '../../src/hooks/adapters.ts'
import { type PackagedClient, packagedClients } from '../../src/hooks/pack-plugin.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))

it('the client packages match the entries that the adapters register', () => {
  const check = ['dev/plugins.mjs', '--check']
  expect(execFileSync(process.execPath, check, { cwd: repository, encoding: 'utf8' })).toBe('')
})

const variables: Readonly<Record<PackagedClient, string>> = {
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

const builtHook = join(repository, 'plugins/hook/hook.cjs')

describe.each(packagedClients)('the package for %s', (client) => {
  const variable = variables[client]
  const launcher = readFileSync(join(repository, 'plugins', client, 'skillrail-hook'), 'utf8')

  /** Runs each command with a package of these parts, where a client says it is. */
  function run(place: {
    root: string
    path?: string | undefined
    cwd?: string
    home?: string
    input?: string
  }) {
    const { root, path = process.env['PATH'], cwd = tmpdir(), home = '/nonexistent' } = place
    return commandsOf(client).map((command) => {
      const env = { PATH: path, HOME: home, [variable]: root }
      const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], {
        env,
        cwd,
        input: place.input ?? '{}',
        encoding: 'utf8',
      })
      return { status, stdout, said: stdout + stderr }
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

  /** A package whose launcher finds no Node on the machine, and a search path with `tools` and no Node. */
  function withoutNode(tools: readonly string[]): { root: string; path: string } {
    const root = packageWith('process.stdout.write("called")')
    const elsewhere = launcher.replaceAll(/\/(?:usr|opt)\/\S*node/g, '/nonexistent/node')
    writeFileSync(join(root, 'skillrail-hook'), elsewhere)
    const path = join(root, 'tools')
    mkdirSync(path)
    for (const tool of tools) symlinkSync(`/bin/${tool}`, join(path, tool))
    return { root, path }
  }

  const event = client === 'gemini' ? 'BeforeAgent' : 'UserPromptSubmit'
  const prompt = (session: string): string =>
    client === 'copilot'
      ? JSON.stringify({ sessionId: session, prompt: 'Hello' })
      : JSON.stringify({ session_id: session, hook_event_name: event, prompt: 'Hello' })

  /** What the commands say to a user, through the client, or through the agent if the client shows nothing. */
  function messages(answers: readonly { stdout: string }[]): string[] {
    return answers.flatMap(({ stdout }) => {
      if (stdout === '') return []
      const { systemMessage, additionalContext = '' } = JSON.parse(stdout)
      const isShown = adapters[client].tell !== undefined
      return [isShown ? systemMessage : additionalContext.replace(/ Tell the user\.$/, '')]
    })
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

  it.for([
    ['the package has no hook', () => ({ root: packageWith(undefined) }), 'incomplete'],
    ['there is no Node', () => withoutNode(['cat', 'sed', 'mkdir']), 'finds no Node'],
    [
      'Node is too old',
      () => {
        const root = packageWith(readFileSync(builtHook, 'utf8'))
        const path = join(root, 'tools')
        mkdirSync(path)
        const preload = join(root, 'old.cjs')
        const versions = `{ value: { ...process.versions, node: '18.20.0' } }`
        writeFileSync(preload, `Object.defineProperty(process, 'versions', ${versions})`)
        const program = `#!/bin/sh\nexec '${process.execPath}' -r '${preload}' "$@"\n`
        writeFileSync(join(path, 'node'), program, { mode: 0o755 })
        return { root, path: `${path}:/usr/bin:/bin` }
      },
      'needs Node 20 or newer, and finds',
    ],
  ] as const)(
    'says once in a session that it does not work if %s',
    ([, make, problem], { skip }) => {
      skip(problem.startsWith('needs') && !existsSync(builtHook), 'run node dev/build.mjs first')
      const home = mkdtempSync(join(tmpdir(), 'a home '))
      const place = { home, ...make() }
      const first = run({ ...place, input: prompt('one') })
      expect(first.every(({ status }) => status === 0)).toBe(true)
      expect(messages(first)).toEqual([expect.stringContaining(problem)])
      expect(messages(run({ ...place, input: prompt('one') }))).toEqual([])
    },
  )

  it('says nothing about other events, and ends with 0 in an empty folder or without any tool', () => {
    const { root, path } = withoutNode(['cat'])
    const call = JSON.stringify({ session_id: 'one', hook_event_name: 'PreToolUse' })
    // Copilot CLI names every event but the prompt in its command.
    const others = run({ root, path, input: call }).slice(client === 'copilot' ? 1 : 0)
    expect(others.every(({ said, status }) => said === '' && status === 0)).toBe(true)
    const quiet = commandsOf(client).map(() => ({ status: 0, stdout: '', said: '' }))
    const empty = mkdtempSync(join(tmpdir(), 'an empty package '))
    expect(run({ root: empty })).toEqual(quiet)
    expect(run({ root: join(empty, 'gone') })).toEqual(quiet)
    expect(run({ root, path: '/nonexistent' }).every(({ status }) => status === 0)).toBe(true)
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
