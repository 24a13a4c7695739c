import { randomBytes } from 'node:crypto'
import { unlinkSync } from 'node:fs'
import {
  acquireFileLock,
  fileIdentity,
  idleTimer,
  type LocalServer,
  openLocalServer,
  ownIdentity,
  type Runtime,
  type Settings,
  SkillrailError,
  writeFileAtomic,
} from '../../base/index.ts'
import { findWorkspace } from '../../trust/index.ts'
import { readServerConfiguration } from '../config/read-configuration.ts'
import { openServers, type ServerEvent } from './pool.ts'
import { type ServedRecord, servedRecordPath } from './served-record.ts'
import { largestRequest, servedRoutes } from './served-requests.ts'

export interface ServeProjectOptions {
  /** A directory of the project. */
  project: string
  runtime: Runtime
  trust: Settings['workspaceTrust']
  /** Ends by itself after this long without a request; 0: never. */
  idleExitMs: number
  clientInfo?: { name: string; version: string } | undefined
  onLog?: ((event: ServerEvent) => void) | undefined
  /** Ends it. */
  signal: AbortSignal
}

export interface ServedProject {
  record: ServedRecord
  /** Resolves when everything has ended, with the reason. */
  ended: Promise<'stopped' | 'idle'>
}

/**
 * Keeps the servers of a project for other commands, over HTTP on the loopback for those who have the
 * token from the user's own state. One process a project.
 *
 * Configuration and trust are looked at again before every request: a server whose definition is no
 * longer the same, or that may no longer run, is ended first.
 * @throws {SkillrailError} `servers-already-served`
 */
export async function serveProject(options: ServeProjectOptions): Promise<ServedProject> {
  const { runtime } = options
  const project = findWorkspace(options.project, runtime)
  const path = servedRecordPath(project, runtime)
  const lock = acquireFileLock(path)
  if (!lock.ok) {
    throw new SkillrailError({
      code: 'servers-already-served',
      message: `The servers of ${project} are kept already, by process ${lock.holder.pid}`,
      hint: 'skillrail tools serve --status shows them, and --stop ends them.',
    })
  }
  try {
    return await startServing(options, project, path, lock.release)
  } catch (error) {
    lock.release()
    throw error
  }
}

/** `release` is called once everything has ended; a start that fails leaves that to the caller. */
async function startServing(
  options: ServeProjectOptions,
  project: string,
  path: string,
  release: () => void,
): Promise<ServedProject> {
  const { runtime, trust, idleExitMs } = options
  const token = randomBytes(32).toString('hex')
  const startedAt = new Date(runtime.now()).toISOString()
  let configuration = readServerConfiguration({ project, runtime, trust })
  let seen = fileIdentity(configuration.inputs)
  const pool = openServers(configuration.servers, { ...options, project })
  const stop = new AbortController()
  const ends = AbortSignal.any([options.signal, stop.signal])
  const idle = idleTimer(idleExitMs, () => stop.abort('idle'))
  const routes = servedRoutes({
    pool,
    status: () => ({ project, pid: process.pid, startedAt, idleExitMs, servers: pool.states() }),
    stop: () => stop.abort('stopped'),
    refresh,
  })
  let server: LocalServer | undefined
  try {
    server = await openLocalServer({
      token,
      routes,
      largestBody: largestRequest,
      onRequest: idle.busy,
    })
    const { port } = server
    const record: ServedRecord = {
      version: 1,
      project,
      process: ownIdentity(),
      port,
      token,
      startedAt,
    }
    await writeFileAtomic(path, `${JSON.stringify(record)}\n`, { mode: 0o600 })
    return { record, ended: end() }
  } catch (error) {
    await endAll()
    throw error
  }

  async function refresh(): Promise<void> {
    const now = fileIdentity(configuration.inputs)
    if (now === seen) return
    configuration = readServerConfiguration({ project, runtime, trust })
    seen = fileIdentity(configuration.inputs)
    await pool.update(configuration.servers)
  }

  async function end(): Promise<'stopped' | 'idle'> {
    await new Promise((resolve) => {
      if (ends.aborted) resolve(undefined)
      else ends.addEventListener('abort', resolve, { once: true })
    })
    removeRecord(path)
    await endAll()
    release()
    return stop.signal.reason === 'idle' ? 'idle' : 'stopped'
  }

  async function endAll(): Promise<void> {
    idle.end()
    // Nobody new; those who are being answered still get their answer, if only that it is over.
    server?.stop()
    await pool.close()
    server?.destroy()
  }
}

function removeRecord(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Somebody has removed it already; the lock still says who is there.
  }
}
