import { sessionFolders } from '#core/client-folders'
import { parseJson } from '#core/json'
import { uniqueText } from '#core/runtime'
import { lockHolder } from '#core/file-lock'
import { findWorkspace } from '#core/read-files'
import { safeLine } from '#core/text'
import { type ChainSkill, type RailAnswer, type RailEvent, tellBeginning } from '#hooks/rail-hook'
import { guardsIn } from '#trust/accepted-guards'
import { calledChain, mayStartChain, railPath } from './place.ts'
import { adapters } from '#hooks/adapters'
import { claimOnce, countCalls } from '#hooks/given'
import { otherLineIn } from '#hooks/prompt'
import { splitArguments } from '#skill/arguments'
import { fingerprint } from '#core/fingerprint'
import type { ClientCall } from './calls.ts'
import { originOfPrompt } from './claude-transcript.ts'
import { runnableAnswer } from './command-lines.ts'
import type { RailProgram } from './driver.ts'
import { denialOf, denialWithoutRail } from './guards.ts'
import { denialOfLeft, leftAnswer, leftLine, leftRails } from './left-rails.ts'
import {
  changeRail,
  hasEnded,
  hasNoOpenRail,
  readRail,
  type RailReading,
  readRailsHere,
  type RailSession,
  removeRail,
  type SessionReading,
  type Standing,
  type Unconfirmed,
} from './session.ts'
import { turnLimits, unattributed } from '#hooks/rail-facts'
import { judgePrompt, processToNote, type SenderReader, systemSender } from './sender.ts'
import { isForTurnEnd, type RailRequest, type RequestOf } from './request.ts'
import { unendedRails } from './rail-marks.ts'
import { startingChain } from './starting.ts'
import { takeOver, wordToTakeOver } from './take-over.ts'
import { isDecidedElsewhere } from './terminal-decision.ts'
import { denialAtStart, denialWithoutRecord, denialWithoutState } from './unknown-guards.ts'
import {
  type RailDecision,
  type RailWord,
  readRailWord,
  readUnknownWord,
  terminalLine,
} from './words.ts'

/** Answers one event of a session that has a rail, or in which a chain may start. */
export async function answerRailEvent(
  event: RailEvent,
  given: Partial<Patience>,
  senders: SenderReader = systemSender,
): Promise<RailAnswer | undefined> {
  const means = { ...patienceOf(event.platform), ...given, senders }
  const answer = await answerOf(event, means)
  if (!answer) return undefined
  const { run = runOf(event) } = answer
  const runnable = { ...runnableAnswer(answer, event.runtime), run }
  const isMarked = runnable.kind === 'context' && adapters[event.platform].marksRail
  return isMarked ? { ...runnable, hasStep: hasStep(event) } : runnable
}

/** The run of the session's rail, if it is still open. */
function runOf({ runtime, payload: { session } }: RailEvent): string | undefined {
  const reading = session === undefined ? undefined : readRail(runtime, session)
  return reading?.kind === 'rail' ? reading.rail.runId || undefined : undefined
}

/** Whether the end of this turn can have something to check or to deliver. */
function hasStep({ runtime, payload: { session } }: RailEvent): boolean {
  if (session === undefined) return false
  const reading = readRail(runtime, session)
  if (reading.kind === 'none') return startingChain(runtime, session) !== undefined
  if (reading.kind !== 'rail') return false
  return turnEnds.includes(reading.rail.standing) || isDecidedElsewhere(reading.rail)
}

async function answerOf(event: RailEvent, patience: Means): Promise<RailAnswer | undefined> {
  switch (event.kind) {
    case 'prompt':
      return await answerPrompt(event, patience)
    case 'before':
      return await answerCall(event, patience)
    case 'after':
      return await noticeCall(event, patience)
    case 'stop':
      return await answerTurnEnd(event, patience)
    case 'compact':
      return await recall(event, patience)
    case 'subagent':
      return undefined
  }
}

/** How long an event waits. Longer work continues in its process, and a later event delivers the result. */
export interface Patience {
  prompt: number
  turnEnd: number
  /** What does the work; default: the file beside the hook. */
  program?: RailProgram | undefined
}

interface Means extends Patience {
  senders: SenderReader
}

function patienceOf(platform: RailEvent['platform']): Patience {
  const prompt = 1800
  return { prompt, turnEnd: turnLimits[platform]?.checkMs ?? prompt }
}

async function answerPrompt(event: RailEvent, patience: Means): Promise<RailAnswer | undefined> {
  const { runtime, payload, prompt } = event
  const { session } = payload
  // The prompts of subagents come from the agent.
  if (session === undefined || payload.agent !== '') return undefined
  const reading = readRail(runtime, session)
  if (reading.kind === 'unreadable') return unreadable(reading)
  const called = await calledChain(event, prompt)
  if (reading.kind === 'none') {
    const word = called ? undefined : wordToTakeOver(payload.prompt)
    if (word) return await takeUp(event, patience, session, word)
    if (!called) return answerAboutLeft(event, session, patience)
    if (!claimPrompt(event, session)) return undefined
    return await start(event, patience, { session, ...typed(called) })
  }
  const rail = withProcess(event, reading.rail, patience.senders)
  // Another client has a session of the same name: guards apply there too, and nothing else.
  if (rail.client !== event.platform) return undefined
  // Qwen Code reports an empty prompt after each batch of tools.
  if (payload.prompt.trim() === '' || isContinuation(payload.prompt, rail)) return undefined
  if (!claimPrompt(event, session)) return undefined
  if (rail.standing === 'ended') {
    removeRail(runtime, session)
    const ending = endingOf(rail)
    if (!called) return ending
    const started = await start(event, patience, { session, ...typed(called) })
    return started?.kind === 'context'
      ? { ...started, tell: [ending.tell, started.tell ?? ''].join(' ').trim() }
      : ending
  }
  if (rail.standing === 'failed' && called) return await startAgain(event, patience, rail, called)
  const turn = { id: turnOf(event), receivedStep: false, worked: false, blocks: 0 }
  const word = readRailWord(payload.prompt, stepsOf(rail)) ?? readUnknownWord(payload.prompt)
  if (isDecidedElsewhere(rail) && isAboutGate(word)) {
    changeRail(runtime, session, (now) => ({ ...now, turn, unconfirmed: undefined }))
    return await handToDriver(event, { kind: 'decided', session, event: 'prompt' }, patience)
  }
  if (word || rail.unconfirmed) {
    changeRail(runtime, session, (now) => ({ ...now, turn, unconfirmed: undefined }))
    if (word) return await answerWord(event, patience, rail, word)
  }
  if (rail.unconfirmed) return await confirm(event, patience, rail, rail.unconfirmed)
  if (called) {
    const text = `The chain \`${rail.chain}\` is still open in this session, so \`${called.chain.name}\` did not start as a rail.`
    return { kind: 'context', text: `${text} ${standingText(rail)}`, tell: text }
  }
  if (rail.standing === 'checked') {
    changeRail(runtime, session, (now) => ({ ...now, turn }))
    return await handToDriver(event, { kind: 'deliver', session }, patience)
  }
  let text: string | undefined
  changeRail(runtime, session, (now) => {
    const next = atPrompt(now, () => lockHolder(railPath(runtime, session)) !== undefined)
    text = now.pending ?? standingText(next)
    return { ...next, turn: { ...turn, receivedStep: next.turn.receivedStep } }
  })
  if (rail.pending === undefined && hasLostStep(event, rail)) {
    return await handToDriver(event, { kind: 'recall', session }, patience)
  }
  return text === undefined ? undefined : { kind: 'context', text }
}

/** The first prompt of a session, and a word about a rail, learn which chains wait for a session. */
function answerAboutLeft(
  event: RailEvent,
  session: string,
  { senders }: Means,
): RailAnswer | undefined {
  const { runtime, payload } = event
  const left = leftRails(event, senders)
  if (left.length === 0) return undefined
  const isWord = (readRailWord(payload.prompt, []) ?? readUnknownWord(payload.prompt)) !== undefined
  const runs = left.map(({ runId }) => runId).join(' ')
  const isNew = claimOnce(runtime, `rail ${session} left ${runs}`)
  return isWord || isNew ? leftAnswer(left) : undefined
}

/** How the driver starts a chain that a user has called. */
function typed({ chain, words }: { chain: ChainSkill; words: string }) {
  return { chain, words: splitArguments(words), requireVerified: false, byModel: false }
}

/** Whether a prompt has no meaning of its own once the gate that it may mean is decided. */
function isAboutGate(word: RailWord | undefined): boolean {
  return word === undefined || ['approve', 'reject', 'status', 'unclear'].includes(word.word)
}

/** A user starts a chain after one that failed, whose guards end with that. */
async function startAgain(
  event: RailEvent,
  means: Means,
  rail: RailSession,
  called: { chain: ChainSkill; words: string },
): Promise<RailAnswer | undefined> {
  const { platform, payload } = event
  const { promptId } = payload
  const isConfirmedLater = platform === 'claude'
  const verdict =
    isConfirmedLater && promptId === undefined ? unsaid : judgePrompt(event, rail, means.senders)
  if (verdict.kind !== 'same') {
    const tell = `\`${called.chain.name}\` does not start after \`${rail.chain}\`, which has failed: ${verdict.why}. In a terminal of your own: ${terminalLine('stop', rail.runId)}`
    return { kind: 'context', text: `${tell}. Tell the user so, and do not do its steps.`, tell }
  }
  const { chain, reason, guards, session } = rail
  const kept =
    isConfirmedLater && promptId !== undefined ? { chain, reason, guards, promptId } : undefined
  return await start(event, means, { session, kept, ...typed(called) })
}

/** A session without a rail continues or stops that of a session which is gone. */
async function takeUp(
  event: RailEvent,
  means: Means,
  session: string,
  word: 'resume' | 'stop',
): Promise<RailAnswer | undefined> {
  if (!claimPrompt(event, session)) return undefined
  const taken = takeOver({ ...event, session, turn: turnOf(event) }, word, means.senders)
  if (!taken) return undefined
  if ('refusal' in taken) return taken.refusal
  return await answerWord(event, means, taken.rail, { word })
}

/** Says that a chain has ended, if the end came after its hook. */
function endingOf({ reason }: RailSession) {
  return { kind: 'context', text: `${reason} Tell the user so.`, tell: reason } as const
}

/** The agent gets the pending text, or continues with its step. */
function atPrompt(rail: RailSession, isAtWork: () => boolean): RailSession {
  const { pending, standing, step, turn } = rail
  if (pending !== undefined) {
    const received = { ...turn, receivedStep: step !== undefined }
    return { ...rail, standing: step ? 'working' : standing, pending: undefined, turn: received }
  }
  // The user has answered, the client has ended the turn, or the process of the check has died.
  const isDead = standing === 'checking' && !isAtWork()
  const continues = standing === 'continue' || standing === 'question' || isDead
  const same = { ...rail, turn: { ...turn, receivedStep: continues } }
  return continues ? { ...same, standing: 'working', reason: '' } : same
}

/** A client may call two hooks: that of a package, and that of `hooks install`. The first one answers. */
function claimPrompt({ runtime, payload: { turn } }: RailEvent, session: string): boolean {
  const place = `rail ${session} prompt ${turn}`
  return turn === undefined || claimOnce(runtime, place)
}

/** The steps that a word can mean. */
export function stepsOf({ step, steps }: RailSession): string[] {
  return [...new Set([...(step ? [step.step] : []), ...steps])]
}

/** Only a prompt from the client process with the chain decides about the chain. */
async function answerWord(
  event: RailEvent,
  means: Means,
  rail: RailSession,
  word: RailWord,
): Promise<RailAnswer | undefined> {
  const { runtime, payload, platform } = event
  const { session } = rail
  if (word.word === 'status') {
    const { statusAnswer } = await import('./texts.ts')
    return statusAnswer(rail)
  }
  if (word.word === 'unclear') {
    // At a gate the reason names the step that waits.
    const tell = rail.standing === 'approval' ? `${word.message} ${rail.reason}` : word.message
    return { kind: 'context', text: `${tell} Tell the user so.`, tell }
  }
  if (rail.standing === 'failed' && word.word !== 'stop') {
    const tell = `\`rail ${word.word}\` has no effect any more. ${rail.reason}`
    return { kind: 'context', text: `${tell} Tell the user so.`, tell }
  }
  const verdict = judgePrompt(event, rail, means.senders)
  if (verdict.kind !== 'same') return notCounted(rail, word, verdict)
  const { process: clientProcess } = verdict
  if (platform === 'claude') {
    const { promptId } = payload
    if (promptId === undefined) return notCounted(rail, word, unsaid)
    const unconfirmed = { prompt: payload.prompt, promptId }
    changeRail(runtime, session, (now) => ({ ...now, clientProcess, unconfirmed }))
    const effect = pausing.has(word.word) ? 'it takes effect' : 'the chain continues'
    const text = `The user typed \`rail ${word.word}\`. Claude Code confirms that when your turn ends: call no tool now and end your turn; then ${effect}.`
    return { kind: 'context', text }
  }
  if (clientProcess !== rail.clientProcess) {
    changeRail(runtime, session, (now) => ({ ...now, clientProcess }))
  }
  return await handToDriver(event, { kind: 'word', session, word, event: 'prompt' }, means)
}

/** Words after which the agent gets no step. */
const pausing: ReadonlySet<RailDecision['word']> = new Set(['pause', 'reject', 'stop'])

/** Origins of a prompt in Claude Code's transcript that a user, or a program of the user, can have. */
const typedOrigins: ReadonlySet<string> = new Set(['human', 'sdk'])

/** Claude Code writes who typed a prompt into its transcript, after the event of the prompt. */
async function confirm(
  event: RailEvent,
  patience: Means,
  rail: RailSession,
  { prompt, promptId }: Unconfirmed,
): Promise<RailAnswer | undefined> {
  const { runtime, payload, kind } = event
  const word = readRailWord(prompt, stepsOf(rail))
  if (!word || word.word === 'status' || word.word === 'unclear') return undefined
  changeRail(runtime, rail.session, (now) => ({ ...now, unconfirmed: undefined }))
  const origin = originOfPrompt(payload.transcript ?? '', promptId)
  const isTurnEnd = kind === 'stop'
  if (origin === undefined || !typedOrigins.has(origin)) {
    const why = `Claude Code says that its origin is ${safeLine(origin ?? '')}`
    const answer = notCounted(rail, word, origin === undefined ? unsaid : { kind: 'other', why })
    return isTurnEnd ? { kind: 'tell', tell: answer.tell } : answer
  }
  const { session } = rail
  const at = isTurnEnd ? 'turn-end' : 'prompt'
  return await handToDriver(event, { kind: 'word', session, word, event: at }, patience)
}

/** The verdict about a prompt whose origin Claude Code does not say, as far as it can be read. */
const unsaid = { kind: 'unknown', why: 'Claude Code does not say who typed it' } as const

/** A restriction that a user can lift must not be lifted by a prompt that anything may have sent. */
function notCounted(
  rail: RailSession,
  { word }: RailDecision,
  { kind, why }: { kind: 'other' | 'unknown'; why: string },
) {
  const { chain, runId } = rail
  const place =
    kind === 'other'
      ? `Type it where the chain ${chain} started, or decide in a terminal of your own: skillrail runs show ${runId}`
      : `In a terminal of your own: ${terminalLine(word, runId)}`
  const tell = `\`rail ${word}\` does not count: ${why}. ${place}`
  return { kind: 'context', text: `${tell}. Tell the user so, and end your turn.`, tell } as const
}

/** Whether a prompt is the rail's text that keeps the agent working: some clients report it as a prompt. */
function isContinuation(prompt: string, { turn }: RailSession): boolean {
  if (prompt.startsWith(tellBeginning)) return true
  return turn.sent !== undefined && prompt.includes(turn.sent)
}

async function start(
  event: RailEvent,
  patience: Means,
  called: Omit<RequestOf<'start'>, 'kind' | 'client' | 'turn' | 'clientProcess' | 'transcript'>,
): Promise<RailAnswer | undefined> {
  if (turnLimits[event.platform] === undefined) {
    const { name } = called.chain
    const tell = `The chain \`${name}\` does not run as a rail here: this client reports no end of a turn, so nothing would be checked.`
    return {
      kind: 'context',
      text: `${tell} Do its steps with: skillrail chain start ${name}`,
      tell,
    }
  }
  const turn = turnOf(event)
  const clientProcess = processToNote(event, patience.senders)
  const { transcript } = event.payload
  const about = { client: event.platform, turn, clientProcess, transcript }
  const request = { kind: 'start', ...about, ...called } as const
  return await handToDriver(event, request, patience)
}

/** The agent is about to call a tool. */
async function answerCall(event: RailEvent, means: Means): Promise<RailAnswer | undefined> {
  const { runtime, payload, platform } = event
  const { tool, call, session, toolInput } = payload
  const started = mayStartChain(payload) ? await startByCall(event, means) : undefined
  if (started) return started
  const workspace = findWorkspace(runtime.cwd, runtime)
  const rails = railsFor(event, session, means.senders)
  const records = guardsIn(runtime, [runtime.cwd, ...sessionFolders(runtime)])
  const starting = session === undefined ? undefined : startingChain(runtime, session)
  const left = hasOpenRail(rails, session) ? [] : leftRails(event, means.senders)
  const isFree = [rails, records, left].every((list) => list.length === 0)
  if (isFree && starting === undefined) return undefined
  const { cwd, home } = runtime
  const otherLine = call === undefined ? otherLineIn(parseJson(toolInput)) : undefined
  const clientCall = { client: platform, tool, call, otherLine, cwd, workspace, home }
  const denial = await denialOfLeft(clientCall, left)
  if (denial) return { kind: 'deny', ...denial }
  let asked: RailAnswer | undefined
  for (const reading of rails) {
    const reason =
      reading.kind === 'unreadable'
        ? denialWithoutState(call, reading)
        : ((await denialOf(clientCall, reading.rail, toolInput)) ??
          (await denialOfKept(event, clientCall, reading.rail)))
    if (reason === undefined) continue
    const moved = await afterDecision(event, reading, means)
    if (moved) return moved
    const one =
      reading.kind === 'rail' ? await askAbout(event, clientCall, reading.rail, means) : undefined
    const run = reading.kind === 'rail' ? reading.rail.runId || undefined : undefined
    if (one?.kind !== 'ask') return one ?? { kind: 'deny', reason, run }
    asked = one
  }
  // Afterwards the rail's state has the guards: it is written before any script runs.
  const isWithoutRail = rails.every((one) => one.kind === 'rail' && hasEnded(one.rail))
  if (starting !== undefined && isWithoutRail) {
    const reason = denialAtStart(call, starting)
    if (reason !== undefined) return { kind: 'deny', reason }
  }
  const open = rails.flatMap((one) => {
    if (one.kind !== 'rail' || one.rail.client !== platform) return []
    const { gate, guards } = one.rail
    return [
      { ...one.rail, guards: asked && gate && one.rail.session === session ? gate.guards : guards },
    ]
  })
  for (const record of records) {
    const reason =
      record.kind === 'unreadable'
        ? denialWithoutRecord(call, record)
        : await denialWithoutRail(clientCall, record, open, runtime.home)
    if (reason !== undefined) return { kind: 'deny', reason }
  }
  if (!asked) noteWork(event, open)
  return asked
}

/**
 * The agent starts a chain with `skillrail chain start` or `chain_start`: the chain starts as a rail, and the
 * denial of the call has its first step. Undefined if the call is to start the chain without a rail.
 */
async function startByCall(event: RailEvent, means: Means): Promise<RailAnswer | undefined> {
  const { runtime, payload, platform } = event
  const { session, agent } = payload
  if (session === undefined || agent !== '' || turnLimits[platform] === undefined) return undefined
  const reading = readRail(runtime, session)
  if (reading.kind === 'unreadable') return undefined
  if (reading.kind === 'rail' && reading.rail.client !== platform) return undefined
  const { chainToStart, isOff, readStartCall } = await import('./agent-start.ts')
  const call = readStartCall(payload)
  if (!call || isOff(runtime)) return undefined
  const isOpen = reading.kind === 'rail' && reading.rail.standing !== 'ended'
  if (isOpen && reading.rail.standing === 'failed') {
    return { kind: 'deny', reason: `Only the user starts a chain now. ${reading.rail.reason}` }
  }
  if (isOpen) {
    const reason = `The chain \`${reading.rail.chain}\` is still open in this session, so no other chain starts. ${standingText(reading.rail)}`
    return { kind: 'deny', reason }
  }
  if (call.kind === 'unclear') return { kind: 'deny', reason: call.message }
  const { skill, words, requireVerified } = call
  const chain = await chainToStart(event, skill)
  if (!chain) return undefined
  const left = leftRails(event, means.senders)
  if (left.length > 0) {
    return { kind: 'deny', reason: `Only the user starts a chain now. ${leftLine(left)}` }
  }
  if (chain.personOnly) {
    const reason = `Only the user starts the chain \`${chain.name}\`, by its call in this session: its author disabled the invocation by models.`
    return { kind: 'deny', reason }
  }
  if (!claimPrompt(event, session)) return undefined
  if (reading.kind === 'rail') removeRail(runtime, session)
  const called = { session, chain, words, requireVerified, byModel: true }
  const answer = await start(event, means, called)
  if (answer?.kind !== 'context') return undefined
  const reason = `This call was not made: in this session Skillrail starts chains itself. ${answer.text}`
  const isStarting = startingChain(runtime, session) !== undefined
  const startsRail = isStarting || !hasNoOpenRail(readRail(runtime, session)) || undefined
  return { kind: 'deny', reason, startsRail }
}

/** If a user has decided in a terminal, a denial says how the chain continues. */
async function afterDecision(
  event: RailEvent,
  reading: SessionReading,
  means: Means,
): Promise<RailAnswer | undefined> {
  const { session, agent } = event.payload
  const isOwn = reading.kind === 'rail' && reading.rail.session === session && agent === ''
  if (!isOwn || session === undefined || !isDecidedElsewhere(reading.rail)) return undefined
  const request = { kind: 'decided', session, event: 'prompt' } as const
  const answer = await handToDriver(event, request, means)
  return answer?.kind === 'context' ? { kind: 'deny', reason: answer.text } : undefined
}

/** Notes that the turn does something. Codex does not report the end of a shell call with a patch. */
function noteWork({ runtime, payload }: RailEvent, rails: readonly RailSession[]): void {
  const rail = rails.find(({ session, turn }) => session === payload.session && !turn.worked)
  if (!rail || !isWork(payload)) return
  try {
    changeRail(runtime, rail.session, (now) => ({ ...now, turn: { ...now.turn, worked: true } }))
  } catch {
    // The call is allowed, whether this can be noted or not.
  }
}

/** Lets the client ask the user about a guarded call whose gate waits for such an answer. */
async function askAbout(
  event: RailEvent,
  call: ClientCall,
  rail: RailSession,
  { senders }: Means,
): Promise<RailAnswer | undefined> {
  const { payload, runtime, platform } = event
  const { gate, session, standing, client } = rail
  const isOwn = client === platform && session === payload.session && payload.agent === ''
  if (!gate || standing !== 'approval' || !isOwn) return undefined
  const denial = await denialOf(call, { ...rail, guards: gate.guards }, payload.toolInput)
  if (denial !== undefined) return undefined
  const { canBeAsked } = await import('./question.ts')
  const cannot = canBeAsked(event, rail, senders)
  if (cannot !== undefined) {
    const reason = `\`${gate.step}\` waits for an approval, and the client cannot ask the user now: ${cannot}. Tell the user: ${rail.reason}`
    return { kind: 'deny', reason }
  }
  const noted = fingerprintOf(payload)
  changeRail(runtime, session, (now) => {
    return (
      now.gate && { ...now, gate: { ...now.gate, calls: [...now.gate.calls, noted].slice(-9) } }
    )
  })
  return { kind: 'ask', question: gate.question }
}

function fingerprintOf({ tool, toolInput }: RailEvent['payload']): string {
  return fingerprint(`${tool} ${toolInput}`)
}

/** The agent made a call about which the client had to ask: the user has agreed. */
async function noticeAnswer(
  event: RailEvent,
  rail: RailSession,
  means: Means,
): Promise<RailAnswer | undefined> {
  const { payload, runtime } = event
  const { gate, session } = rail
  const called = fingerprintOf(payload)
  if (!gate?.calls.includes(called) || payload.agent !== '') return undefined
  changeRail(runtime, session, (now) => now.gate && { ...now, gate: { ...now.gate, calls: [] } })
  const { canBeAsked } = await import('./question.ts')
  const cannot = canBeAsked(event, rail, means.senders)
  if (cannot !== undefined) {
    const tell = `The answer about this call does not approve \`${gate.step}\`: ${cannot}. ${rail.reason}`
    return { kind: 'context', text: `${tell} Tell the user so.`, tell }
  }
  const { step, question } = gate
  return await handToDriver(event, { kind: 'agreed', session, step, question }, means)
}

/** The guards of a chain that failed before this one apply until a user is known to have started it. */
async function denialOfKept(
  { runtime, payload }: RailEvent,
  call: ClientCall,
  rail: RailSession,
): Promise<string | undefined> {
  if (!rail.kept) return undefined
  const { promptId, ...failed } = rail.kept
  const earlier = { ...rail, ...failed, standing: 'failed', step: undefined } as const
  const denial = await denialOf(call, earlier, '')
  if (denial === undefined) return undefined
  const origin = originOfPrompt(payload.transcript ?? '', promptId)
  if (origin === undefined || !typedOrigins.has(origin)) return denial
  changeRail(runtime, rail.session, (now) => ({ ...now, kept: undefined }))
  return undefined
}

function railsFor(
  { runtime, platform }: RailEvent,
  session: string | undefined,
  senders: SenderReader,
) {
  const own = session === undefined ? ({ kind: 'none' } as const) : readRail(runtime, session)
  if (own.kind !== 'none') return [own]
  if (session !== undefined && !unattributed.has(platform)) return []
  return readRailsHere(runtime, unendedRails).filter(
    (reading) => reading.kind === 'unreadable' || !isOver(reading.rail, senders),
  )
}

/** Whether the session has a rail of its own that has not ended; also true if it cannot be read. */
function hasOpenRail(rails: readonly RailReading[], session: string | undefined): boolean {
  return rails.some((reading) => {
    if (reading.kind === 'unreadable') return true
    return reading.rail.session === session && reading.rail.standing !== 'ended'
  })
}

/** Whether a chain has failed in a client that has ended: no other session can be a part of its session. */
function isOver({ standing, clientProcess }: RailSession, senders: SenderReader): boolean {
  if (standing !== 'failed' || clientProcess === undefined) return false
  return senders.isRunning(clientProcess) === false
}

/** The agent has called a tool: a chain that it loaded starts, and work in this turn is noted. */
async function noticeCall(event: RailEvent, patience: Means): Promise<RailAnswer | undefined> {
  const { runtime, payload, platform } = event
  const { session, call } = payload
  if (session === undefined) return undefined
  const reading = readRail(runtime, session)
  if (reading.kind === 'unreadable') return undefined
  if (reading.kind === 'none' || reading.rail.standing === 'ended') {
    const [name] = call?.kind === 'skill' && payload.agent === '' ? call.paths : []
    const chain = name === undefined ? undefined : await event.chainNamed(name)
    if (!chain || chain.personOnly) return undefined
    if (leftRails(event, patience.senders).length > 0) return undefined
    if (reading.kind === 'rail') removeRail(runtime, session)
    const words = splitArguments(payload.skillArguments)
    const called = { session, chain, words, requireVerified: false, byModel: true }
    return await start(event, patience, called)
  }
  if (reading.rail.client !== platform) return undefined
  const rail = withProcess(event, reading.rail, patience.senders)
  const notice = (now: RailSession): RailSession | undefined => {
    const { turn } = now
    const worked = turn.worked || isWork(payload)
    const blocks = turnLimits[platform]?.restartsAtTool === true ? 0 : turn.blocks
    const isSame = worked === turn.worked && blocks === turn.blocks
    return isSame ? undefined : { ...now, turn: { ...turn, worked, blocks } }
  }
  // Most calls change nothing, so the lock is taken for the others only.
  if (notice(rail)) changeRail(runtime, session, notice)
  if (isDecidedElsewhere(rail) && payload.agent === '') {
    return await handToDriver(event, { kind: 'decided', session, event: 'prompt' }, patience)
  }
  if (payload.agent === '' && hasLostStep(event, rail)) {
    return await handToDriver(event, { kind: 'recall', session }, patience)
  }
  return rail.gate ? await noticeAnswer(event, rail, patience) : undefined
}

/**
 * Whether the agent has to get its step again: its context was compacted, and the client takes no text at
 * that event; or the client reports no compaction, and the step was given many calls ago.
 */
function hasLostStep({ platform, runtime }: RailEvent, rail: RailSession): boolean {
  const { step, standing, isForgotten, givenAt = 0, session } = rail
  if (!step || standing !== 'working') return false
  const most = adapters[platform].callsRemembered
  if (isForgotten || most === undefined) return isForgotten === true
  const calls = countCalls(runtime, session, false)
  // The file with the count may have been removed.
  return calls < givenAt || calls - givenAt >= most
}

/**
 * Notes the process of the client at the first event that shows it, if the start of the rail did not, or if
 * the user continues the session in another process after the end of the first one.
 */
function withProcess(event: RailEvent, rail: RailSession, senders: SenderReader): RailSession {
  if (event.payload.agent !== '' || rail.client !== event.platform) return rail
  const before = rail.clientProcess
  if (before !== undefined && senders.isRunning(before) !== false) return rail
  const clientProcess = processToNote(event, senders)
  if (clientProcess === undefined) return rail
  const change = (now: RailSession): RailSession => ({ ...now, clientProcess })
  return changeRail(event.runtime, rail.session, change) ?? rail
}

/** The clients' tools for searching, planning and asking: none of them edits or runs anything. */
const harmless =
  /^(?:grep|glob|ls|list|rg|search|(?:list|search)_\w+|read_\w+|web_?(?:fetch|search)|google_web_search|todo\w*|\w*_todos?|update_plan|ask\w*|question|request_user_input|report_intent)$/i

/** Whether a call edited or ran something, as far as its name says. */
function isWork({ call, tool }: RailEvent['payload']): boolean {
  if (call) return call.kind !== 'read' && call.kind !== 'skill'
  return !harmless.test(tool)
}

/** Where the end of a turn may have to be checked. */
const turnEnds: readonly Standing[] = ['working', 'running', 'checking', 'checked']

/** The agent ends its turn. */
async function answerTurnEnd(event: RailEvent, patience: Means): Promise<RailAnswer | undefined> {
  const { runtime, payload, platform } = event
  const { session } = payload
  if (session === undefined || payload.agent !== '') return undefined
  const reading = readRail(runtime, session)
  // An unreadable state cannot be updated. Without an answer, no client repeats its turn forever.
  if (reading.kind !== 'rail') return undefined
  if (reading.rail.client !== platform) return undefined
  const rail = withProcess(event, reading.rail, patience.senders)
  if (rail.unconfirmed) {
    const place = `rail ${session} ${rail.unconfirmed.promptId}`
    if (!claimOnce(runtime, place)) return undefined
    return await confirm(event, patience, rail, rail.unconfirmed)
  }
  if (isDecidedElsewhere(rail)) {
    if (!claimOnce(runtime, turnPlace(rail))) return undefined
    return await handToDriver(event, { kind: 'decided', session, event: 'turn-end' }, patience)
  }
  if (!turnEnds.includes(rail.standing)) return undefined
  // A check executes the agent's code, which the user allows by leaving this mode.
  if (payload.permissionMode === 'plan') return undefined
  const { receivedStep, worked, blocks } = rail.turn
  const wasDelayed = rail.tasks === 'told'
  const isNew = rail.pending !== undefined || rail.standing !== 'working' || wasDelayed
  if (!receivedStep && !worked && !isNew) return undefined
  // A check or a script that another turn began: a later event has its result.
  const isAtWork = rail.standing === 'checking' || rail.standing === 'running'
  if (isAtWork && lockHolder(railPath(runtime, session))) return undefined
  if (payload.hasBackgroundTasks && rail.tasks !== 'ignored') return waitForTasks(event, rail)
  if (!claimOnce(runtime, turnPlace(rail))) return undefined
  const limit = turnLimits[platform]
  if (limit?.blocks !== undefined && blocks + 1 >= limit.blocks) {
    const tell = `The chain ${rail.chain} continues with your next prompt: the client ends this turn.`
    changeRail(runtime, session, (now) => {
      return { ...now, standing: 'continue', reason: tell, sequence: now.sequence + 1 }
    })
    return { kind: 'tell', tell }
  }
  const request = { kind: 'turn-end', session, message: payload.lastMessage } as const
  return await handToDriver(event, request, patience)
}

/**
 * A check beside commands or subagents that still work could fail for what they have not done yet. The user
 * learns once why nothing is checked, because such a task may never end.
 */
function waitForTasks({ runtime }: RailEvent, rail: RailSession): RailAnswer | undefined {
  if (rail.tasks === 'told') return undefined
  const tell = `${rail.chain}: nothing is checked while tasks of this session run in the background. The first turn after their end is checked; "rail retry" checks beside them.`
  const sequence = rail.sequence + 1
  changeRail(runtime, rail.session, (now) => ({ ...now, tasks: 'told', reason: tell, sequence }))
  return { kind: 'tell', tell }
}

/** Names the end of a turn, which one of several hooks answers. */
function turnPlace({ session, sequence, turn }: RailSession): string {
  // The turn's ID is included, because a process may have died after its claim in another turn.
  return `rail ${session} ${sequence} ${turn.id}`
}

/** The context was compacted, or a session was resumed: the agent gets its step again. */
async function recall(event: RailEvent, patience: Means): Promise<RailAnswer | undefined> {
  const { runtime, payload } = event
  const { session, source } = payload
  if (session === undefined || payload.agent !== '') return undefined
  const reading = readRail(runtime, session)
  if (reading.kind === 'none') return undefined
  if (payload.eventName !== 'SessionStart') return noteCompaction(event, reading)
  if (reading.kind === 'unreadable') return unreadable(reading)
  if (reading.rail.client !== event.platform) return undefined
  if (isDecidedElsewhere(reading.rail)) {
    return await handToDriver(event, { kind: 'decided', session, event: 'prompt' }, patience)
  }
  if (source === 'resume') return { kind: 'context', text: standingText(reading.rail) }
  return await handToDriver(event, { kind: 'recall', session }, patience)
}

/** Clients take no text at this event; a later event gives the step again. */
function noteCompaction({ runtime, platform }: RailEvent, reading: SessionReading): undefined {
  if (reading.kind !== 'rail' || reading.rail.client !== platform) return
  changeRail(runtime, reading.rail.session, (now) => ({ ...now, isForgotten: true }))
}

/** Only these events load the module that starts processes: that takes as long as everything else together. */
async function handToDriver(
  event: RailEvent,
  request: RailRequest,
  { prompt, turnEnd, program }: Patience,
): Promise<RailAnswer | undefined> {
  const { drive } = await import('./driver.ts')
  return await drive(event, request, isForTurnEnd(request) ? turnEnd : prompt, program)
}

function turnOf({ payload, runtime }: RailEvent): string {
  return payload.turn ?? `${runtime.now()}-${uniqueText(8)}`
}

function unreadable({ path, reason }: { path: string; reason: string }) {
  const tell = `The state of a rail cannot be read: ${path}: ${reason}`
  return { kind: 'context', text: `${tell}. Commands and MCP tools are denied.`, tell } as const
}

/** Returns one line with the state of a rail. */
export function standingText({ chain, standing, step, reason }: RailSession): string {
  if (standing === 'failed') return reason
  const head = `The chain \`${chain}\` runs as a rail.`
  if (standing === 'checking' && step) {
    return `${head} The check of its step \`${step.step}\` still runs, and the next prompt has the result. Do not continue the chain in this turn.`
  }
  if (standing === 'working' && step) return `${head} Its current step is \`${step.step}\`.`
  return reason === '' ? head : `${head} ${reason}`
}
