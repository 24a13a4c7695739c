import type { LoopRequest, TokenUsage } from '../model.ts'
import type { WireNames } from '../tool-names.ts'
import { noUsage } from '../usage/token-usage.ts'
import { modelFailure } from './model-failure.ts'
import type { Progress } from './progress.ts'
import type { ModelReply } from './sdk.ts'
import { schemaInstructions } from './structured-answer.ts'
import { untilAborted } from './until-aborted.ts'
import { withWireNames } from './wire-history.ts'

/** The provider failed, or what it sent cannot be used; the message is for the caller of the run. */
export class ModelFailure extends Error {}

/**
 * One call of the model: its answer goes into the conversation, its text and usage are told.
 *
 * @throws {ModelFailure} when it failed; the signal's reason when it was cancelled.
 */
export async function askModel(
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
    // A stream that was cut off did cost something, though nobody says how much.
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
