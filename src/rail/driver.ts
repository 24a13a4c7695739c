import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { identityOf } from '#core/file-lock'
import { isObject, parseJson } from '#core/json'
import { countCalls } from '#hooks/given'
import type { RailAnswer, RailEvent } from '#hooks/rail-hook'
import { adapters } from '#hooks/adapters'
import { runnableText } from './command-lines.ts'
import { changeRail, hasNoOpenRail, readRail, type RailSession, removeRail } from './session.ts'
import { noteStart } from './starting.ts'
import { isForTurnEnd, type RailRequest } from './request.ts'

/** A file that does the work in a process of its own, or a function that does it in this process. */
export type RailProgram =
  | string
  | ((request: RailRequest, runtime: RailEvent['runtime']) => Promise<RailAnswer | undefined>)

/**
 * Starts the process that does the work, and waits for its answer. If that takes too long, the process
 * continues alone, and a later event delivers the result.
 */
export async function drive(
  { runtime }: RailEvent,
  request: RailRequest,
  patienceMs: number,
  program: RailProgram | undefined = installedProgram(),
): Promise<RailAnswer | undefined> {
  if (program === undefined) return withoutProgram(request)
  const answer =
    typeof program === 'string'
      ? await answerOf(program, runtime, request, patienceMs)
      : await program(request, runtime)
  if (answer === 'late') return lateAnswer(request)
  if (answer === 'crashed') return crashedAnswer(runtime, request)
  return answer && delivered(runtime, request, answer)
}

/** `late`: the process still works. `crashed`: the process ended without an answer. */
type DriverAnswer = RailAnswer | undefined | 'late' | 'crashed'

async function answerOf(
  file: string,
  runtime: RailEvent['runtime'],
  request: RailRequest,
  patienceMs: number,
): Promise<DriverAnswer> {
  const { cwd, env } = runtime
  const { session } = request
  return await new Promise((resolve) => {
    // A client may end the hook, but its work continues.
    const child = spawn(process.execPath, [...process.execArgv, file], {
      cwd,
      env: { ...env },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    })
    if (request.kind === 'start' && child.pid !== undefined) {
      noteStart(runtime, session, { process: identityOf(child.pid), chain: request.chain.name })
    }
    const timer = setTimeout(() => finish('late'), patienceMs)
    let output = ''
    const finish = (answer: DriverAnswer): void => {
      clearTimeout(timer)
      child.stdout.destroy()
      child.unref()
      resolve(answer)
    }
    child.on('error', () => finish('crashed'))
    child.stdin.on('error', () => undefined)
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.on('close', () => finish(readAnswer(output)))
    child.stdin.end(JSON.stringify({ request, deadline: Date.now() + patienceMs }))
  })
}

/** The program is beside the hook, or in the sources of a checkout; a client's package does not have it. */
function installedProgram(): string | undefined {
  const places = ['./rail.cjs', './rail-main.ts'].map((name) => new URL(name, import.meta.url))
  return places.map((place) => fileURLToPath(place)).find((path) => existsSync(path))
}

function withoutProgram(request: RailRequest): RailAnswer | undefined {
  if (request.kind !== 'start') return undefined
  const text = `The chain \`${request.chain.name}\` did not start as a rail, so none of its guards apply: this installation of Skillrail has no program for rails. To install it: npx skillrail hooks install ${request.client}`
  return { kind: 'context', text: `${text} Tell the user; do not do its steps.`, tell: text }
}

function readAnswer(output: string): DriverAnswer {
  const value = parseJson(output)
  if (!isObject(value)) return 'crashed'
  const text = (key: string): string | undefined => {
    const found = value[key]
    return typeof found === 'string' ? found : undefined
  }
  const [content = '', reason = '', tell] = [text('text'), text('reason'), text('tell')]
  const kind = text('kind') ?? ''
  switch (kind) {
    case 'context':
      return { kind, text: content, tell }
    case 'block':
      return { kind, reason }
    case 'tell':
      return { kind, tell: tell ?? '' }
    default:
      return undefined
  }
}

/** Records the answer for the client. A block without a record would be repeated forever. */
function delivered(
  runtime: RailEvent['runtime'],
  request: RailRequest,
  answer: RailAnswer,
): RailAnswer | undefined {
  try {
    noteDelivery(runtime, request, answer)
    return answer
  } catch {
    return answer.kind === 'block' ? undefined : answer
  }
}

function noteDelivery(
  runtime: RailEvent['runtime'],
  { kind, session }: RailRequest,
  answer: RailAnswer,
): void {
  const reading = readRail(runtime, session)
  if (reading.kind === 'rail' && reading.rail.standing === 'ended') {
    return removeRail(runtime, session)
  }
  const sent = 'reason' in answer ? answer.reason : 'text' in answer ? answer.text : undefined
  if (sent === undefined) return
  const isBlock = answer.kind === 'block'
  changeRail(runtime, session, (rail) => {
    const turn: RailSession['turn'] = {
      ...rail.turn,
      receivedStep: rail.turn.receivedStep || rail.step !== undefined,
      blocks: rail.turn.blocks + (isBlock ? 1 : 0),
      sent: isBlock ? runnableText(sent, runtime).slice(0, sentCharacters) : rail.turn.sent,
    }
    const pending = rail.pending === sent ? undefined : rail.pending
    if (kind !== 'recall') return { ...rail, turn, pending }
    const givenAt = countCalls(runtime, session, false)
    return { ...rail, turn, pending, isForgotten: undefined, givenAt }
  })
}

const sentCharacters = 120

function lateAnswer(request: RailRequest): RailAnswer | undefined {
  if (request.kind !== 'turn-end' && isForTurnEnd(request)) {
    const tell =
      'Skillrail still works on the chain or executes its scripts. Your next prompt continues it.'
    return { kind: 'tell', tell }
  }
  switch (request.kind) {
    case 'start':
    case 'agreed':
    case 'decided':
    case 'word': {
      const text =
        'Skillrail still works on the chain or executes its scripts. End your turn; you get the next step when that is done.'
      return { kind: 'context', text }
    }
    case 'turn-end':
      return {
        kind: 'tell',
        tell: 'Skillrail still checks this step. Your next prompt continues the chain.',
      }
    case 'deliver': {
      const text =
        'Files changed after the last check of the current step, so that Skillrail checks it again. Do not continue the chain: the next prompt delivers the result.'
      return { kind: 'context', text, tell: text }
    }
    case 'recall':
      return undefined
  }
}

/** Nothing counts as done. If the session has a rail, the end of the next turn continues it. */
function crashedAnswer(
  runtime: RailEvent['runtime'],
  request: RailRequest,
): RailAnswer | undefined {
  const reading = readRail(runtime, request.session)
  const ended = 'A process of Skillrail ended before it was done'
  switch (request.kind) {
    case 'start': {
      const { name } = request.chain
      const text = hasNoOpenRail(reading)
        ? `The chain \`${name}\` did not start as a rail: ${ended}. Do not do its steps.`
        : `${ended}. End your turn; then you get the first step of \`${name}\`.`
      return { kind: 'context', text: `${text} Tell the user.`, tell: text }
    }
    case 'word': {
      const tell = `${ended}; it is not known whether \`rail ${request.word.word}\` was carried out. Type \`rail status\`.`
      if (request.event === 'turn-end') return { kind: 'tell', tell }
      return { kind: 'context', text: `${tell} Tell the user so.`, tell }
    }
    case 'agreed': {
      const tell = `${ended}; the approval of ${request.step} may not be recorded. Type \`rail status\`.`
      return { kind: 'context', text: `${tell} Tell the user so.`, tell }
    }
    case 'decided':
    case 'deliver':
    case 'turn-end': {
      if (reading.kind !== 'rail') return undefined
      const tell = `${ended}: nothing counts as done. Your next prompt continues the chain ${reading.rail.chain}.`
      const stopped = stopTurn(runtime, reading.rail, tell)
      return isForTurnEnd(request) ? stopped : { kind: 'context', text: tell, tell }
    }
    case 'recall':
      return undefined
  }
}

function stopTurn(
  runtime: RailEvent['runtime'],
  { session, client }: RailSession,
  reason: string,
): RailAnswer | undefined {
  const answer = { kind: 'tell', tell: reason } as const
  try {
    changeRail(runtime, session, (rail) => ({ ...rail, standing: 'continue', reason }))
    return answer
  } catch {
    // Where the agent says the line, this end of a turn would be answered again and again.
    return adapters[client].tell === undefined ? undefined : answer
  }
}
