import { spawnSync } from 'node:child_process'
import { mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ancestryOf,
  clientAbove,
  isRunning,
  type ProcessEntry,
  type ProcessTable,
  refuseBelowAgent,
} from '../../src/core/agent-ancestry.ts'
import { accountHome, systemRuntime } from '../../src/core/runtime.ts'

/** A process list: the first entry is the process itself, and each is a child of the next one. */
function listOf(...commands: readonly string[]): ProcessTable {
  return tableOf(commands.map((command) => command.split(' ')))
}

/** `marked`: the place in the list of one that was started with the variables of an agent's shell. */
function tableOf(processes: readonly (readonly string[])[], marked?: number): ProcessTable {
  const entries = processes.map((words, index): ProcessEntry => {
    const parent = index + 1 === processes.length ? 1 : 101 + index
    return { parent, words, startedAt: String(1000 - index) }
  })
  return {
    entry: (pid) => entries[pid - 100],
    variables: (pid) => (pid - 100 === marked ? ['PATH', 'CLAUDECODE'] : ['PATH']),
  }
}

const place = { env: {}, platform: 'linux' } as const
const ofList = (...commands: readonly string[]) => ancestryOf(place, 100, listOf(...commands))

describe('the ancestors of a process', () => {
  it.each([
    'CLAUDECODE',
    'CODEX_THREAD_ID',
    'COPILOT_CLI',
    'GEMINI_CLI',
    'QWEN_CODE',
    'OPENCODE',
    'PI_CODING_AGENT',
  ])('reveal the shell of an agent by the variable %s', (name) => {
    const env = { [name]: '1' }
    expect(ancestryOf({ ...place, env }, 100, listOf('node'))).toMatchObject({ kind: 'agent' })
  })

  it.each([
    [['node skillrail', 'bash', '/usr/bin/claude --resume x'], 'Claude Code'],
    [['node skillrail', 'sh -c x', 'node /opt/bin/gemini -p x'], 'Gemini CLI'],
    [['node skillrail', 'bash', 'script', 'bash', 'codex exec'], 'Codex'],
    [['node skillrail', '/home/a/.bun/bin/bun /home/a/qwen.js'], 'Qwen Code'],
    [['node skillrail', 'node --no-warnings=DEP0040 /usr/bin/gemini'], 'Gemini CLI'],
    [['node skillrail', 'node --max-old-space-size=4096 --no-warnings /a/qwen -p'], 'Qwen Code'],
  ])('reveal an agent client: %j', (commands, client) => {
    expect(ofList(...commands)).toEqual({ kind: 'agent', client })
  })

  it.each([
    [['node skillrail', 'bash', 'sshd', 'init']],
    [['node skillrail', 'zsh', '/usr/share/code/code', 'gnome-shell']],
    [['claude-tools run', 'bash', 'tmux']],
    [['node skillrail', 'node /work/claude-notes/server.js']],
    [['node skillrail', 'node --watch server.js claude']],
  ])('contain no agent: %j', (commands) => {
    expect(ofList(...commands)).toEqual({ kind: 'none' })
  })

  it('are unknown if one of them cannot be read', () => {
    const first = { parent: 99, words: ['node'], startedAt: '1' }
    const table = { ...listOf(), entry: (pid: number) => (pid === 100 ? first : undefined) }
    expect(ancestryOf(place, 100, table)).toEqual({ kind: 'unknown' })
    expect(clientAbove(100, 'linux', table)).toEqual({ kind: 'unknown' })
  })

  it('include the first process, which in a container can be the client', () => {
    const entries: Record<number, ProcessEntry> = {
      1: { parent: 0, words: ['claude'], startedAt: '1' },
      100: { parent: 1, words: ['sh'], startedAt: '2' },
    }
    const table = { ...listOf(), entry: (pid: number) => entries[pid] }
    expect(ancestryOf(place, 100, table)).toEqual({ kind: 'agent', client: 'Claude Code' })
    expect(clientAbove(100, 'linux', table)).toMatchObject({ kind: 'client', process: { pid: 1 } })
    entries[1] = { parent: 0, words: ['/sbin/init'], startedAt: '1' }
    expect(ancestryOf(place, 100, table)).toEqual({ kind: 'none' })
  })

  it('end, even if the process list goes in a circle', () => {
    const entry = () => ({ parent: 100, words: ['bash'], startedAt: '1' })
    expect(ancestryOf(place, 100, { ...listOf(), entry })).toEqual({ kind: 'none' })
  })

  it('reveal a client that an interpreter starts, whatever options the interpreter has', () => {
    const client = fc.constantFrom(
      '/usr/bin/gemini',
      'gemini',
      './gemini.js',
      'gemini.ts',
      '/a/node_modules/@google/gemini-cli/bundle/index.js',
      'npm:@google/gemini-cli',
    )
    fc.assert(
      fc.property(
        interpreter,
        fc.array(option, { maxLength: 5 }),
        client,
        (program, options, file) => {
          const words = [program, ...options.flat(), file, '-p', 'hello']
          const table = tableOf([['node', 'x'], ['sh', '-c', 'x'], words])
          expect(ancestryOf(place, 100, table)).toEqual({ kind: 'agent', client: 'Gemini CLI' })
        },
      ),
    )
  })

  it("contain no agent if only an argument of another script is a client's name", () => {
    const flags = fc.array(
      fc.constantFrom('--no-warnings', '--watch', '--max-old-space-size=9', '-i'),
    )
    const script = fc.constantFrom('server.js', '/work/claude-notes/run.mjs', 'dev/bench.ts')
    const argument = fc.constantFrom('claude', 'gemini', '/usr/bin/pi')
    fc.assert(
      fc.property(interpreter, flags, script, argument, (program, options, file, name) => {
        const table = tableOf([
          ['node', 'x'],
          [program, ...options, file, name],
        ])
        expect(ancestryOf(place, 100, table)).toEqual({ kind: 'none' })
      }),
    )
  })

  it('reveal a client after each option of this Node', () => {
    const { stdout } = spawnSync(process.execPath, ['--help'], { encoding: 'utf8' })
    const lines = stdout.matchAll(/^ {2}(-\S+?)(?:, (--[a-z-]+))?(=\.\.\.)?(?= |$)/gm)
    const options = [...lines].flatMap(([, short, long, value]) =>
      [short, long].flatMap((name) => (name ? [{ name, hasValue: value !== undefined }] : [])),
    )
    expect(options.length).toBeGreaterThan(50)
    const missed = options.filter(({ name, hasValue }) => {
      const words = ['node', name, ...(hasValue ? ['value'] : []), '/usr/bin/gemini']
      return ancestryOf(place, 100, tableOf([['node'], words])).kind !== 'agent'
    })
    expect(missed).toEqual([])
  })
})

const interpreter = fc.constantFrom(
  'node',
  '/usr/bin/nodejs',
  'node22',
  'C:\\Program Files\\nodejs\\node.exe',
  '/home/a/.bun/bin/bun',
  'deno',
)

/** An option as an interpreter takes it: alone, with a value behind it, or with both in one word. */
const option = fc.oneof(
  fc
    .constantFrom('--no-warnings', '--watch', '-i', '--max-old-space-size=4096')
    .map((one) => [one]),
  fc
    .tuple(
      fc.constantFrom(
        '-r',
        '--require',
        '--import',
        '--preload',
        '--experimental-loader',
        '--loader',
      ),
      fc.constantFrom('x.js', './hooks.mjs', 'tsx', '/a/b.cjs'),
    )
    .map((words) => [...words]),
  fc
    .tuple(
      fc.constantFrom('-C', '--conditions', '--env-file', '--later'),
      fc.constantFrom('a', '.env'),
    )
    .map((words) => [...words]),
)

describe('the client above the hook', () => {
  const hook = ['node', 'hook.cjs']
  const start = ['sh', '-c', 'skillrail-hook claude']

  it('has a process with its start time, and the command that it started', () => {
    const table = tableOf([hook, start, ['claude', '--continue'], ['zsh'], ['tmux']])
    expect(clientAbove(100, 'linux', table)).toEqual({
      kind: 'client',
      title: 'Claude Code',
      process: { pid: 102, startedAt: '998' },
      child: start,
      isBelowAgent: false,
    })
  })

  it.each([
    ['in its shell', [['claude', '-p', 'x'], ['bash', '-c', 'x'], ['claude']]],
    ['in place of its shell', [['claude', '-p', 'x'], ['claude']]],
    ['of another kind', [['claude'], ['bash'], ['codex', 'exec', 'x']]],
    ['as a service, in its shell', [['codex', 'app-server'], ['bash', '-c', 'x'], ['codex']]],
    [
      'as a service of its service',
      [
        ['codex', 'app-server'],
        ['codex', 'app-server', '-x'],
      ],
    ],
    ['in place of the shell of its service', [['codex'], ['codex', 'app-server']]],
    ['with its service', [['codex', 'app-server'], ['codex'], ['bash'], ['claude']]],
    [
      'through a launcher',
      [['copilot', '-p', 'x'], ['node', '/bin/copilot', '-p', 'x'], ['codex']],
    ],
  ])('is below an agent that started it %s', (_, above) => {
    const client = clientAbove(100, 'linux', tableOf([hook, start, ...above]))
    expect(client).toMatchObject({ process: { pid: 102 }, isBelowAgent: true })
  })

  it('is below an agent whose variables it was started with', () => {
    const table = tableOf([hook, start, ['claude', '--resume', 'x'], ['init']], 2)
    expect(clientAbove(100, 'linux', table)).toMatchObject({ isBelowAgent: true })
  })

  it.each([
    [[['copilot', '-p', 'x'], ['node', '/bin/copilot', '-p', 'x'], ['zsh']]],
    [
      [
        ['node', '--max-old-space-size=9', '/bin/gemini', '-i'],
        ['node', '/bin/gemini', '-i'],
      ],
    ],
    [[['pi', '', '', ''], ['zsh']]],
    [[['/x/bin/codex', 'app-server', '--listen', 'unix://'], ['codex'], ['zsh']]],
    [
      [
        ['/x/bin/codex', 'app-server', '--listen', 'unix://'],
        ['codex', 'resume', '--last'],
        ['node', '/bin/codex', 'resume', '--last'],
        ['zsh'],
      ],
    ],
  ])('is not a process that the client started by itself: %j', (above) => {
    const client = clientAbove(100, 'linux', tableOf([hook, start, ...above]))
    expect(client).toMatchObject({ process: { pid: 102 }, isBelowAgent: false })
  })

  it('has an unknown parent if the processes above it cannot be read', () => {
    const table = tableOf([hook, start, ['claude']])
    const entry = (pid: number) => {
      const one = table.entry(pid)
      return pid === 102 && one ? { ...one, parent: 999 } : one
    }
    expect(clientAbove(100, 'linux', { ...table, entry })).toMatchObject({
      isBelowAgent: undefined,
    })
  })

  it('is running while a process has its ID and start time', () => {
    const { pid } = process
    const table = (startedAt: string): ProcessTable => ({
      ...listOf(),
      entry: (at) => (at === pid || at === 7 ? { parent: 1, words: [], startedAt } : undefined),
    })
    expect(isRunning({ pid: 7, startedAt: 'a' }, 'linux', table('a'))).toBe(true)
    expect(isRunning({ pid: 7, startedAt: 'a' }, 'linux', table('b'))).toBe(false)
    expect(isRunning({ pid: 8, startedAt: 'a' }, 'linux', table('a'))).toBe(false)
    expect(isRunning({ pid: 8, startedAt: 'a' }, 'win32')).toBe(undefined)
  })
})

describe.skipIf(process.platform === 'win32')('an agent with the variable of another state', () => {
  const account = accountHome() ?? ''
  const folder = mkdtempSync(join(tmpdir(), 'skillrail-state-'))
  function linkTo(path: string): string {
    const link = join(folder, `to${path.replaceAll('/', '-')}`)
    symlinkSync(path, link)
    return link
  }
  const approveWith = (state: string) => () => {
    const env = { CLAUDECODE: '1', XDG_STATE_HOME: state }
    const runtime = systemRuntime({ cwd: join(folder, 'project'), home: account, env })
    refuseBelowAgent({ runtime, settings: { state: { directory: '' } } }, 'runs approve')
  }

  const paths: [kind: string, state: string][] = [
    ['its path', join(account, '.local/state')],
    ['a link to it', linkTo(join(account, '.local/state'))],
    ['a path through a link', join(linkTo(account), '.local/state')],
  ]
  if (process.platform === 'linux') {
    paths.push(['the path of a process', `/proc/self/root${account}/.local/state`])
  }
  it.each(paths)('is refused if that is the state of the account, by %s', (_, state) => {
    expect(approveWith(state)).toThrow('Claude Code has started this process')
  })

  it('is not refused if that is a new one', () => {
    expect(approveWith(join(folder, 'new'))).not.toThrow()
  })
})
