import { existsSync } from 'node:fs'
import { oneSession } from '#hooks/rail-facts'
import type { RailAnswer, RailEvent } from '#hooks/rail-hook'
import type { ClientCall } from './calls.ts'
import { guardDenial } from './guards.ts'
import { isSameProcess, type SenderReader } from './sender.ts'
import { openRails } from './rail-marks.ts'
import { type RailSession, readRailsHere } from './session.ts'
import { terminalLine } from './words.ts'

/** An open rail that no session continues. */
export interface LeftRail extends RailSession {
  /** Why no session continues it, for a user. */
  left: 'its client was closed' | 'its session has ended'
}

/**
 * Returns the open rails of this project that no session continues: their client has ended, or its process has
 * replaced their session with this one, as after `/clear`.
 */
export function leftRails(
  { runtime, platform, payload: { session } }: RailEvent,
  senders: SenderReader,
): LeftRail[] {
  const others = readRailsHere(runtime, openRails).flatMap((reading) =>
    reading.kind === 'rail' && reading.rail.session !== session ? [reading.rail] : [],
  )
  if (others.length === 0) return []
  const own = oneSession.has(platform) ? senders.senderOf(platform, runtime.env) : undefined
  return others.flatMap((rail): LeftRail[] => {
    const { clientProcess, client } = rail
    if (clientProcess === undefined) return []
    if (senders.isRunning(clientProcess) === false) {
      return [{ ...rail, left: 'its client was closed' }]
    }
    const isSame =
      own?.kind === 'client' && client === platform && isSameProcess(own.process, clientProcess)
    return isSame ? [{ ...rail, left: 'its session has ended' }] : []
  })
}

/** Returns why another session may not make a guarded call: no session has its step. */
export async function denialOfLeft(
  call: ClientCall,
  rails: readonly LeftRail[],
): Promise<{ reason: string; run: string } | undefined> {
  for (const rail of rails) {
    const why = `and no session continues it. ${leftLine([rail])} Do not work around this: tell the user.`
    const reason = await guardDenial(call, rail, why)
    if (reason !== undefined) return { reason, run: rail.runId }
  }
  return undefined
}

/** Tells the agent and the user of chains that wait for a session. */
export function leftAnswer(rails: readonly LeftRail[]): RailAnswer {
  const tell = leftLine(rails)
  const text = `${tell} Tell the user so. Do not do the steps of such a chain before that; its guarded calls are denied.`
  return { kind: 'context', text, tell }
}

/** Says which chains wait, and how a user continues or ends them. */
export function leftLine(rails: readonly LeftRail[]): string {
  const [rail, ...others] = rails
  if (!rail) return ''
  if (others.length > 0) {
    const names = rails.map(({ chain, runId }) => `${chain} (${runId})`).join(', ')
    return `Several chains of this project are open, and no session continues them: ${names}. Give up all but one in a terminal of your own: skillrail runs cancel RUN. Then type "rail resume" to continue the last one here.`
  }
  const { chain, runId, step, waiting, journal, left } = rail
  const name = step?.step ?? waiting?.step
  const place = name === undefined ? '' : ` at ${name}`
  const resume =
    journal === undefined || existsSync(journal)
      ? 'Type "rail resume" to continue it here, or "rail stop" to give it up'
      : 'Its run was deleted: type "rail stop" to give it up'
  return `The chain ${chain} is open${place}, and ${left}. ${resume}. In a terminal of your own: ${terminalLine('stop', runId)}`
}
