import type { ClientProcess } from '#core/agent-ancestry'
import type { Platform } from '#hooks/adapters'
import type { ChainSkill } from '#hooks/rail-hook'
import type { KeptGuards } from './session.ts'
import type { RailDecision } from './words.ts'

/** A request of the hook to the process that works on a rail. */
export type RailRequest =
  | {
      kind: 'start'
      session: string
      client: Platform
      chain: ChainSkill
      words: readonly string[]
      /** Whether a success that only the agent reports counts as a failure. */
      requireVerified: boolean
      /** Whether a model started the chain: then each of its steps must allow that. */
      byModel: boolean
      turn: string
      clientProcess: ClientProcess | undefined
      /** The file in which the client writes the session. */
      transcript: string | undefined
      /** The guards of a failed chain in this session, which a user has started again or left. */
      kept?: KeptGuards | undefined
    }
  | { kind: 'turn-end'; session: string; message: string }
  /** Uses the result of a check that ended after its hook. */
  | { kind: 'deliver'; session: string }
  /** A user has typed a decision: the hook passes on no word from anything else. */
  | {
      kind: 'word'
      session: string
      word: RailDecision
      /** The event that the answer is for. */
      event: 'prompt' | 'turn-end'
    }
  /** The user agreed to a guarded call when the client asked. */
  | { kind: 'agreed'; session: string; step: string; question: string }
  /** The journal has changed while a gate waits: a user has decided in a terminal. */
  | { kind: 'decided'; session: string; event: 'prompt' | 'turn-end' }
  | { kind: 'recall'; session: string }

export type RequestOf<Kind extends RailRequest['kind']> = RailRequest & { kind: Kind }

/** Whether the answer is for the end of a turn, where it can only keep the agent working or tell the user. */
export function isForTurnEnd(request: RailRequest): boolean {
  return request.kind === 'turn-end' || ('event' in request && request.event === 'turn-end')
}
