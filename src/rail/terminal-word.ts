import { refuseBelowAgent } from '#core/agent-ancestry'
import type { Context } from '#core/command'
import { wrongUse } from '#core/errors'
import { isYes, safeLine } from '#core/text'
import { ApprovalRefusedError, RunStateError } from '#chain/errors'
import type { ChainProject } from '#project/chains'
import { hasEnded, readRail, readRails } from './session.ts'
import { standingText, stepsOf } from './events.ts'
import { statusLine } from './texts.ts'
import { answerRequest } from './work.ts'
import { readRailWord, terminalLine } from './words.ts'

/** What a word in a terminal did to a rail. */
export interface RailReply {
  runId: string
  chain: string
  /** What happened, in one line for the user. */
  line: string
  /** Whether the word had an effect, or asked for nothing else than the state. */
  hasWorked: boolean
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
  const rail = railToMean(project, run)
  const { runId, chain, session } = rail
  const word = readRailWord(['rail', ...words].join(' '), stepsOf(rail))
  if (word === undefined) {
    throw wrongUse(`"${safeLine(words.join(' '))}" is not a word for a rail`, knownWords)
  }
  if (word.word === 'unclear') throw wrongUse(word.message, knownWords)
  if (word.word === 'status') return { runId, chain, line: statusLine(rail), hasWorked: true }
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

/** Finds the rail of a run, or the only one of this project. */
function railToMean({ workspace, context }: ChainProject, run: string | undefined) {
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
  if (rail && others.length === 0) return rail
  if (rail) {
    const lines = [rail, ...others].map((one) => safeLine(statusLine(one))).join(' | ')
    throw new RunStateError(
      'rail-ambiguous',
      open.length > 0 ? `several chains are open: ${lines}` : `several chains failed: ${lines}`,
      'Name one: --run RUN',
    )
  }
  const which = run === undefined ? 'in this project' : `with the run ${safeLine(run)}`
  const list =
    'A chain opens when you start it in your agent client: skillrail names the calls. Earlier runs: skillrail runs list'
  throw new RunStateError('rail-missing', `no chain is open as a rail ${which}`, list)
}
