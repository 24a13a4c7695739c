import type { Runtime } from '#core/runtime'
import type { HookEvent, Platform } from './adapters.ts'
import type { HookPayload } from './prompt.ts'

/**
 * Enforces a chain in the session of a client. The hook asks it at every event, before the
 * triggers.
 */
export interface RailHook {
  /** Undefined if no rail answers the event. Never throws. */
  answer(event: RailEvent): Promise<RailAnswer | undefined>
}

export interface RailEvent {
  platform: Platform
  kind: HookEvent
  payload: HookPayload
  /** The prompt, with the call of a skill as `/skill arguments`; empty for other events. */
  prompt: string
  /** The installed chain that has this name. */
  chainNamed(name: string): Promise<ChainSkill | undefined>
  runtime: Runtime
}

export interface ChainSkill {
  name: string
  /** Its `SKILL.md`. */
  path: string
  /** Only a user can start it: its author disabled the invocation by models. */
  personOnly: boolean
}

export type RailAnswer = RailReaction & {
  /** The run of the session's rail, for the log. */
  run?: string | undefined
}

type RailReaction =
  /** For the model; `tell` is one line for the user. `hasStep`: the end of the turn matters to the rail. */
  | { kind: 'context'; text: string; tell?: string | undefined; hasStep?: boolean | undefined }
  /** Denies a tool call. `startsRail`: a chain has started in its place, and the reason has its first step. */
  | { kind: 'deny'; reason: string; startsRail?: true | undefined }
  /** Lets the client ask the user about a tool call; denies it if the client cannot. */
  | { kind: 'ask'; question: string }
  /** Continues the agent at the end of its turn. */
  | { kind: 'block'; reason: string }
  /** Lets the event pass, with one line for the user if the client can show it. */
  | { kind: 'tell'; tell: string }

/** Begins the text for the agent if the client cannot show the user a line. */
export const tellBeginning = 'Tell the user in one sentence, then end your turn: '
