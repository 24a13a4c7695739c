import { refuseBelowAgent } from '#core/agent-ancestry'
import type { Context } from '#core/command'
import type { Runtime } from '#core/runtime'
import { type RailSession, readRails, removeRail } from './session.ts'

/** A rail that a user has ended with its run. */
export type EndedRail = Pick<RailSession, 'runId' | 'chain' | 'client'>

/**
 * Returns the rails of runs that a user gives up.
 *
 * @param action what ends them, as the beginning of a sentence
 * @throws {AgentRefusedError} if there are some, and an agent client has started this process
 */
export function railsToEnd(
  context: Pick<Context, 'runtime' | 'settings'>,
  action: string,
  runIds: readonly string[],
): RailSession[] {
  const rails = readRails(context.runtime).flatMap((reading) =>
    reading.kind === 'rail' && runIds.includes(reading.rail.runId) ? [reading.rail] : [],
  )
  if (rails.length > 0) refuseBelowAgent(context, action)
  return rails
}

/** Ends rails: their guards deny nothing any more. */
export function endRails(runtime: Runtime, rails: readonly RailSession[]): EndedRail[] {
  return rails.map(({ session, runId, chain, client }) => {
    removeRail(runtime, session)
    return { runId, chain, client }
  })
}
