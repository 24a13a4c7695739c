import { join } from 'node:path'
import {
  isAlive,
  isObject,
  type ProcessIdentity,
  readRegularFile,
  type Runtime,
  sha256,
  userDirectories,
} from '../../base/index.ts'

/** How the servers that are kept for a project are reached; in a file that only the user can read. */
export interface ServedRecord {
  version: 1
  /** Real path of the workspace. */
  project: string
  process: ProcessIdentity
  /** On 127.0.0.1. */
  port: number
  token: string
  startedAt: string
}

export function servedRecordPath(project: string, runtime: Pick<Runtime, 'env' | 'home'>): string {
  const key = sha256(project).slice('sha256:'.length, 'sha256:'.length + 24)
  return join(userDirectories(runtime).state, 'servers', `${key}.json`)
}

/** The record of a process that still runs. One left by a dead process is as good as none. */
export function readServedRecord(
  project: string,
  runtime: Pick<Runtime, 'env' | 'home'>,
): ServedRecord | undefined {
  const file = readRegularFile(servedRecordPath(project, runtime), { maxBytes: 65_536 })
  const record = file.ok ? parse(file.text) : undefined
  // Whoever has the port of a dead process must not be told the parameters of our calls.
  return record?.project === project && isAlive(record.process) ? record : undefined
}

function parse(text: string): ServedRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || value['version'] !== 1 || !isObject(value['process'])) return undefined
  const { project, port, token, startedAt } = value
  const { pid, host, startedAt: ticks } = value['process']
  if (typeof project !== 'string' || typeof port !== 'number' || typeof token !== 'string')
    return undefined
  if (typeof startedAt !== 'string' || typeof pid !== 'number' || typeof host !== 'string')
    return undefined
  const identity = { pid, host, startedAt: typeof ticks === 'string' ? ticks : undefined }
  return { version: 1, project, port, token, startedAt, process: identity }
}
