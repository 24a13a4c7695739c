import type { Context, Serde } from '@restatedev/restate-sdk'
import type { ApprovalRecord } from '../journal-records.ts'
import type { Decision, WaitingNotice } from './protocol.ts'
import type { Sdk } from './sdk.ts'

/** The entry of the server's journal by which a run says that it waits, and for what. */
export const waitingEntry = 'waiting'

/**
 * Lets a run wait for a person: it says what for, and goes on when somebody answers, however many
 * workers and servers have come and gone by then.
 * @returns `cancelled` when the run is ended while it waits.
 */
export async function waitForPerson(
  sdk: Sdk,
  context: Context,
  notice: () => Omit<WaitingNotice, 'awakeable'>,
): Promise<Decision | 'cancelled'> {
  try {
    const { id, promise } = context.awakeable(decisionSerde)
    await context.run(waitingEntry, (): WaitingNotice => ({ ...notice(), awakeable: id }))
    return await promise
  } catch (error) {
    if (error instanceof sdk.CancelledError) return 'cancelled'
    // Somebody refused the promise itself: no decision about any gate.
    if (error instanceof sdk.TerminalError) return { approvals: [] }
    throw error
  }
}

/** Whatever else reaches the promise decides nothing; it must not stop the run for ever. */
export function readDecision(text: string): Decision {
  try {
    const value: unknown = JSON.parse(text)
    if (!isRecord(value)) return { approvals: [] }
    const given = Array.isArray(value['approvals']) ? value['approvals'] : []
    const yesGates = value['yesGates'] === true ? { yesGates: true as const } : {}
    return { approvals: given.filter((item) => isApproval(item)), ...yesGates }
  } catch {
    return { approvals: [] }
  }
}

const decisionSerde: Serde<Decision> = {
  contentType: 'application/json',
  serialize: (value) => Buffer.from(JSON.stringify(value)),
  deserialize: (data) => readDecision(Buffer.from(data).toString('utf8')),
}

function isApproval(value: unknown): value is ApprovalRecord {
  return (
    isRecord(value) &&
    value['type'] === 'approval' &&
    typeof value['approved'] === 'boolean' &&
    ['key', 'planDigest', 'stateDigest', 'at'].every((name) => typeof value[name] === 'string')
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
