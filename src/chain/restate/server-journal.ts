import { setTimeout as sleep } from 'node:timers/promises'
import { isList, objectOf } from '../../core/json.ts'
import type { Outcome } from '../engine.ts'
import { ask, refusal, RestateServerError, select, type ServerAddress } from './client.ts'
import type { Decision, NestedAnswer, WaitingNotice } from './protocol.ts'

export type ServerEntry =
  | { kind: 'started'; completion: number; key: string; at: string; nested: string | undefined }
  | { kind: 'ended'; completion: number; at: string; value: Outcome | NestedAnswer | undefined }

/** The entries from `next` on, and where those after them begin. */
export async function readServerJournal(
  address: ServerAddress,
  invocationId: string,
  next: number,
): Promise<{ entries: ServerEntry[]; next: number }> {
  const rows = await select(
    address,
    'select index, name, appended_at, entry_json from sys_journal ' +
      `where id = '${invocationId}' and index >= ${next} order by index`,
  )
  const last = rows.at(-1)?.['index']
  return {
    entries: rows.flatMap((row) => parseRow(row) ?? []),
    next: typeof last === 'number' ? last + 1 : next,
  }
}

export async function lookAtWaiting(
  address: ServerAddress,
  invocationId: string,
): Promise<Waiting | undefined> {
  const [row] = await select(
    address,
    `select index, name, appended_at, entry_json from sys_journal where id = '${invocationId}' ` +
      'order by index desc limit 1',
  )
  const entry = row === undefined ? undefined : parseRow(row)
  const index = row?.['index']
  if (entry?.kind !== 'ended' || typeof index !== 'number') return undefined
  // An answer would follow it.
  return isNotice(entry.value) ? { ...entry.value, next: index + 1 } : undefined
}

/** As the admin interface of Restate 1.7 writes an entry: runs and calls only. */
function parseRow(row: Record<string, unknown>): ServerEntry | undefined {
  const { entry_json: text, appended_at: at, name: key } = row
  if (typeof text !== 'string' || typeof at !== 'string') return undefined
  const { Command: command, Notification: notification } = JSON.parse(text)
  const call = command?.Run ?? command?.Call
  if (call !== undefined) {
    const completion = call.completion_id ?? call.result_completion_id
    if (typeof completion !== 'number' || typeof key !== 'string') return undefined
    return { kind: 'started', completion, key, at, nested: call.request?.invocation_id }
  }
  const ended = notification?.Completion?.Run ?? notification?.Completion?.Call
  const completion = ended?.completion_id
  if (typeof completion !== 'number') return undefined
  const bytes = ended.result?.Success
  const value = Array.isArray(bytes) ? JSON.parse(Buffer.from(bytes).toString('utf8')) : undefined
  return { kind: 'ended', completion, at, value }
}

/** A run that waits for a user, and where in its journal it says so. */
export interface Waiting extends WaitingNotice {
  next: number
}

/** Resolves when the run waits for a user for something new. */
export async function untilWaiting(
  address: ServerAddress,
  invocationId: string,
  answered: string | undefined,
  over: AbortSignal,
): Promise<Waiting> {
  for (;;) {
    await sleep(intervalMs, undefined, { signal: over })
    try {
      const waiting = await lookAtWaiting(address, invocationId)
      if (waiting !== undefined && waiting.awakeable !== answered) return waiting
    } catch (error) {
      // Who waits for the end of the run notices a server that stays away.
      if (!(error instanceof RestateServerError)) throw error
    }
  }
}

export async function answerWaiting(
  address: ServerAddress,
  { awakeable }: Pick<WaitingNotice, 'awakeable'>,
  decision: Decision,
): Promise<void> {
  const path = `/restate/awakeables/${encodeURIComponent(awakeable)}/resolve`
  const answer = await ask(address, 'ingress', path, { method: 'POST', body: decision })
  if (answer.status >= 300) throw refusal('accept the decision', answer)
}

function isNotice(value: unknown): value is WaitingNotice {
  const { awakeable, gates, result } = objectOf(value)
  return typeof awakeable === 'string' && isList(gates) && result !== undefined
}

const intervalMs = 300
