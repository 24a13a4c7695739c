import { isAlive, isObject, type Runtime } from '../../base/index.ts'
import { findWorkspace } from '../../trust/index.ts'
import type { ServerState } from './pool.ts'
import { servedClient, ServedConnectionError } from './served-client.ts'
import { readServedRecord } from './served-record.ts'

/** The process that keeps the servers of a project, and how they are. */
export interface ServedStatus {
  project: string
  pid: number
  startedAt: string
  /** 0: it does not end by itself. */
  idleExitMs: number
  servers: readonly ServerState[]
}

interface Place {
  /** A directory of the project. */
  project: string
  runtime: Runtime
}

/** Undefined where nothing is kept, or where the process does not answer. */
export async function servedStatus(place: Place): Promise<ServedStatus | undefined> {
  const record = readServedRecord(findWorkspace(place.project, place.runtime), place.runtime)
  if (record === undefined) return undefined
  const client = servedClient(record)
  try {
    const answer = await client.ask('/status', {}, { signal: AbortSignal.timeout(5000) })
    const { project, startedAt } = record
    const idleExitMs = isObject(answer) ? Number(answer['idleExitMs']) : 0
    const servers = isObject(answer) && Array.isArray(answer['servers']) ? answer['servers'] : []
    return {
      project,
      pid: record.process.pid,
      startedAt,
      idleExitMs,
      servers: servers.filter(isState),
    }
  } catch (error) {
    if (error instanceof ServedConnectionError) return undefined
    throw error
  } finally {
    client.close()
  }
}

export type StopResult = 'stopped' | 'not-running' | 'still-running'

/** Ends the process and its servers; waits until it is gone, for 10 s. */
export async function stopServed(place: Place): Promise<StopResult> {
  const record = readServedRecord(findWorkspace(place.project, place.runtime), place.runtime)
  if (record === undefined) return 'not-running'
  const client = servedClient(record)
  try {
    await client.ask('/stop', {}, { signal: AbortSignal.timeout(2000) })
  } catch {
    // It does not answer: TERM ends it in the same way.
    if (isAlive(record.process)) process.kill(record.process.pid, 'SIGTERM')
  } finally {
    client.close()
  }
  for (let waited = 0; waited < 10_000; waited += 25) {
    if (!isAlive(record.process)) return 'stopped'
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return 'still-running'
}

function isState(value: unknown): value is ServerState {
  return isObject(value) && typeof value['name'] === 'string' && typeof value['state'] === 'string'
}
