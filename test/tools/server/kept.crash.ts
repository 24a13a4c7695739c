import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAlive, ownIdentity } from '../../../src/core/file-lock.ts'
import { systemRuntime, userDirectories } from '../../../src/core/runtime.ts'
import {
  openProjectServers,
  type ProjectServers,
} from '../../../src/tools/server/project-servers.ts'
import { keptStatus, stopKept } from '../../../src/tools/server/kept-client.ts'
import { keptRecordPath, readKeptRecord } from '../../../src/tools/server/kept-process.ts'
import { loadConfiguration } from '../../../src/core/configuration.ts'
import { serveProject } from '../../../src/tools/server/serve-project.ts'
import { runCli } from '../../cli/run-cli.ts'
import { newMarker, processesWith, serverProgram } from './_servers.ts'
import { until } from '../../patience.ts'

describe.skipIf(process.platform === 'win32')('the servers that `tools serve` runs', () => {
  let root: string
  let home: string
  let project: string
  let marker: string
  const runtime = (): ReturnType<typeof systemRuntime> =>
    systemRuntime({ home, cwd: project, env: { PATH: process.env['PATH'] } })

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-served-')))
    home = join(root, 'home')
    project = join(root, 'project')
    marker = newMarker()
    mkdirSync(join(project, '.git'), { recursive: true })
    mkdirSync(join(home, '.cursor'), { recursive: true })
    configure({ a: [] })
  })
  afterEach(async () => {
    await stopKept({ project, runtime: runtime() })
    await until(() => processesWith(marker).length === 0)
    rmSync(root, { recursive: true })
  })

  function entries(servers: Record<string, readonly string[]>): string {
    const serverEntries = Object.entries(servers).map(([name, habits]) => {
      const args = ['--disable-warning=ExperimentalWarning', serverProgram, marker, ...habits]
      return [name, { command: process.execPath, args }]
    })
    return JSON.stringify({ mcpServers: Object.fromEntries(serverEntries) })
  }

  function configure(
    servers: Record<string, readonly string[]>,
    file = join(home, '.cursor/mcp.json'),
  ): void {
    writeFileSync(file, entries(servers))
  }

  const cli = (...args: string[]): ReturnType<typeof runCli> => runCli(args, { cwd: project, home })

  function open(trust: 'ask' | 'trusted' = 'ask'): ProjectServers {
    return openProjectServers({ project, runtime: runtime(), settings: { workspaceTrust: trust } })
  }

  async function withPool<T>(
    work: (pool: ProjectServers) => Promise<T>,
    trust?: 'ask' | 'trusted',
  ): Promise<T> {
    const pool = open(trust)
    try {
      return await work(pool)
    } finally {
      await pool.close()
    }
  }

  const instanceOf = (pool: ProjectServers): Promise<string> =>
    pool.get('a').then((server) => server.instance())

  it('run longer than a command, and are the same for the next one', async () => {
    const started = await cli('tools', 'serve', '--detach', '--json')
    expect(started).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(started.stdout)).toMatchObject({ project, started: true })
    const first = await withPool(instanceOf)
    expect(processesWith(marker)).toHaveLength(1)
    expect(await withPool(instanceOf)).toBe(first)
    expect(await withPool(async (pool) => [pool.life, (await pool.list()).tools.length])).toEqual([
      'kept',
      2,
    ])
    expect(JSON.parse((await cli('tools', 'serve', '--status', '--json')).stdout)).toMatchObject({
      running: true,
      servers: [{ name: 'a', state: 'running', instance: first }],
    })
    expect(await cli('tools', 'serve', '--stop')).toMatchObject({
      code: 0,
      stdout: 'The servers have ended.\n',
    })
    expect(processesWith(marker)).toEqual([])
    expect((await cli('tools', 'serve', '--status')).code).toBe(3)
    expect(await withPool((pool) => Promise.resolve(pool.life))).toBe('own')
  })

  it('serve a long process for as long as they run', async () => {
    expect((await cli('tools', 'serve', '--detach')).code).toBe(0)
    const settings = { workspaceTrust: 'ask' } as const
    const pool = openProjectServers({ project, runtime: runtime(), settings })
    try {
      const kept = await instanceOf(pool)
      expect(pool.life).toBe('kept')
      expect((await cli('tools', 'serve', '--stop')).code).toBe(0)
      const own = await instanceOf(pool)
      expect(own).not.toBe(kept)
      expect([pool.life, (await pool.list()).tools.length]).toEqual(['own', 2])
      configure({})
      await expect(instanceOf(pool)).rejects.toMatchObject({ code: 'server-not-found' })
      await until(() => processesWith(marker).length === 0)
    } finally {
      await pool.close()
    }
  })

  it('can be started after a failed start, which leaves no files', async () => {
    const path = keptRecordPath(project, runtime())
    mkdirSync(join(path, 'in-the-way'), { recursive: true })
    const listening = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap').length
    const before = listening()
    const stop = new AbortController()
    const start = (): ReturnType<typeof serveProject> =>
      serveProject({
        project,
        runtime: runtime(),
        settings: () => loadConfiguration(runtime()).settings,
        idleExitMs: 60_000,
        signal: stop.signal,
      })
    await expect(start()).rejects.toMatchObject({ code: expect.stringMatching(/^E/) })
    await until(() => listening() === before)
    rmSync(path, { recursive: true })
    const { ended } = await start()
    stop.abort()
    expect(await ended).toBe('stopped')
  })

  it('are run by only one process', async () => {
    await cli('tools', 'serve', '--detach')
    expect(await cli('tools', 'serve')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('are kept already'),
    })
    expect(JSON.parse((await cli('tools', 'serve', '--detach', '--json')).stdout)).toMatchObject({
      started: false,
    })
  })

  it('return the same outcomes and failures as servers of a command', async () => {
    const compare = (pool: ProjectServers): Promise<unknown> =>
      pool
        .get('a')
        .then((server) =>
          Promise.allSettled([
            server.call('echo', { text: 'ü\n' }),
            server.call('structured', {}),
            server.call('failing', {}),
            server.call('nowhere', {}),
            server.call('hang', {}, { timeoutMs: 300 }),
          ]),
        )
    const own = await withPool(compare)
    await cli('tools', 'serve', '--detach')
    expect(JSON.stringify(await withPool(compare))).toBe(JSON.stringify(own))
    await withPool(async (pool) => {
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
      await until(async () => {
        const { content } = await server.call('cancelled', {})
        const [block] = content
        // The call before timed out, which cancels it too.
        return block?.type === 'text' && JSON.parse(block.text).length === 2
      })
      await expect(server.call('crash', {})).rejects.toMatchObject({
        failure: { kind: 'connection-lost', message: expect.stringContaining('out of memory') },
      })
      const before = server.instance()
      await server.call('echo', {})
      expect(server.instance()).not.toBe(before)
    })
  })

  it('are recognised by their new instance before a call, after another command restarted them', async () => {
    await cli('tools', 'serve', '--detach')
    await withPool(async (pool) => {
      const before = await instanceOf(pool)
      const crash = withPool(async (other) => await (await other.get('a')).call('crash', {}))
      await expect(crash).rejects.toMatchObject({ failure: { kind: 'connection-lost' } })
      const after = await instanceOf(pool)
      expect(after).not.toBe(before)
      expect(await withPool(instanceOf)).toBe(after)
    })
  })

  it('end when their process is killed, and the next one replaces it', async () => {
    await cli('tools', 'serve', '--detach')
    const instance = await withPool(instanceOf)
    const record = readKeptRecord({ project, runtime: runtime() })
    process.kill(record?.process.pid ?? 0, 'SIGKILL')
    await until(() => processesWith(marker).length === 0)
    expect(await withPool((pool) => Promise.resolve(pool.life))).toBe('own')
    expect((await cli('tools', 'serve', '--detach')).code).toBe(0)
    expect(await withPool(instanceOf)).not.toBe(instance)
  })

  it('are restarted when their configuration changed, while others continue', async () => {
    configure({ a: [], b: [] })
    await cli('tools', 'serve', '--detach')
    const before = await withPool((pool) =>
      Promise.all(['a', 'b'].map(async (name) => (await pool.get(name)).instance())),
    )
    configure({ a: ['child'], b: [] })
    const after = await withPool((pool) =>
      Promise.all(['a', 'b'].map(async (name) => (await pool.get(name)).instance())),
    )
    expect(after[0]).not.toBe(before[0])
    expect(after[1]).toBe(before[1])
  })

  it('end when the trust in their workspace is withdrawn', async () => {
    rmSync(join(home, '.cursor/mcp.json'))
    configure({ a: [] }, join(project, '.mcp.json'))
    expect((await cli('trust', '--yes')).code).toBe(0)
    await cli('tools', 'serve', '--detach')
    await withPool(instanceOf)
    expect(processesWith(marker)).toHaveLength(1)
    expect((await cli('trust', '--revoke')).code).toBe(0)
    await expect(withPool(instanceOf)).rejects.toMatchObject({ exitCode: 4 })
    // Even a user who trusts the workspace gets only the servers that the keeper is allowed to start.
    await expect(withPool(instanceOf, 'trusted')).rejects.toMatchObject({ exitCode: 4 })
    await until(() => processesWith(marker).length === 0)
  })

  it('answer no request without the token, from a page of a browser, or under another name', async () => {
    await cli('tools', 'serve', '--detach')
    const path = keptRecordPath(project, runtime())
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const { port, token } = JSON.parse(readFileSync(path, 'utf8'))
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
    const ask = (headers: Record<string, string>, method = 'POST'): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const good = {
          authorization: `Bearer ${token}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        }
        const options = {
          host: '127.0.0.1',
          port,
          path: '/mcp',
          method,
          headers: { ...good, ...headers },
        }
        const outgoing = request(options, (response) => resolve(response.resume().statusCode))
        outgoing.on('error', reject).end(ping)
      })
    expect(await ask({})).toBe(200)
    expect(await ask({ authorization: 'Bearer wrong' })).toBe(401)
    expect(await ask({ host: 'evil.example' })).toBe(403)
    expect(await ask({ origin: 'https://evil.example' })).toBe(403)
    expect(await ask({ 'content-type': 'text/plain' })).toBe(415)
    expect(await ask({}, 'GET')).toBe(405)
  })

  it('are not called at a port whose process ended', () => {
    const path = keptRecordPath(project, runtime())
    mkdirSync(join(path, '..'), { recursive: true })
    const record = {
      version: 2,
      project,
      process: { pid: 2 ** 22 - 1, host: 'elsewhere' },
      port: 1,
      token: 't',
      startedAt: 'x',
    }
    writeFileSync(
      path,
      JSON.stringify({ ...record, process: { ...record.process, host: undefined } }),
    )
    expect(open().life).toBe('own')
    writeFileSync(path, '{ broken')
    expect(open().life).toBe('own')
  })

  it('refuse calls that the current settings forbid, and all calls while the settings have errors', async () => {
    const stop = new AbortController()
    const served = await serveProject({
      project,
      runtime: runtime(),
      settings: () => loadConfiguration(runtime()).settings,
      idleExitMs: 60_000,
      signal: stop.signal,
    })
    const file = join(userDirectories(runtime()).config, 'config.json')
    await withPool(async (pool) => {
      const server = await pool.get('a')
      const call = () => server.call('echo', { text: 'x' })
      expect(await call()).toMatchObject({ isError: false })
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, JSON.stringify({ tools: { deny: ['a__echo'] } }))
      await expect(call()).rejects.toMatchObject({ code: 'tool-not-allowed' })
      writeFileSync(file, '{"tools": {')
      await expect(call()).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:setting|config)/),
      })
      rmSync(file)
      expect(await call()).toMatchObject({ isError: false })
    })
    stop.abort()
    await served.ended
  })

  it('check the trust in the workspace at each call, not only at their start', async () => {
    rmSync(join(home, '.cursor/mcp.json'))
    configure({ a: [] }, join(project, '.mcp.json'))
    const file = join(userDirectories(runtime()).config, 'config.json')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify({ workspaceTrust: 'trusted' }))
    expect((await cli('tools', 'serve', '--detach')).code).toBe(0)
    // A caller that vouches for the workspace itself gets only what this process may start.
    await withPool(async (pool) => {
      const server = await pool.get('a')
      expect(await server.call('echo', {})).toMatchObject({ isError: false })
      writeFileSync(file, JSON.stringify({ workspaceTrust: 'ask' }))
      await expect(server.call('echo', {})).rejects.toMatchObject({ exitCode: 4 })
      await expect(pool.get('a')).rejects.toMatchObject({ exitCode: 4 })
      await until(() => processesWith(marker).length === 0)
      writeFileSync(file, JSON.stringify({ workspaceTrust: 'trusted' }))
      expect(await server.call('echo', {})).toMatchObject({ isError: false })
    }, 'trusted')
  })

  it('fail a call at once when their process is killed during it', async () => {
    await cli('tools', 'serve', '--detach')
    const record = readKeptRecord({ project, runtime: runtime() })
    await withPool(async (pool) => {
      const server = await pool.get('a')
      const hanging = server.call(
        'hang',
        {},
        { onProgress: () => process.kill(record?.process.pid ?? 0, 'SIGKILL') },
      )
      await expect(hanging).rejects.toMatchObject({
        failure: { kind: 'connection-lost', delivered: 'unknown' },
      })
      await until(() => readKeptRecord({ project, runtime: runtime() }) === undefined)
      // The next call starts the server itself.
      expect(await server.call('echo', {})).toMatchObject({ isError: false })
      expect(pool.life).toBe('own')
    })
  })

  it('accept parameters and return answers of many megabytes', async () => {
    await cli('tools', 'serve', '--detach')
    await withPool(async (pool) => {
      const server = await pool.get('a')
      const bytes = 20_000_000
      expect(await server.call('large', { bytes })).toMatchObject({
        content: [{ type: 'text', text: 'x'.repeat(bytes) }],
      })
      const text = 'ü'.repeat(5_000_000)
      expect(await server.call('echo', { text })).toMatchObject({
        content: [{ text: JSON.stringify({ text }) }],
      })
      const large = server.call('large', { bytes: 40_000_000 })
      await expect(large).rejects.toMatchObject({ failure: { kind: 'too-large' } })
    })
  })

  it.each(['legacy', 'auto'] as const)(
    'answer an official client that has the token, protocol %s',
    async (mode) => {
      await cli('tools', 'serve', '--detach')
      const { port = 0, token } = readKeptRecord({ project, runtime: runtime() }) ?? {}
      const url = new URL(`http://127.0.0.1:${port}/mcp/a`)
      const requestInit = { headers: { authorization: `Bearer ${token}` } }
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
      try {
        expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'secret'])
        const steps: number[] = []
        const onprogress = ({ progress }: { progress: number }) => void steps.push(progress)
        const answer = await client.callTool({ name: 'progress', arguments: {} }, { onprogress })
        expect(answer.content).toEqual([{ type: 'text', text: 'done' }])
        expect(steps).toEqual([1, 2])
        await expect(client.callTool({ name: 'failing', arguments: {} })).rejects.toMatchObject({
          data: { code: 'protocol', failure: { kind: 'protocol', delivered: 'yes' } },
        })
      } finally {
        await client.close()
      }
    },
  )

  it('are stopped by --stop even if an earlier version runs them', async () => {
    const keeper = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)', marker])
    const path = keptRecordPath(project, runtime())
    mkdirSync(dirname(path), { recursive: true })
    const { host } = ownIdentity()
    const facts = { project, process: { pid: keeper.pid, host }, port: 1, token: 't' }
    writeFileSync(path, JSON.stringify({ version: 1, ...facts, startedAt: 'x' }))
    expect(open().life).toBe('own')
    expect(await stopKept({ project, runtime: runtime() })).toBe('stopped')
  })

  it('end by themselves without calls', async () => {
    const served = await serveProject({
      project,
      runtime: runtime(),
      settings: () => loadConfiguration(runtime()).settings,
      idleExitMs: 200,
      signal: new AbortController().signal,
    })
    await withPool(instanceOf)
    expect(await served.ended).toBe('idle')
    expect(processesWith(marker)).toEqual([])
    expect(await keptStatus({ project, runtime: runtime() })).toBeUndefined()
    expect(isAlive(served.record.process)).toBe(true)
  })
})
