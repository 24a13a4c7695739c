import { existsSync } from 'node:fs'
import type { Runtime } from '#core/runtime'
import type { RailAnswer } from '#hooks/rail-hook'
import type { ClientCall } from './calls.ts'
import { guardDenial } from './guards.ts'
import type { SenderReader } from './sender.ts'
import { openRails } from './rail-marks.ts'
import { type RailSession, readRailsHere } from './session.ts'
import { terminalLine } from './words.ts'

/** Returns the open rails of this project whose client has ended, so that no session continues them. */
export function leftRails(
  runtime: Runtime,
  session: string | undefined,
  senders: SenderReader,
): RailSession[] {
  return readRailsHere(runtime, openRails).flatMap((reading) => {
    if (reading.kind !== 'rail' || reading.rail.session === session) return []
    const { clientProcess } = reading.rail
    if (clientProcess === undefined) return []
    return senders.isRunning(clientProcess) === false ? [reading.rail] : []
  })
}

/** Returns why another session may not make a guarded call: no session has its step. */
export async function denialOfLeft(
  call: ClientCall,
  rails: readonly RailSession[],
): Promise<{ reason: string; run: string } | undefined> {
  for (const rail of rails) {
    const why = `and no session continues it. ${leftLine([rail])} Do not work around this: tell the user.`
    const reason = await guardDenial(call, rail, why)
    if (reason !== undefined) return { reason, run: rail.runId }
  }
  return undefined
}

/** Tells the agent and the user of chains that wait for a session. */
export function leftAnswer(rails: readonly RailSession[]): RailAnswer {
  const tell = leftLine(rails)
  const text = `${tell} Tell the user so. Do not do the steps of such a chain before that; its guarded calls are denied.`
  return { kind: 'context', text, tell }
}

/** Says which chains wait, and how a user continues or ends them. */
export function leftLine(rails: readonly RailSession[]): string {
  const [rail, ...others] = rails
  if (!rail) return ''
  if (others.length > 0) {
    const names = rails.map(({ chain, runId }) => `${chain} (${runId})`).join(', ')
    return `Several chains of this project are open, and their clients were closed: ${names}. Give up all but one in a terminal of your own: skillrail runs cancel RUN. Then type "rail resume" to continue the last one here.`
  }
  const { chain, runId, step, waiting, journal } = rail
  const name = step?.step ?? waiting?.step
  const place = name === undefined ? '' : ` at ${name}`
  const resume =
    journal === undefined || existsSync(journal)
      ? 'Type "rail resume" to continue it here, or "rail stop" to give it up'
      : 'Its run was deleted: type "rail stop" to give it up'
  return `The chain ${chain} is open${place}, and its client was closed. ${resume}. In a terminal of your own: ${terminalLine('stop', runId)}`
}
