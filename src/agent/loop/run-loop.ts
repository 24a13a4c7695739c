import type { AssistantModelMessage, ModelMessage } from 'ai'
import { messageOf } from '../../core/errors.ts'
import { untilAborted } from '../../core/runtime.ts'
import type { LoopOutcome, LoopRequest, RunStatus, TokenUsage } from '../types.ts'
import { toWireNames, wireName, type WireNames } from '../tool.ts'
import { noUsage } from '../usage.ts'
import {
  answerCall,
  type AnsweredCall,
  readStructured,
  resultPart,
  schemaInstructions,
} from './tool-calls.ts'
import { type ModelReply, type RequestedCall } from './sdk.ts'
import { modelFailure } from './model-failure.ts'

/**
 * Lets a model work with tools until it answers. Never throws for a model that fails, a run that is
 * cancelled or one that reaches its turns: that is the status of what is returned, together with
 * everything that was said until then.
 */
export async function runLoop(request: LoopRequest): Promise<LoopOutcome> {
  const progress: Progress = { added: [], turns: 0, text: '', useless: 0 }
  const signal = request.signal ?? new AbortController().signal
  try {
    return await takeTurns(request, progress, signal)
  } catch (error) {
    if (signal.aborted) return ended(progress, 'cancelled', 'The run was cancelled.')
    return ended(progress, 'failed', messageOf(error))
  }
}

async function takeTurns(
  request: LoopRequest,
  progress: Progress,
  signal: AbortSignal,
): Promise<LoopOutcome> {
  const { maxTurns } = request
  for (;;) {
    signal.throwIfAborted()
    steer(request, progress)
    if (progress.turns >= maxTurns)
      return await summarise(request, progress, signal, maxTurnsExceeded)
    const names = toWireNames(request.offered())
    const reply = await askModel(request, progress, names, signal)
    if (reply.calls.length > 0) {
      const endless = await carryOutCalls(reply.calls, names, request, progress, signal)
      if (endless !== undefined) return await summarise(request, progress, signal, endless)
      continue
    }
    if (steer(request, progress)) continue
    const outcome = await conclude(request, progress, reply)
    if (outcome !== undefined) return outcome
  }
}

/** What was sent to the agent in the meantime becomes messages of the user. */
function steer({ steering }: LoopRequest, { added }: Progress): boolean {
  const texts = steering?.() ?? []
  for (const text of texts) added.push({ role: 'user', content: text })
  return texts.length > 0
}

/** Answers all calls of a step side by side. Returns why the run must end, if it must. */
async function carryOutCalls(
  calls: readonly RequestedCall[],
  names: WireNames,
  request: LoopRequest,
  progress: Progress,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answers = await Promise.all(calls.map((call) => answerCall(call, names, request, signal)))
  progress.useless = 0
  progress.repetition = countRepetition(progress.repetition, answers)
  const { count } = progress.repetition
  progress.added.push({ role: 'tool', content: withNotice(answers, count).map(resultPart) })
  if (count < repetitionsUntilEnd) return undefined
  const tools = [...new Set(answers.map(({ name }) => names.find(name)?.name ?? name))].join(', ')
  return `The model made the same call ${count} times in a row with the same result: ${tools}.`
}

function withNotice(answers: readonly AnsweredCall[], count: number): readonly AnsweredCall[] {
  if (count < repetitionsUntilNotice) return answers
  const notice = `(This was the same call with the same result ${count} times in a row. Do something else, or answer.)`
  return answers.map((answer) => ({ ...answer, text: `${answer.text}\n\n${notice}` }))
}

/** What an answer without calls means; undefined when the model is to continue. */
async function conclude(
  request: LoopRequest,
  progress: Progress,
  reply: ModelReply,
): Promise<LoopOutcome | undefined> {
  const { text, finishReason } = reply
  if (finishReason === 'content-filter' || finishReason === 'error') {
    return ended(progress, 'failed', `The provider ended the answer: ${finishReason}.`)
  }
  if (text.trim() === '') {
    const why = finishReason === 'length' ? ' before its limit of tokens' : ''
    return again(
      progress,
      `The model answered nothing${why}.`,
      'Your answer was empty. Continue, or give your final answer.',
    )
  }
  if (finishReason === 'length') {
    const message = 'The answer was cut off at its limit of tokens.'
    request.onEvent({ type: 'notice', agent: request.agent, message })
  }
  const more = await request.beforeStop?.(text)
  if (more !== undefined) {
    progress.added.push({ role: 'user', content: more })
    return undefined
  }
  if (request.outputSchema === undefined) return ended(progress, 'completed')
  const structured = await readStructured(text, request.outputSchema)
  if (structured.ok) return { ...ended(progress, 'completed'), output: structured.output }
  return again(
    progress,
    `The answer is not of the asked shape: ${structured.problem}.`,
    `Your answer is not of the asked shape: ${structured.problem}. Answer again, with the JSON alone.`,
  )
}

function again(progress: Progress, error: string, request: string): LoopOutcome | undefined {
  progress.useless += 1
  if (progress.useless > secondChances) {
    return { ...ended(progress, 'failed', error), failure: 'answer' }
  }
  progress.added.push({ role: 'user', content: request })
  return undefined
}

/** The last turn: no tools, so that what was found is not lost. */
async function summarise(
  request: LoopRequest,
  progress: Progress,
  signal: AbortSignal,
  reason: string,
): Promise<LoopOutcome> {
  progress.added.push({
    role: 'user',
    content: `${reason}. No tool can be called any more. Sum up now what you did and found, and what is left to do.`,
  })
  const reply = await askModel(
    { ...request, outputSchema: undefined },
    progress,
    toWireNames([]),
    signal,
  )
  if (reply.calls.length > 0) {
    const message = withoutCalls(reply.message)
    progress.added.pop()
    if (message !== undefined) progress.added.push(message)
  }
  return ended(progress, 'capped', reason)
}

function ended(progress: Progress, status: RunStatus, error?: string): LoopOutcome {
  const { added, text, turns } = progress
  return { status, text, messages: added, turns, ...(error === undefined ? {} : { error }) }
}

/** The provider failed, or what it sent cannot be used; the message is for the caller of the run. */
class ModelFailure extends Error {}

/**
 * One call of the model: its answer goes into the conversation, its text and usage are reported.
 *
 * @throws {ModelFailure} when it failed; the signal's reason when it was cancelled.
 */
async function askModel(
  request: LoopRequest,
  progress: Progress,
  names: WireNames,
  signal: AbortSignal,
): Promise<ModelReply> {
  const { agent, delegation, outputSchema, onEvent, onUsage } = request
  const model = request.modelNow?.() ?? request.model
  sdk ??= import('./sdk.ts')
  const { callModel, modelName } = await sdk
  const all = [...request.messages, ...progress.added]
  const messages = (await request.prepareMessages?.(all)) ?? all
  signal.throwIfAborted()
  progress.turns += 1
  progress.text = ''
  let booked: TokenUsage | undefined
  const book = (answering: string, usage: TokenUsage): void => {
    booked = usage
    onUsage({ model: answering, agent, delegation, usage })
  }
  const say = (text: string): void => {
    progress.text += text
    if (text !== '') onEvent({ type: 'text', agent, delegation, text })
  }
  try {
    // A provider may not look at the signal, or look too late; a cancelled run is over all the same.
    const answer = callModel({
      model,
      instructions: instructionsOf(request),
      messages,
      tools: names.tools,
      // Some servers refuse a forced shape beside tools, others then never call one; the answer is
      // checked by the loop in any case.
      outputSchema: names.tools.size === 0 ? outputSchema : undefined,
      settings: request.callSettings,
      signal,
      onText: request.stream === true ? say : undefined,
      onUsage: book,
    })
    const reply = await untilAborted(answer, signal)
    if (request.stream !== true) say(reply.text)
    if (reply.message !== undefined) progress.added.push(withWireNames(reply.message))
    return reply
  } catch (error) {
    // A stream that was cut off has a cost, but its usage is unknown.
    if (booked === undefined && progress.text !== '') {
      book(modelName(model), { ...noUsage, requests: 1 })
    }
    if (progress.text !== '') progress.added.push({ role: 'assistant', content: progress.text })
    throw signal.aborted ? error : new ModelFailure(modelFailure(error))
  } finally {
    if (booked !== undefined) onEvent({ type: 'step', agent, delegation, usage: booked })
  }
}

/** Loaded by the first call, and asked for by every one: resolving an import again is not free. */
let sdk: Promise<typeof import('./sdk.ts')> | undefined

function instructionsOf({ instructions, outputSchema }: LoopRequest): string {
  if (outputSchema === undefined) return instructions
  return [instructions, schemaInstructions(outputSchema)].filter((text) => text !== '').join('\n\n')
}

/**
 * An answer as it is kept: a model can call a tool by a name that no provider would take back in the
 * history of the next call.
 */
function withWireNames(message: AssistantModelMessage): AssistantModelMessage {
  const { content } = message
  if (typeof content === 'string') return message
  return {
    ...message,
    content: content.map((part) =>
      part.type === 'tool-call' ? { ...part, toolName: wireName(part.toolName) } : part,
    ),
  }
}

/** The answer without calls that are not carried out, or undefined when nothing is left. */
function withoutCalls(
  message: AssistantModelMessage | undefined,
): AssistantModelMessage | undefined {
  if (message === undefined || typeof message.content === 'string') return message
  const content = message.content.filter(
    (part) => part.type !== 'tool-call' || part.providerExecuted === true,
  )
  return content.some((part) => part.type === 'text') ? { ...message, content } : undefined
}

/** The state of a run; only the loop changes it. */
interface Progress {
  /** Messages after the given ones. */
  added: ModelMessage[]
  /** Model calls. */
  turns: number
  /** Of the last answer; while one is streamed, what has come of it. */
  text: string
  /** Answers in a row that were empty, or not of the asked shape. */
  useless: number
  repetition?: Repetition | undefined
}

/** The last step's calls with their results, and how many steps in a row were the same. */
interface Repetition {
  signature: string
  count: number
}

/** Counts steps that made the same calls and got the same results as the one before. */
function countRepetition(
  previous: Repetition | undefined,
  calls: readonly AnsweredCall[],
): Repetition {
  const signature = JSON.stringify(calls.map(({ name, input, text }) => [name, input, text]))
  return { signature, count: previous?.signature === signature ? previous.count + 1 : 1 }
}

/** How often in a row one call may give the same result until the model is told. */
const repetitionsUntilNotice = 3

/** … and until the run is ended with a summary. */
const repetitionsUntilEnd = 8

/** Why a run is capped at its turns, as the PRD words it. */
export const maxTurnsExceeded = 'Max turns exceeded'

/** How often a model that answered nothing, or nothing of the asked shape, is asked again. */
const secondChances = 2
