import {
  type AssistantModelMessage,
  generateText,
  jsonSchema,
  type JSONSchema7,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  type OutputInterface,
  streamText,
  tool,
  type ToolContent,
  type ToolResultPart,
  type ToolSet,
  type TypedToolCall,
} from 'ai'
import { messageOf } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../tools/model.ts'
import { ModelNotFoundError } from '../errors.ts'
import type { AgentTool, CallSettings, TokenUsage } from '../types.ts'
import { lastAttempt, statusOf } from './model-failure.ts'

/** One call of a model; nothing is executed in it. */
export interface ModelCall {
  model: LanguageModel
  instructions: string
  messages: readonly ModelMessage[]
  /** By wire name. */
  tools: ReadonlyMap<string, AgentTool>
  outputSchema?: JsonObject | undefined
  settings?: CallSettings | undefined
  signal?: AbortSignal | undefined
  /** Called with text as it comes; the answer is streamed when it is given. */
  onText?: ((text: string) => void) | undefined
  /** Called once when the provider has answered, before anything can fail afterwards. */
  onUsage: (model: string, usage: TokenUsage) => void
}

export interface ModelReply {
  text: string
  /** What goes into the conversation; undefined for an empty answer. */
  message: AssistantModelMessage | undefined
  calls: readonly RequestedCall[]
  /** `stop`, `tool-calls`, `length`, `content-filter`, … */
  finishReason: string
}

/** A call that the model wants. */
export interface RequestedCall {
  id: string
  /** As the model wrote it. */
  name: string
  /** Anything: models write what they like. */
  input: unknown
  /** Why the arguments cannot be read; undefined when they can be, also for unknown tools. */
  problem?: string | undefined
}

/**
 * Asks a model once. Repeats after HTTP 408, 409, 429 and 5xx as the settings say, and without the
 * shape of the answer where the server refuses that.
 *
 * @throws what the provider threw, or the signal's reason.
 */
export async function callModel(call: ModelCall): Promise<ModelReply> {
  const { model } = call
  refuseGateway(model)
  const forced = call.outputSchema !== undefined && !plainModels.has(model)
  if (!forced) return await callOnce({ ...call, outputSchema: undefined })
  try {
    return await callOnce(call)
  } catch (error) {
    if (!refusesFormat(error)) throw error
    plainModels.add(model)
    return await callOnce({ ...call, outputSchema: undefined })
  }
}

/** Models whose servers refuse an output schema. The instructions contain it in any case. */
const plainModels = new WeakSet<object>()

async function callOnce(call: ModelCall): Promise<ModelReply> {
  const { model, instructions, messages, signal, onUsage } = call
  const options = {
    model,
    messages: errorsAsText(messages, model),
    tools: toolSet(call.tools),
    telemetry: { isEnabled: false },
    ...(instructions === '' ? {} : { instructions }),
    ...(signal === undefined ? {} : { abortSignal: signal }),
    ...(call.outputSchema === undefined ? {} : { output: jsonOutput(call.outputSchema) }),
    ...(call.settings === undefined ? {} : settingsOf(call.settings)),
    onLanguageModelCallEnd: (event: { modelId: string; usage: LanguageModelUsage }) =>
      onUsage(event.modelId, tokenUsage(event.usage)),
  }
  if (call.onText === undefined) {
    const { text, toolCalls, finishReason, responseMessages } = await generateText(options)
    return replyOf(text, toolCalls, finishReason, responseMessages)
  }
  const streamed = streamText({ ...options, onError: () => undefined })
  for await (const part of streamed.stream) {
    if (part.type === 'text-delta') call.onText(part.text)
    else if (part.type === 'error') throw part.error
    else if (part.type === 'abort') throw signal?.reason ?? new Error('The answer was cut off.')
  }
  return replyOf(
    await streamed.text,
    await streamed.toolCalls,
    await streamed.finishReason,
    await streamed.responseMessages,
  )
}

/** The SDK sends a bare name to a hosted gateway; here a name is resolved before, or not at all. */
function refuseGateway(model: LanguageModel): asserts model is Exclude<LanguageModel, string> {
  if (typeof model !== 'string') return
  throw new ModelNotFoundError({
    code: 'model-unresolved',
    message: `${JSON.stringify(model)} is a name and not a model.`,
    hint: 'resolveModel makes a model of a name such as anthropic:claude-sonnet-4-5.',
  })
}

/**
 * OpenAI's protocols have no mark for a call that failed, and its package puts the text of one into
 * JSON instead. The text says by itself that it is an error, and is sent as it is.
 */
function errorsAsText(messages: readonly ModelMessage[], model: LanguageModel): ModelMessage[] {
  const provider = typeof model === 'string' ? '' : model.provider
  if (!provider.endsWith('.chat') && !provider.endsWith('.responses')) return [...messages]
  return messages.map((message) => {
    if (message.role !== 'tool' || !message.content.some(isErrorText)) return message
    const content = message.content.map((part) =>
      isErrorText(part) ? { ...part, output: { ...part.output, type: 'text' as const } } : part,
    )
    return { ...message, content }
  })
}

function isErrorText(part: ToolContent[number]): part is ErrorText {
  return part.type === 'tool-result' && part.output.type === 'error-text'
}

type ErrorText = ToolResultPart & { output: { type: 'error-text' } }

/** The model's own name: what it is called where it runs. */
export function modelName(model: LanguageModel): string {
  return typeof model === 'string' ? model : model.modelId
}

/** The settings that were given: one that is undefined must not reach the provider. */
function settingsOf(settings: CallSettings): object {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

function toolSet(tools: ReadonlyMap<string, AgentTool>): ToolSet {
  const set: ToolSet = {}
  for (const [name, { description, inputSchema }] of tools) {
    const schema = isSchema(inputSchema) ? inputSchema : {}
    set[name] = tool({ description, inputSchema: jsonSchema(schema) })
  }
  return set
}

/** A schema goes to the provider as it is; arguments are checked by the loop. */
function isSchema(schema: JsonObject): schema is JsonObject & JSONSchema7 {
  return typeof schema === 'object'
}

/** Asks the provider for JSON of this shape; the text is read and checked by the loop. */
function jsonOutput(schema: JsonObject): OutputInterface<string, string, never> {
  return {
    name: 'object',
    responseFormat: Promise.resolve(isSchema(schema) ? { type: 'json', schema } : { type: 'json' }),
    parseCompleteOutput: async ({ text }) => text,
    parsePartialOutput: async ({ text }) => ({ partial: text }),
    createElementStreamTransform: () => undefined,
  }
}

function replyOf(
  text: string,
  calls: readonly TypedToolCall<ToolSet>[],
  finishReason: string,
  messages: readonly ModelMessage[],
): ModelReply {
  return {
    text,
    message: messages.find((message) => message.role === 'assistant'),
    calls: calls.filter(({ providerExecuted }) => providerExecuted !== true).map(requested),
    finishReason,
  }
}

function requested(call: TypedToolCall<ToolSet>): RequestedCall {
  const { toolCallId, toolName, input } = call
  const unread = call.invalid === true && typeof input === 'string'
  return {
    id: toolCallId,
    name: toolName,
    input,
    problem: unread ? 'the arguments are not JSON' : undefined,
  }
}

function tokenUsage(usage: LanguageModelUsage): TokenUsage {
  return {
    inputTokens: usage.inputTokens ?? 0,
    outputTokens: usage.outputTokens ?? 0,
    cachedInputTokens: usage.inputTokenDetails.cacheReadTokens ?? 0,
    reasoningTokens: usage.outputTokenDetails.reasoningTokens ?? 0,
    requests: 1,
  }
}

/**
 * Whether a server refused a request because an answer of a certain shape was asked for. Each says it
 * in its own words; all of them name what they were sent (llama.cpp: what it makes of it).
 */
export function refusesFormat(error: unknown): boolean {
  const last = lastAttempt(error)
  const status = statusOf(last) ?? 0
  return (
    status >= 400 &&
    /response.?format|json.?(?:schema|object)|structured|grammar/i.test(saidBy(last))
  )
}

function saidBy(error: unknown): string {
  const body = isObject(error) ? error['responseBody'] : undefined
  return `${messageOf(error)}\n${typeof body === 'string' ? body : ''}`
}
