import { setTimeout as sleep } from 'node:timers/promises'
import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { installServer, type Server, startServer } from '../../dev/restate.mjs'
import type { Cli, TestProject } from '../chain/_project.ts'
import { bin } from '../command-line.ts'

const clock = new URL('_clock-preload.mjs', import.meta.url).href

/** A server of our own on free ports of this machine. */
export async function ownServer(env: Record<string, string> = {}): Promise<Server> {
  const [ingressPort, adminPort, nodePort] = await freePorts(3)
  return await startServer({ binary: installServer(), ingressPort, adminPort, nodePort, env })
}

/** Options that put a run on that server. */
export function onServer(server: Pick<Server, 'url' | 'adminUrl'>): string[] {
  return ['--engine', 'restate', '--url', server.url, '--admin-url', server.adminUrl]
}

export interface WorkerProcess extends Cli {
  port: number
}

/** A worker of a project; resolves when it takes requests. */
export async function startWorkerOf(
  project: TestProject,
  options: {
    port?: number | undefined
    register?: string
    server?: Server
    more?: readonly string[]
    /** How wrong the clock of its machine is. */
    clockShiftMs?: number
    env?: Readonly<Record<string, string>>
  } = {},
): Promise<WorkerProcess> {
  const port = options.port ?? (await freePorts(1))[0]
  const uri = options.register ?? `http://127.0.0.1:${port}`
  const { server, more = [] } = options
  const register = server === undefined ? [] : ['--register', uri, '--admin-url', server.adminUrl]
  const args = ['worker', '--port', String(port), ...register, ...more]
  const cli = startCli(project, args, options.clockShiftMs, options.env)
  const over = cli.ended.then(({ stderr }) => {
    throw new Error(`the worker ended: ${stderr}`)
  })
  over.catch(() => undefined)
  await Promise.race([answers(port), over])
  if (server !== undefined) await Promise.race([registered(server), over])
  return { ...cli, port }
}

function startCli(
  project: TestProject,
  args: readonly string[],
  shift = 0,
  env: Readonly<Record<string, string>> = {},
): Cli {
  const home = join(project.directory, '../home')
  const preload = shift === 0 ? [] : ['--import', clock]
  const child = spawn(
    process.execPath,
    ['--no-warnings', ...preload, bin, '--trust-workspace', ...args],
    {
      cwd: project.directory,
      env: { PATH: process.env['PATH'], HOME: home, CLOCK_SHIFT: String(shift), ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return {
    pid: child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    ended: new Promise((resolve) => {
      child.on('exit', (code, signal) => resolve({ code, signal, stdout: '', stderr }))
    }),
  }
}

export async function freePorts(count: 1): Promise<[number]>
export async function freePorts(count: 2): Promise<[number, number]>
export async function freePorts(count: 3): Promise<[number, number, number]>
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(
      async (server) =>
        await new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => {
            const address = server.address()
            resolve(typeof address === 'object' && address !== null ? address.port : 0)
          })
        }),
    ),
  )
  await Promise.all(
    servers.map(
      async (server) =>
        await new Promise((resolve) => {
          server.close(resolve)
        }),
    ),
  )
  return ports
}

export async function eventually<T>(
  look: () => Promise<T | undefined> | T | undefined,
  what: string,
): Promise<T> {
  for (let round = 0; round < 300; round++) {
    const observed = await look()
    if (observed !== undefined) return observed
    await sleep(100)
  }
  throw new Error(`it did not happen within 30 s: ${what}`)
}

async function answers(port: number): Promise<void> {
  await eventually(
    async () =>
      await new Promise<true | undefined>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.destroy()
          resolve(true)
        })
        socket.on('error', () => resolve(undefined))
      }),
    `port ${port} answers`,
  )
}

async function registered(server: Server): Promise<void> {
  await eventually(async () => {
    const { ok } = await fetch(`${server.adminUrl}/services/skillrail`)
    return ok ? true : undefined
  }, 'the worker is registered')
}
