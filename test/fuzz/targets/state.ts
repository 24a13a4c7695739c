import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { acquireFileLock } from '../../../src/core/file-lock.ts'
import { StateFileError } from '../../../src/core/errors.ts'
import { parseTrust, serializeTrust } from '../../../src/trust/store.ts'
import { parseSession, serializeSession } from '../../../src/tools/workflow/session-file.ts'
import { scratchFolder, writeIn } from '../_scratch.ts'
import { demand, same, textOf } from '../target.ts'

export const name = 'state'
const digest = `sha256:${'0a'.repeat(32)}`
const part = `{"owner":"","path":"a","kind":"script","digest":"${digest}","size":1}`
export const seeds: readonly string[] = [
  `{"version":1,"workspaces":[{"workspace":"/a","acceptedAt":"x","pinned":true,"parts":[${part}]}]}`,
  '{"version":1,"session_id":"s","started_at":"2026-01-01T00:00:00Z","completed":{"w":{"t":{"at":"x","result":"y","scopes":[{"scope":{"a":1},"at":"x","result":"y","value":[1]}]}}}}',
  '{"session_id":"s","started_at":"2026-01-01","completed":{"__proto__":{"t":{"at":"x","result":"y"}}}}',
  '{"pid":1,"startedAt":"5","host":"elsewhere"}',
  '{"pid":1e99,"host":"HOST"}',
  '{"pid":-1,"host":"HOST","token":"x"}',
  '{"version":2}',
  `{"version":1,"workspaces":${'['.repeat(6000)}${']'.repeat(6000)}}`,
]
export const words: readonly string[] = [
  part,
  digest,
  '"workspaces":[',
  '"completed":{',
  '"scopes":[',
  '"pid":',
  '"host":"HOST"',
  '"workspace":"/a"',
  '__proto__',
]

const lock = path.join(scratchFolder(), 'state.json')
const lockFile = `${lock}.lock`

/** A record is read as a whole or refused by name, and is the same when it was written and read. */
export function fuzz(data: Uint8Array): void {
  const text = textOf(data)
  checkTrust(text)
  checkSession(text)
  if (text.includes('"pid"') && data.length < 500) checkLock(text)
}

function checkTrust(text: string): void {
  const acceptances = orRefused(() => parseTrust(text, '/trust.json'))
  if (acceptances === undefined) return
  const again = parseTrust(serializeTrust(acceptances), '/trust.json')
  demand(same(again, acceptances), 'trust that is not the same again', acceptances)
  for (const { workspace, parts } of acceptances) {
    demand(path.isAbsolute(workspace), 'a workspace', workspace)
    for (const each of parts) demand(/^sha256:[0-9a-f]{64}$/.test(each.digest), 'a digest', each)
  }
}

function checkSession(text: string): void {
  const reading = parseSession(text)
  if (reading.kind !== 'state') return
  const again = parseSession(serializeSession(reading.state))
  demand(again.kind === 'state', 'a session that is not read again', reading)
  demand(same(entriesOf(again), entriesOf(reading)), 'a session that is not the same again', text)
}

function entriesOf(reading: Extract<ReturnType<typeof parseSession>, { kind: 'state' }>): unknown {
  const { state } = reading
  return [state.sessionId, state.startedAt, state.completed]
}

/** For any file at the path of the lock, the lock is acquired, in use, or reported as foreign. */
function checkLock(text: string): void {
  const host = /"host":"([^"]*)"/.exec(JSON.stringify(ownHost()))?.[1] ?? ''
  writeIn(lockFile, text.replaceAll('HOST', host))
  const attempt = orRefused(() => acquireFileLock(lock))
  if (attempt?.ok === true) {
    demand(readFileSync(lockFile, 'utf8') !== text, 'a lock that is not ours')
    attempt.release()
    demand(!existsSync(lockFile), 'a lock that stays')
  }
  rmSync(lockFile, { force: true })
}

let own: { host: string } | undefined

function ownHost(): { host: string } {
  if (own !== undefined) return own
  const attempt = acquireFileLock(`${lock}.own`)
  const text = readFileSync(`${lock}.own.lock`, 'utf8')
  if (attempt.ok) attempt.release()
  const read: { host: string } = JSON.parse(text)
  own = { host: read.host }
  return own
}

function orRefused<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof StateFileError) return undefined
    throw error
  }
}
