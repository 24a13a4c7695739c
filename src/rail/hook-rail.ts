import { statSync } from 'node:fs'
import { messageOf } from '#core/errors'
import { adapters } from '#hooks/adapters'
import type { RailAnswer, RailEvent, RailHook } from '#hooks/rail-hook'
import type { Patience } from './events.ts'
import type { SenderReader } from './sender.ts'
import { guardsDirectory } from '#trust/guards-place'
import { unattributed } from '#hooks/rail-facts'
import { calledChain, mayStartChain, railPath, startingPath } from './place.ts'
import { openRails, type Reach, statesHere, unendedRails } from './rail-marks.ts'
import { denialWithoutState } from './unknown-guards.ts'

/**
 * Answers the events of a client for a rail. In a session without a rail, in a project without an open one, the hook
 * looks for one file and in one folder, before a tool call for two more paths, and loads nothing. Another process does
 * the slow work: it starts chains, and runs checks and scripts.
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
  const { kind, payload, platform, prompt, runtime } = event
  const { session, call } = payload
  if (session !== undefined && mayExist(railPath(runtime, session))) return true
  const isBefore = kind === 'before' && session !== undefined
  if (isBefore && mayExist(startingPath(runtime, session))) return true
  switch (kind) {
    case 'prompt':
      if (session === undefined) return false
      if (mayMatter(runtime, isAboutRail(payload.prompt) ? unendedRails : openRails)) return true
      return (await calledChain(event, prompt)) !== undefined
    case 'before': {
      // A rail of the project may apply: that of a subagent's parent, or one whose client was closed.
      const isOfAny = session === undefined || unattributed.has(platform)
      if (mayMatter(runtime, isOfAny ? unendedRails : openRails)) return true
      return mayStartChain(payload) || mayExist(guardsDirectory(runtime))
    }
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

/** Whether a rail may matter here; also true if the folder cannot be listed, because guards may be there. */
function mayMatter(runtime: RailEvent['runtime'], reaches: ReadonlySet<Reach>): boolean {
  return statesHere(runtime, reaches)?.length !== 0
}

/** Whether a prompt may be a decision about a rail, such as one that failed in another session. */
function isAboutRail(prompt: string): boolean {
  return /\brail\b/.test(prompt)
}

/** Whether a path exists; also true if it is not accessible, because guards may be there. */
function mayExist(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}
