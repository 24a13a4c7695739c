import { refuseBelowAgent } from '#core/agent-ancestry'
import type { Context } from '#core/command'
import { wrongUse } from '#core/errors'
import { isYes, safeLine } from '#core/text'
import { ApprovalRefusedError, RunStateError } from '#chain/errors'
import type { ChainProject } from '#project/chains'
import { hasEnded, readRail, type RailSession, readRails } from './session.ts'
import { standingText, stepsOf } from './events.ts'
import { statusLine } from './texts.ts'
import { answerRequest } from './work.ts'
import { readRailWord, terminalLine } from './words.ts'

/** What a word in a terminal did to a rail. */
export interface RailReply extends RailLine {
  /** Whether the word had an effect, or only asked for the state. */
  hasWorked: boolean
  /** The other open chains of this project, if the word only asked for the state. */
  others?: readonly RailLine[]
}

interface RailLine {
  runId: string
  chain: string
  /** What happened, or the state, in one line for the user. */
  line: string
}

/**
 * Carries out `rail WORD` at a terminal, for example where the processes of a client cannot be read. The
 * session of the rail learns it at its next event.
 *
 * @throws {AgentRefusedError} if an agent client has started this process
 */
export async function sayInTerminal(
  context: Context,
  project: ChainProject,
  { words, run }: { words: readonly string[]; run: string | undefined },
): Promise<RailReply> {
  const { runtime } = context
  const rails = railsMeant(project, run)
  const [rail, ...others] = rails
  const word = readRailWord(['rail', ...words].join(' '), stepsOf(rail))
  if (word?.word === 'status') {
    return { ...standingOf(rail), hasWorked: true, others: others.map(standingOf) }
  }
  if (others.length > 0) throw ambiguous(rails)
  const { runId, chain, session } = rail
  if (word === undefined) {
    throw wrongUse(`"${safeLine(words.join(' '))}" is not a word for a rail`, knownWords)
  }
  if (word.word === 'unclear') throw wrongUse(word.message, knownWords)
  if (word.word === 'approve' || word.word === 'reject') {
    throw wrongUse('a gate has commands of its own', `Use: ${terminalLine(word.word, runId)}`)
  }
  refuseBelowAgent(context, `rail ${word.word}`)
  const again = terminalLine(word.word, runId)
  const refused = (code: string, message: string): ApprovalRefusedError =>
    new ApprovalRefusedError(code, message, `In a terminal: ${again}`)
  const answer = await context.ask({
    text: `Do \`rail ${word.word}\` in the chain ${safeLine(chain)} (run ${runId})? [y/N] `,
    about: () => `${safeLine(statusLine(rail))}\n`,
    otherwise: () =>
      refused('rail-needs-terminal', 'this needs the answer of a user at a terminal'),
  })
  if (!isYes(answer)) throw refused('rail-not-confirmed', 'nothing was changed')
  const waiting = { signal: context.signal, isLate: () => false }
  const request = { kind: 'word', session, word, event: 'prompt' } as const
  const done = await answerRequest(request, runtime, waiting)
  const reading = readRail(runtime, session)
  const now = reading.kind === 'rail' ? reading.rail : undefined
  const hasWorked = now?.sequence !== rail.sequence || now.standing !== rail.standing
  const told = done?.kind === 'context' ? done.tell : undefined
  const handed = now && `${standingText(now)} The session continues with your next prompt there.`
  return { runId, chain, line: told ?? handed ?? '', hasWorked }
}

const knownWords = 'Words: status, pause, resume, retry, stop, or accept STEP WHY.'

/** Returns the rails of a run, or those of this project; throws if there are none. */
function railsMeant(
  { workspace, context }: ChainProject,
  run: string | undefined,
): [RailSession, ...RailSession[]] {
  const readings = readRails(context.runtime)
  const rails = readings.flatMap((one) => (one.kind === 'rail' ? [one.rail] : []))
  const matches = rails.filter((rail) =>
    run === undefined
      ? rail.workspace === workspace && rail.standing !== 'ended'
      : rail.runId.startsWith(run),
  )
  // A chain that has failed is only meant if none is open: it keeps guards, and nothing else.
  const open = matches.filter((rail) => !hasEnded(rail))
  const [rail, ...others] = open.length > 0 ? open : matches
  if (rail) return [rail, ...others]
  const which = run === undefined ? 'in this project' : `with the run ${safeLine(run)}`
  const list =
    'A chain opens when you start it in your agent client: skillrail names the calls. Earlier runs: skillrail runs list'
  throw new RunStateError('rail-missing', `no chain is open as a rail ${which}`, list)
}

function ambiguous(rails: readonly RailSession[]): RunStateError {
  const lines = rails.map((one) => safeLine(statusLine(one))).join(' | ')
  const what = rails.some((one) => !hasEnded(one)) ? 'are open' : 'failed'
  return new RunStateError(
    'rail-ambiguous',
    `several chains ${what}: ${lines}`,
    'Name one: --run RUN',
  )
}

function standingOf(rail: RailSession): RailLine {
  const { runId, chain } = rail
  return { runId, chain, line: statusLine(rail) }
}
