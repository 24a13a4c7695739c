import { existsSync } from 'node:fs'
import { lockHolder } from '#core/file-lock'
import { findWorkspace } from '#core/read-files'
import type { RailAnswer, RailEvent } from '#hooks/rail-hook'
import { railPath } from './place.ts'
import { unendedRails } from './rail-marks.ts'
import { judgePrompt, type SenderReader } from './sender.ts'
import { addRail, type RailSession, readRailsHere, removeRail } from './session.ts'

/** The whole prompt, also as a call of the skill `rail`. */
const wanted = /^\s*(?:[/$](?:[\w.-]+:)*)?rail\s+(resume|stop)\s*$/

/** Returns the word of a prompt that may be about the rail of another session. */
export function wordToTakeOver(prompt: string): 'resume' | 'stop' | undefined {
  const [, word] = wanted.exec(prompt) ?? []
  return word === 'resume' || word === 'stop' ? word : undefined
}

/**
 * Moves a rail of this project into the session of the prompt, if its own session is gone: its client has
 * ended, or the same process of the client has begun another session. Returns the moved rail, or why none
 * was moved; undefined if no rail of this project is open.
 */
export function takeOver(
  event: Pick<RailEvent, 'platform' | 'payload' | 'runtime'> & { session: string; turn: string },
  word: 'resume' | 'stop',
  senders: SenderReader,
): { rail: RailSession } | { refusal: RailAnswer } | undefined {
  const { runtime, platform, session, turn } = event
  const workspace = findWorkspace(runtime.cwd, runtime)
  const open = readRailsHere(runtime, unendedRails).flatMap((reading) =>
    reading.kind === 'rail' &&
    reading.rail.workspace === workspace &&
    reading.rail.session !== session &&
    isFor(word, reading.rail)
      ? [reading.rail]
      : [],
  )
  if (open.length === 0) return undefined
  const judged = open.map((rail) => ({ rail, verdict: judgePrompt(event, rail, senders) }))
  const free = judged.flatMap(({ rail, verdict }) =>
    verdict.kind === 'same' ? [{ rail, clientProcess: verdict.process }] : [],
  )
  const [first, ...others] = free
  if (!first) {
    const reasons = judged.flatMap(({ rail, verdict }) =>
      verdict.kind === 'same' ? [] : [`${named(rail)}: ${verdict.why}`],
    )
    return refused(
      `No chain of this project can continue or be stopped in this session. ${reasons.join('. ')}`,
    )
  }
  if (others.length > 0) {
    const names = free.map(({ rail }) => named(rail)).join(', ')
    return refused(
      `Several chains of this project wait: ${names}. Give up all but one: skillrail runs cancel RUN`,
    )
  }
  const { rail, clientProcess } = first
  if (lockHolder(railPath(runtime, rail.session)) !== undefined) {
    return refused(
      `Skillrail still works on ${named(rail)}. Type \`rail ${word}\` again in a moment.`,
    )
  }
  const moved: RailSession = {
    ...rail,
    session,
    client: platform,
    clientProcess,
    unconfirmed: undefined,
    turn: { id: turn, receivedStep: false, worked: false, blocks: 0 },
    sequence: rail.sequence + 1,
  }
  // Between the two, both sessions have the rail: its guards apply in both.
  if (!addRail(runtime, moved)) return undefined
  removeRail(runtime, rail.session)
  return { rail: moved }
}

/** A chain that has failed, or whose run was deleted, can be stopped, but does not continue. */
function isFor(word: 'resume' | 'stop', { standing, journal }: RailSession): boolean {
  if (standing === 'ended' || word === 'stop') return standing !== 'ended'
  return standing !== 'failed' && (journal === undefined || existsSync(journal))
}

function named({ chain, runId }: RailSession): string {
  return `\`${chain}\` (${runId})`
}

function refused(tell: string): { refusal: RailAnswer } {
  return { refusal: { kind: 'context', text: `${tell}. Tell the user so.`, tell } }
}
