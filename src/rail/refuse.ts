import { refuseBelowAgent } from '#core/agent-ancestry'
import type { Context } from '#core/command'
import { hasAcceptedGuards } from '#trust/accepted-guards'
import { readRails } from './session.ts'

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
    (reading) =>
      reading.kind === 'unreadable' || (reading.kind === 'rail' && reading.rail.guards.length > 0),
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
    return rail.workspace === workspace && rail.guards.length > 0 && rail.chain !== chain
  })
  if (isOther) refuseBelowAgent(context, `chain start of ${chain}`)
}
