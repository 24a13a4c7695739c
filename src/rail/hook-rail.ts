import { statSync } from 'node:fs'
import { messageOf } from '#core/errors'
import { adapters } from '#hooks/adapters'
import type { RailAnswer, RailEvent, RailHook } from '#hooks/rail-hook'
import type { Patience } from './events.ts'
import type { SenderReader } from './sender.ts'
import { guardsDirectory } from '#trust/guards-place'
import { unattributed } from '#hooks/rail-facts'
import { calledChain, mayStartChain, railPath, railsDirectory, startingPath } from './place.ts'
import { denialWithoutState } from './unknown-guards.ts'

/**
 * Answers the events of a client for a rail. In a session without a rail, the hook looks for one file, before
 * a tool for one more, and loads nothing. Another process does the slow work: it starts chains, and runs
 * checks and scripts.
 */
export const railHook: RailHook = createRailHook()

/**
 * @param patience how long events wait for that process; default: a time tested with each client
 * @param senders who sends an event; default: as the processes of this machine show it
 */
export function createRailHook(patience: Partial<Patience> = {}, senders?: SenderReader): RailHook {
  return {
    async answer(event: RailEvent): Promise<RailAnswer | undefined> {
      if (!(await mayConcern(event))) return undefined
      try {
        const { answerRailEvent } = await import('./events.ts')
        return await answerRailEvent(event, patience, senders)
      } catch (error) {
        return answerFailure(event, messageOf(error))
      }
    },
  }
}

/** If guards cannot be applied, commands and MCP tools are denied. Nothing else stops the agent. */
function answerFailure(
  { kind, payload, platform, runtime }: RailEvent,
  reason: string,
): RailAnswer | undefined {
  const { session = '', call } = payload
  const path = railPath(runtime, session)
  if (kind === 'before') {
    const denial = denialWithoutState(call, { path, reason })
    return denial === undefined ? undefined : { kind: 'deny', reason: denial }
  }
  const tell = `The chain of this session cannot continue: ${reason} (${path})`
  // Where the agent says the line, an end of a turn without a record would be answered again and again.
  if (kind === 'stop' && adapters[platform].tell) return { kind: 'tell', tell }
  if (kind !== 'prompt') return undefined
  return { kind: 'context', text: `${tell}. Tell the user; do not do its steps.`, tell }
}

async function mayConcern(event: RailEvent): Promise<boolean> {
  const { kind, payload, prompt, platform, runtime } = event
  const { session, call } = payload
  if (session !== undefined && mayExist(railPath(runtime, session))) return true
  const isBefore = kind === 'before' && session !== undefined
  if (isBefore && mayExist(startingPath(runtime, session))) return true
  switch (kind) {
    case 'prompt':
      if (session === undefined) return false
      return isResumption(payload.prompt) || (await calledChain(event, prompt)) !== undefined
    case 'before':
      // The project's rails apply to a call of an unknown session, and to that of a subagent with its own session.
      if (session === undefined || unattributed.has(platform)) {
        if (mayExist(railsDirectory(runtime))) return true
      }
      return mayStartChain(payload) || mayExist(guardsDirectory(runtime))
    case 'after': {
      const [name] = call?.kind === 'skill' ? call.paths : []
      return name !== undefined && (await event.chainNamed(name)) !== undefined
    }
    case 'stop':
    case 'compact':
    case 'subagent':
      return false
  }
}

/** `rail resume` and `rail stop` in a session without a rail are about that of another one. */
function isResumption(prompt: string): boolean {
  return /\brail\s+(?:resume|stop)\s*$/.test(prompt)
}

/** Whether a path exists; also true if it is not accessible, because guards may be there. */
function mayExist(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}
