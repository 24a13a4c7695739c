import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAlive } from '../../../src/core/file-lock.ts'
import { systemRuntime } from '../../../src/core/runtime.ts'
import {
  openProjectServers,
  type ProjectServers,
} from '../../../src/tools/server/project-servers.ts'
import {
  readServedRecord,
  servedRecordPath,
  servedStatus,
  stopServed,
} from '../../../src/tools/server/served-process.ts'
import { serveProject } from '../../../src/tools/server/serve-project.ts'
import { runCli } from '../../cli/run-cli.ts'
import { newMarker, processesWith, serverProgram } from './_servers.ts'
import { until } from '../../patience.ts'

describe.skipIf(process.platform === 'win32')('the servers of a project that are kept', () => {
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
    await stopServed({ project, runtime: runtime() })
    await until(() => processesWith(marker).length === 0)
    rmSync(root, { recursive: true })
  })

  function entries(servers: Record<string, readonly string[]>): string {
    const shown = Object.entries(servers).map(([name, habits]) => {
      const args = ['--disable-warning=ExperimentalWarning', serverProgram, marker, ...habits]
      return [name, { command: process.execPath, args }]
    })
    return JSON.stringify({ mcpServers: Object.fromEntries(shown) })
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

  it('outlive a command, and are the same for the next one', async () => {
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

  it('serve a process that lives long for as long as they are kept', async () => {
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

  it('can be kept after a start that failed, which leaves nothing', async () => {
    const path = servedRecordPath(project, runtime())
    mkdirSync(join(path, 'in-the-way'), { recursive: true })
    const listening = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap').length
    const before = listening()
    const stop = new AbortController()
    const start = (): ReturnType<typeof serveProject> =>
      serveProject({
        project,
        runtime: runtime(),
        trust: 'ask',
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

  it('are kept by one process only', async () => {
    await cli('tools', 'serve', '--detach')
    expect(await cli('tools', 'serve')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('are kept already'),
    })
    expect(JSON.parse((await cli('tools', 'serve', '--detach', '--json')).stdout)).toMatchObject({
      started: false,
    })
  })

  it('give the same outcomes and failures as ones of our own', async () => {
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

  it('are known by their new instance before a call, when another command had them restarted', async () => {
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

  it('end when the process that keeps them is killed, and the next one takes over', async () => {
    await cli('tools', 'serve', '--detach')
    const instance = await withPool(instanceOf)
    const record = readServedRecord(project, runtime())
    process.kill(record?.process.pid ?? 0, 'SIGKILL')
    await until(() => processesWith(marker).length === 0)
    expect(await withPool((pool) => Promise.resolve(pool.life))).toBe('own')
    expect((await cli('tools', 'serve', '--detach')).code).toBe(0)
    expect(await withPool(instanceOf)).not.toBe(instance)
  })

  it('are started anew when their configuration changed, others go on', async () => {
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
    // Even somebody who vouches for the workspace gets what the keeper may start.
    await expect(withPool(instanceOf, 'trusted')).rejects.toMatchObject({ exitCode: 4 })
    await until(() => processesWith(marker).length === 0)
  })

  it('answer nobody without the token, no page of a browser, and nobody under another name', async () => {
    await cli('tools', 'serve', '--detach')
    const path = servedRecordPath(project, runtime())
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const { port, token } = JSON.parse(readFileSync(path, 'utf8'))
    const ask = (headers: Record<string, string>, method = 'POST'): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const good = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
        const options = {
          host: '127.0.0.1',
          port,
          path: '/status',
          method,
          headers: { ...good, ...headers },
        }
        const asked = request(options, (response) => resolve(response.resume().statusCode))
        asked.on('error', reject).end('{}')
      })
    expect(await ask({})).toBe(200)
    expect(await ask({ authorization: 'Bearer wrong' })).toBe(401)
    expect(await ask({ host: 'evil.example' })).toBe(403)
    expect(await ask({ origin: 'https://evil.example' })).toBe(403)
    expect(await ask({ 'content-type': 'text/plain' })).toBe(415)
    expect(await ask({}, 'GET')).toBe(405)
  })

  it('are not asked for at a port whose process is gone', () => {
    const path = servedRecordPath(project, runtime())
    mkdirSync(join(path, '..'), { recursive: true })
    const record = {
      version: 1,
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

  it('end by themselves when nobody asks', async () => {
    const served = await serveProject({
      project,
      runtime: runtime(),
      trust: 'ask',
      idleExitMs: 200,
      signal: new AbortController().signal,
    })
    await withPool(instanceOf)
    expect(await served.ended).toBe('idle')
    expect(processesWith(marker)).toEqual([])
    expect(await servedStatus({ project, runtime: runtime() })).toBeUndefined()
    expect(isAlive(served.record.process)).toBe(true)
  })
})
