import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemRuntime } from '../../../src/core/runtime.ts'
import {
  type OpenServersOptions,
  openServers,
  type ServerPool,
} from '../../../src/tools/server/pool.ts'
import type { ServerDefinition } from '../../../src/tools/config/model.ts'
import { newMarker, processesWith, testServer } from './_servers.ts'
import { until } from '../../patience.ts'

describe.skipIf(process.platform === 'win32')('a pool of servers', () => {
  let marker: string
  let events: string[]
  let pool: ServerPool

  beforeEach(() => {
    marker = newMarker()
    events = []
  })
  afterEach(async () => {
    await pool.close()
    await until(() => processesWith(marker).length === 0)
  })

  function open(
    definitions: readonly ServerDefinition[],
    options: Partial<OpenServersOptions> = {},
  ): ServerPool {
    const runtime = systemRuntime({ env: { PATH: process.env['PATH'], SECRET: 'hidden' } })
    pool = openServers(definitions, { runtime, onLog: (event) => events.push(event), ...options })
    return pool
  }

  async function texts(name: string, parameters = {}, server = 'a'): Promise<string> {
    const outcome = await (await pool.get(server)).call(name, parameters)
    const [block] = outcome.content
    return block?.type === 'text' ? block.text : ''
  }

  it('starts no server before the first call', async () => {
    open([testServer('a', marker)])
    expect(processesWith(marker)).toEqual([])
    await pool.get('a')
    expect(processesWith(marker)).toHaveLength(1)
  })

  it('starts a server once for all simultaneous callers', async () => {
    open([testServer('a', marker)])
    const servers = await Promise.all([pool.get('a'), pool.get('a'), pool.get('a')])
    expect(new Set(servers.map((server) => server.instance())).size).toBe(1)
    expect(processesWith(marker)).toHaveLength(1)
  })

  it('lists the tools of all servers, and the errors of the others', async () => {
    open([
      testServer('a', marker),
      testServer('b', marker, ['ends-at-start']),
      testServer('c', marker, ['hangs'], { startupTimeoutMs: 300 }),
      testServer('d', marker, [], { disabled: true }),
      testServer('e', marker, ['malformed']),
    ])
    const { tools, failures, diagnostics } = await pool.list()
    expect(tools.map(({ id }) => id)).toEqual(['a__echo', 'a__secret', 'e__echo', 'e__bare'])
    expect(tools[2]?.description).toBe('The tool echo')
    expect(diagnostics?.map(({ message }) => message)).toEqual([
      'server "e": the tool is left out: it has no name',
      'server "e": the tool is left out: it has no name',
      'server "e": the tool e__echo is listed again; the first one counts',
    ])
    expect(failures.map(({ server }) => server)).toEqual(['b', 'c'])
    expect(failures[0]?.message).toContain('it ended with exit code 3')
    expect(failures[0]?.stderrTail).toContain('the database is not there')
    expect(failures[1]?.message).toContain('it gave no answer within 300 ms')
  })

  it('reads 2,000 tools page by page', async () => {
    open([testServer('a', marker, ['many'])])
    const { tools } = await pool.list()
    expect(tools).toHaveLength(2000)
    expect(tools.at(-1)?.id).toBe('a__tool-1999')
  })

  it('stops at an endless list', async () => {
    open([testServer('a', marker, ['endless'])])
    const { tools, diagnostics } = await pool.list()
    expect(tools).toHaveLength(100)
    expect(diagnostics?.[0]?.message).toContain('its list of tools has no end')
  })

  it('ignores invalid output on standard output, and reports it once', async () => {
    open([testServer('a', marker, ['garbage'])])
    expect(await texts('garbage')).toBe('after garbage')
    const garbage = events.filter((line) => line.includes(': it prints to stdout'))
    expect(garbage).toEqual([
      'a: it prints to stdout something that is not a message: Listening on port 3000',
    ])
  })

  it('passes a server only its configuration and the few variables of a client', async () => {
    const server = testServer('a', marker)
    const transport = { ...server.transport, env: { MINE: 'yes' }, cwd: '/' }
    open([{ ...server, transport }])
    const { env, cwd } = JSON.parse(await texts('environment'))
    expect(env).toMatchObject({ MINE: 'yes', PATH: process.env['PATH'] })
    expect(env).not.toHaveProperty('SECRET')
    expect(cwd).toBe('/')
  })

  it.each([
    ['crash', 'connection-lost', 'unknown', /it ended with exit code 7[\s\S]*out of memory/],
    ['failing', 'protocol', 'yes', /error -32000: the disk is full/],
    ['refused', 'invalid-parameters', 'no', /path is required/],
    ['nowhere', 'invalid-parameters', 'no', /Tool nowhere not found/],
    ['no-result', 'protocol', 'yes', /cannot be used: it is not a result/],
    ['hang', 'timeout', 'unknown', /hang gave no answer within 300 ms/],
  ])('fails a call of "%s" with %s, delivered: %s', async (tool, kind, delivered, message) => {
    open([testServer('a', marker)])
    const server = await pool.get('a')
    const timeoutMs = tool === 'hang' ? 300 : undefined
    await expect(server.call(tool, {}, { timeoutMs })).rejects.toMatchObject({
      failure: { kind, delivered, message: expect.stringMatching(message) },
    })
  })

  it('restarts a server after a crash, as another instance', async () => {
    open([testServer('a', marker)])
    const server = await pool.get('a')
    const before = server.instance()
    await expect(server.call('crash', {})).rejects.toThrow('was lost during the call')
    expect(await texts('echo', { again: true })).toBe('{"again":true}')
    expect(server.instance()).not.toBe(before)
  })

  it('forwards progress, and sends a cancellation to the server', async () => {
    open([testServer('a', marker)])
    const server = await pool.get('a')
    const steps: number[] = []
    await server.call('progress', {}, { onProgress: ({ progress }) => steps.push(progress) })
    expect(steps).toEqual([1, 2])
    const controller = new AbortController()
    const hanging = server.call(
      'hang',
      {},
      {
        signal: controller.signal,
        onProgress: () => controller.abort(),
      },
    )
    await expect(hanging).rejects.toMatchObject({
      failure: { kind: 'cancelled', delivered: 'unknown' },
    })
    await until(async () => JSON.parse(await texts('cancelled')).length === 1)
  })

  it('drops an answer over the limit, fails only its call, and continues', async () => {
    open([testServer('a', marker)])
    const server = await pool.get('a')
    const [large, other] = await Promise.allSettled([
      server.call('large', { bytes: 50_000_000 }),
      server.call('echo', { still: 'here' }),
    ])
    expect(large).toMatchObject({
      reason: {
        failure: {
          kind: 'too-large',
          delivered: 'yes',
          message: expect.stringContaining('over the limit'),
        },
      },
    })
    expect(other).toMatchObject({ status: 'fulfilled' })
    expect((await server.call('large', { bytes: 5_000_000 })).size).toBeGreaterThan(5_000_000)
    expect(processesWith(marker)).toHaveLength(1)
  })

  it('keeps content of an unknown kind, and structured content as sent', async () => {
    open([testServer('a', marker)])
    const outcome = await (await pool.get('a')).call('structured', {})
    expect(outcome).toMatchObject({
      content: [{ type: 'text', text: '{"type":"hologram","depth":3}' }],
      structured: 'no object',
    })
  })

  it('reports changed tools', async () => {
    open([testServer('a', marker)])
    const server = await pool.get('a')
    await server.call('change', {})
    await until(() => events.some((line) => line.endsWith(': its tools have changed')))
    expect((await server.list()).tools.map(({ name }) => name)).toContain('new')
  })

  it('hides and refuses the tools that the configuration of the server does not allow', async () => {
    open([
      testServer('a', marker, [], { deny: ['secret'] }),
      testServer('b', marker, [], { allow: ['echo', 'secret'], deny: ['secret'] }),
    ])
    expect((await pool.list()).tools.map(({ id }) => id)).toEqual(['a__echo', 'b__echo'])
    for (const [name, tool] of [
      ['a', 'secret'],
      ['b', 'secret'],
      ['b', 'crash'],
    ] as const) {
      const call = (await pool.get(name)).call(tool, {})
      await expect(call).rejects.toMatchObject({ code: 'tool-not-allowed', exitCode: 4 })
    }
  })

  it('starts no server that is disabled, blocked or unknown', async () => {
    const untrusted = {
      reason: 'untrusted',
      message: 'nobody trusts it',
      hint: 'skillrail trust',
    } as const
    open([
      testServer('off', marker, [], { disabled: true }),
      testServer('strange', marker, [], { blocked: untrusted }),
      testServer('github', marker),
    ])
    await expect(pool.get('off')).rejects.toMatchObject({
      message: expect.stringContaining('is disabled in'),
    })
    await expect(pool.get('strange')).rejects.toMatchObject({
      exitCode: 4,
      hint: 'skillrail trust',
    })
    await expect(pool.get('gihtub')).rejects.toMatchObject({
      exitCode: 3,
      hint: 'Did you mean github? Configured: off, strange, github.',
    })
    expect((await pool.list()).failures).toMatchObject([{ server: 'strange' }])
    expect(processesWith(marker).length).toBeLessThan(2)
  })

  it('names the missing program', async () => {
    const missing = { kind: 'stdio', command: 'no-such-program', args: [], env: {} } as const
    open([{ ...testServer('a', marker), transport: missing }])
    await expect(pool.get('a')).rejects.toThrow('there is no program no-such-program')
  })

  it.runIf(process.platform === 'linux')(
    'ends a server that ignores its end, its child processes, and a process that left the group',
    async () => {
      open([testServer('a', marker, ['stubborn', 'stray'])])
      await pool.get('a')
      await until(() => processesWith(marker).length === 3)
      await pool.close()
      await until(() => processesWith(marker).length === 0)
    },
  )

  it.runIf(process.platform === 'linux')(
    'ends the processes of a crashed server, before it runs again and at the end',
    async () => {
      open([testServer('a', marker, ['child', 'stray'])])
      const server = await pool.get('a')
      await until(() => processesWith(marker).length === 3)
      await expect(server.call('crash', {})).rejects.toThrow('was lost during the call')
      await until(() => processesWith(marker).length === 2)
      await texts('echo')
      await until(() => processesWith(marker).length === 3)
      await expect(server.call('crash', {})).rejects.toThrow('was lost during the call')
      await pool.close()
      await until(() => processesWith(marker).length === 0)
    },
  )

  it.runIf(process.platform === 'linux').each(['SIGKILL', 'SIGTERM'] as const)(
    'leaves no process when Skillrail is ended by %s',
    async (signal) => {
      open([])
      const program = fileURLToPath(
        new URL('../../fixtures/programs/server-holder.ts', import.meta.url),
      )
      const holder = spawn(process.execPath, [program, marker, 'stubborn', 'stray'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await new Promise((resolve) => holder.stdout.once('data', resolve))
      await until(() => processesWith(marker).length === 4)
      holder.kill(signal)
      await until(() => processesWith(marker).length === 0)
    },
  )
})
