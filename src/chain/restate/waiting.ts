import { setTimeout as sleep } from 'node:timers/promises'
import { ask, refusal, RestateServerError, type ServerAddress } from './client.ts'
import type { Decision, WaitingNotice } from './protocol.ts'
import { lastValue } from './server-journal.ts'

/** A run that waits for a user, and where in its journal it says so. */
export interface Waiting extends WaitingNotice {
  /** The first entry after it. */
  next: number
}

export async function lookAtWaiting(
  address: ServerAddress,
  invocationId: string,
): Promise<Waiting | undefined> {
  const last = await lastValue(address, invocationId)
  // An answer would follow it.
  return isNotice(last?.value) ? { ...last.value, next: last.next } : undefined
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
  if (answer.status >= 300) throw refusal('take the decision', answer)
}

export function isNotice(value: unknown): value is WaitingNotice {
  return (
    typeof value === 'object' &&
    value !== null &&
    'awakeable' in value &&
    typeof value.awakeable === 'string' &&
    'gates' in value &&
    Array.isArray(value.gates) &&
    'result' in value
  )
}

const intervalMs = 300
