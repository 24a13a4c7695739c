import { messageOf } from '../../base/index.ts'
import type { LoopOutcome, LoopRequest, RunStatus } from '../model.ts'
import { toWireNames, type WireNames } from '../tool-names.ts'
import { type AnsweredCall, answerCall, resultPart } from './answer-call.ts'
import { askModel } from './ask-model.ts'
import {
  maxTurnsExceeded,
  repetitionsUntilEnd,
  repetitionsUntilNotice,
  secondChances,
} from './limits.ts'
import type { Progress } from './progress.ts'
import { countRepetition } from './repetition.ts'
import type { ModelReply, RequestedCall } from './sdk.ts'
import { readStructured } from './structured-answer.ts'
import { withoutCalls } from './wire-history.ts'

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

/** What an answer without calls means; undefined when the model is to go on. */
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
      'Your answer was empty. Go on, or give your final answer.',
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
