import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { acquireFileLock, ownIdentity } from '#core/file-lock'
import { idleTimer, type LocalRoute, type LocalServer, openLocalServer } from '#core/local-server'
import type { Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { SkillrailError } from '#core/errors'
import { writeFileAtomic } from '#core/write-files'
import { findWorkspace } from '#core/read-files'
import { ToolError } from '#tools/errors'
import type { ToolServer } from '#tools/model'
import { openServers, type OpenServersOptions } from './pool.ts'
import { currentConfiguration } from './project-servers.ts'
import {
  encodeError,
  type ServedLine,
  type ServedRequest,
  type ServedRecord,
  servedRecordPath,
  servedSchemas,
} from './served-process.ts'

interface ServeProjectOptions extends Pick<OpenServersOptions, 'onLog'> {
  project: string
  runtime: Runtime
  trust: Settings['workspaceTrust']
  /** Ends by itself after this long without a request; 0: never. */
  idleExitMs: number
  signal: AbortSignal
}

/**
 * Keeps the servers of a project for other commands, over HTTP on the loopback for those who have the
 * token from the user's own state. Configuration and trust are looked at again before every request:
 * a server whose definition changed, or that may no longer run, is ended first.
 *
 * @throws {SkillrailError} `servers-already-served`
 */
export async function serveProject(options: ServeProjectOptions) {
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
    return await startServing({ ...options, project }, path, lock.release)
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Bytes: parameters may hold a whole file. */
const largestBody = 64 * 1024 * 1024

/** `release` is called once everything has ended; a start that fails leaves that to the caller. */
async function startServing(options: ServeProjectOptions, path: string, release: () => void) {
  const { project, runtime, trust, idleExitMs } = options
  const token = randomBytes(32).toString('hex')
  const startedAt = new Date(runtime.now()).toISOString()
  const current = currentConfiguration({ project, runtime, trust })
  const pool = openServers(() => current().servers, options)
  const stop = new AbortController()
  const ends = AbortSignal.any([options.signal, stop.signal])
  const idle = idleTimer(idleExitMs, () => stop.abort('idle'))
  const routes: Readonly<Record<string, LocalRoute>> = {
    '/status': route(async () => {
      return { project, pid: process.pid, startedAt, idleExitMs, servers: pool.states() }
    }),
    '/stop': route(async () => {
      setImmediate(() => stop.abort('stopped'))
      return {}
    }),
    ...serverRoutes(pool.get),
  }
  let server: LocalServer | undefined
  const endAll = async (): Promise<void> => {
    idle.end()
    // Nobody new; those who are being answered still get their answer, if only that it is over.
    server?.stop()
    await pool.close()
    server?.destroy()
  }
  const untilEnd = async (): Promise<'stopped' | 'idle'> => {
    if (!ends.aborted) await once(ends, 'abort')
    try {
      rmSync(path, { force: true })
    } catch {
      // What stays names a process that is over, and counts for nothing.
    }
    await endAll()
    release()
    return stop.signal.reason === 'idle' ? 'idle' : 'stopped'
  }
  try {
    server = await openLocalServer({ token, routes, largestBody, onRequest: idle.busy })
    const identity = { project, process: ownIdentity(), startedAt }
    const record: ServedRecord = { version: 1, ...identity, port: server.port, token }
    await writeFileAtomic(path, `${JSON.stringify(record)}\n`, { mode: 0o600 })
    return { record, ended: untilEnd() }
  } catch (error) {
    await endAll()
    throw error
  }
}

function serverRoutes(
  serverOf: (name: string, options: { signal: AbortSignal }) => Promise<ToolServer>,
): Readonly<Record<string, LocalRoute>> {
  const ofServer = (
    perform: (
      server: ToolServer,
      request: ServedRequest,
      ...rest: AnswerArguments
    ) => Promise<object>,
  ): LocalRoute =>
    route(async (body, signal, write) => {
      const { data: request, error } = servedSchemas().request.safeParse(body)
      if (!request) {
        const [issue] = error.issues
        const message = `The request is invalid at ${issue?.path.join('.')}: ${issue?.message}`
        throw new ToolError({ code: 'request-invalid', message })
      }
      const server = await serverOf(request.server, { signal })
      const answer = await perform(server, request, signal, write)
      return { ...answer, instance: server.instance() }
    })
  return {
    '/list': ofServer((server, _request, signal) => server.list({ signal })),
    '/start': ofServer(async () => ({})),
    '/call': ofServer(async (server, { tool, parameters, progress, ...limits }, signal, write) => {
      const onProgress = progress ? (step: unknown) => write({ progress: step }) : undefined
      return { outcome: await server.call(tool, parameters, { ...limits, signal, onProgress }) }
    }),
  }
}

type AnswerArguments = [signal: AbortSignal, write: (line: ServedLine) => void]

function route(perform: (body: unknown, ...rest: AnswerArguments) => Promise<unknown>): LocalRoute {
  return {
    method: 'POST',
    async answer(body, response) {
      const given = new AbortController()
      response.on('close', () => given.abort())
      const write = (line: ServedLine): void => {
        if (!response.writableEnded && !response.destroyed)
          response.write(`${JSON.stringify(line)}\n`)
      }
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      try {
        write({ done: await perform(body, given.signal, write) })
      } catch (error) {
        write({ error: encodeError(error) })
      }
      response.end()
    },
  }
}
