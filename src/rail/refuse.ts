import { isRunning, refuseBelowAgent } from '#core/agent-ancestry'
import type { Context } from '#core/command'
import type { Runtime } from '#core/runtime'
import { hasAcceptedGuards } from '#trust/accepted-guards'
import { type RailSession, readRails } from './session.ts'

/**
 * Refuses an agent every action that would remove guards, while there are any.
 *
 * @throws {AgentRefusedError}
 */
export function refuseWhileGuarded(
  context: Pick<Context, 'runtime' | 'settings'>,
  action: string,
): void {
  const { runtime } = context
  const isGuarded = readRails(runtime).some(
    (reading) => reading.kind === 'unreadable' || isGuarding(reading.rail, runtime),
  )
  if (isGuarded || hasAcceptedGuards(runtime)) refuseBelowAgent(context, action)
}

/**
 * Refuses an agent another chain while a rail of the project has guards: the agent could leave its procedure.
 *
 * @throws {AgentRefusedError}
 */
export function refuseOtherChain(
  context: Pick<Context, 'runtime' | 'settings'>,
  workspace: string,
  chain: string,
): void {
  const isOther = readRails(context.runtime).some((reading) => {
    if (reading.kind !== 'rail') return reading.kind === 'unreadable'
    const { rail } = reading
    return rail.workspace === workspace && isGuarding(rail, context.runtime) && rail.chain !== chain
  })
  if (isOther) refuseBelowAgent(context, `chain start of ${chain}`)
}

/** Whether a rail has guards. Those of a chain that has failed end with the client, as far as this goes. */
function isGuarding({ guards, standing, clientProcess, kept }: RailSession, { platform }: Runtime) {
  const count = guards.length + (kept?.guards.length ?? 0)
  const isLeft =
    standing === 'failed' &&
    clientProcess !== undefined &&
    isRunning(clientProcess, platform) === false
  return count > 0 && !isLeft
}
