import {
  APICallError,
  type AssistantModelMessage,
  type FilePart,
  type FinishReason,
  generateText,
  InvalidResponseDataError,
  jsonSchema,
  type LanguageModelUsage,
  type ModelMessage,
  NoOutputGeneratedError,
  type OutputInterface,
  RetryError,
  streamText,
  type TelemetryOptions,
  tool,
  type ToolSet,
  type TypedToolCall,
} from 'ai'
import { messageOf, systemCode } from '#core/errors'
import { type JsonObject, present } from '#core/json'
import { redactText } from '#core/redact'
import { cutToColumns } from '#core/text'
import type { CallSettings } from '#agent/check-options'
import type { AgentTool, ModelObject, TokenUsage } from '#agent/types'

// Only imported dynamically: the AI SDK is loaded when a model is called for the first time.

export interface ModelCall {
  model: ModelObject
  instructions: string
  messages: readonly ModelMessage[]
  tools: OfferedTools
  outputSchema?: JsonObject | undefined
  settings?: CallSettings | undefined
  telemetry?: TelemetryOptions | undefined
  signal: AbortSignal
  onText?: ((text: string) => void) | undefined
  onReasoning?: ((text: string) => void) | undefined
  /** Called once when the provider has answered, before any later failure. */
  onUsage?: ((model: string, usage: TokenUsage) => void) | undefined
}

type OfferedTools = ReadonlyMap<string, Pick<AgentTool, 'description' | 'inputSchema'>>

export interface ModelReply {
  text: string
  /** The message for the conversation; undefined for an empty answer. */
  message: AssistantModelMessage | undefined
  calls: readonly RequestedCall[]
  /** `stop`, `tool-calls`, `length`, `content-filter`, … */
  finishReason: string
}

export interface RequestedCall {
  id: string
  name: string
  /** Any value, because models write what they like. */
  input: unknown
}

export async function callModel(call: ModelCall): Promise<ModelReply> {
  const { model } = call
  const withoutSchema = { ...call, outputSchema: undefined }
  if (!call.outputSchema || modelsWithoutSchema.has(model)) return await callOnce(withoutSchema)
  try {
    return await callOnce(call)
  } catch (error) {
    if (!refusesFormat(error)) throw error
    modelsWithoutSchema.add(model)
    return await callOnce(withoutSchema)
  }
}

export async function askModel(
  content: string,
  model: ModelObject,
  settings: ModelCall['settings'],
  signal: AbortSignal,
  onUsage: ModelCall['onUsage'],
): Promise<string> {
  const messages = [{ role: 'user' as const, content }]
  const tools = new Map()
  const call = { model, settings, signal, onUsage, instructions: '', messages, tools }
  return (await callModel(call)).text
}

/** Models whose servers refuse an output schema. The instructions contain it in any case. */
const modelsWithoutSchema = new WeakSet<object>()

async function callOnce(call: ModelCall): Promise<ModelReply> {
  const { model, instructions, messages, signal, outputSchema, onText, onUsage } = call
  const options = {
    model,
    messages: [...resultsAsText(messages, model)],
    tools: toolSet(call.tools),
    abortSignal: signal,
    // A setting that is undefined must not reach the provider.
    ...present({
      telemetry: call.telemetry,
      instructions: instructions || undefined,
      output: outputSchema && jsonOutput(outputSchema),
      ...call.settings,
    }),
    onLanguageModelCallEnd: (event: { modelId: string; usage: LanguageModelUsage }) =>
      onUsage?.(event.modelId, tokenUsage(event.usage)),
  }
  if (!onText) {
    const { text, reasoning, toolCalls, finishReason, responseMessages } =
      await generateText(options)
    for (const part of reasoning) if (part.type === 'reasoning') call.onReasoning?.(part.text)
    requireWhole(finishReason)
    return replyOf(text, toolCalls, finishReason, responseMessages)
  }
  const streamResult = streamText({ ...options, onError: () => undefined })
  let reasoning = ''
  for await (const part of streamResult.stream) {
    if (part.type === 'reasoning-delta') reasoning += part.text
    else if (reasoning !== '') {
      call.onReasoning?.(reasoning)
      reasoning = ''
    }
    if (part.type === 'text-delta') onText(part.text)
    else if (part.type === 'error') throw part.error
    else if (part.type === 'abort') throw signal.reason ?? new Error('The answer was cut off.')
  }
  const { text, toolCalls, finishReason, responseMessages } = streamResult
  requireWhole(await finishReason)
  return replyOf(await text, await toolCalls, await finishReason, await responseMessages)
}

/**
 * Works around the OpenAI packages, which put the text of a failed call into JSON, and with chat
 * completions the pictures of results too. Texts are sent unchanged, pictures as a message of the user.
 */
export function resultsAsText(
  messages: readonly ModelMessage[],
  { provider }: ModelObject,
): readonly ModelMessage[] {
  const isChat = provider.endsWith('.chat')
  if (!isChat && !provider.endsWith('.responses')) return messages
  let files: FilePart[] = []
  return messages.flatMap((message, index): ModelMessage[] => {
    if (message.role !== 'tool') return [message]
    const content = message.content.map((part) => {
      if (part.type !== 'tool-result') return part
      const { output } = part
      const asText = (value: string) => ({ ...part, output: { type: 'text' as const, value } })
      if (output.type === 'error-text') return asText(output.value)
      if (output.type !== 'content' || !isChat) return part
      files.push(...output.value.filter((one) => one.type === 'file'))
      return asText(output.value.flatMap((one) => (one.type === 'text' ? one.text : [])).join('\n'))
    })
    if (files.length === 0 || messages[index + 1]?.role === 'tool') return [{ ...message, content }]
    const pictures: ModelMessage = { role: 'user', content: files }
    files = []
    return [{ ...message, content }, pictures]
  })
}

/** Schemas are sent unchanged. The loop checks the arguments. */
function toolSet(tools: OfferedTools): ToolSet {
  return Object.fromEntries(
    Array.from(tools, ([name, { description, inputSchema }]) => {
      return [name, tool({ description, inputSchema: jsonSchema({ ...inputSchema }) })]
    }),
  )
}

/** Asks the provider for JSON of this shape. The loop parses and checks the text. */
function jsonOutput(schema: JsonObject): OutputInterface<string, string, never> {
  return {
    name: 'object',
    responseFormat: Promise.resolve({ type: 'json', schema: { ...schema } }),
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
    calls: calls
      .filter(({ providerExecuted }) => providerExecuted !== true)
      .map(({ toolCallId: id, toolName: name, input }): RequestedCall => ({ id, name, input })),
    finishReason,
  }
}

export function tokenUsage(usage: LanguageModelUsage): TokenUsage {
  return {
    inputTokens: usage.inputTokens ?? 0,
    outputTokens: usage.outputTokens ?? 0,
    cachedInputTokens: usage.inputTokenDetails.cacheReadTokens ?? 0,
    reasoningTokens: usage.outputTokenDetails.reasoningTokens ?? 0,
    requests: 1,
  }
}

function refusesFormat(error: unknown) {
  const last = attemptsOf(error).at(-1)
  if (!APICallError.isInstance(last) || (last.statusCode ?? 0) < 400) return false
  const text = `${last.message}\n${last.responseBody ?? ''}`
  return /response.?format|json.?(?:schema|object)|structured|grammar/i.test(text)
}

function attemptsOf(error: unknown): readonly unknown[] {
  return RetryError.isInstance(error) ? error.errors : [error]
}

/** Returns a sentence about a failed model call, without keys that the provider may have repeated. */
export function modelFailure(error: unknown): string {
  const attempts = attemptsOf(error)
  const last = attempts.at(-1)
  const status = APICallError.isInstance(last) ? last.statusCode : undefined
  const facts = [
    status === undefined ? '' : `HTTP ${status}`,
    attempts.length > 1 ? `${attempts.length} attempts` : '',
  ].filter((fact) => fact !== '')
  if (isCutShort(last, status))
    return 'The answer ended early: the connection was closed before its end.'
  if (isUnfinished(last)) return 'The answer ended early: the server did not finish it.'
  const reason = unreachedReason(last) ?? providerReason(last)
  const details = facts.length === 0 ? '' : ` (${facts.join(', ')})`
  return redactText(`The model call failed${details}: ${reason}`)
}

/** Whether the connection broke during an answer. The answer was right until then. */
function isCutShort(error: unknown, status = 0): boolean {
  const isCall = APICallError.isInstance(error)
  if (isCall && (status < 200 || status > 299)) return false
  let cause = isCall ? error.cause : error
  while (cause instanceof Error && !connectionCodes.has(systemCode(cause) ?? ''))
    cause = cause.cause
  return cause instanceof Error
}

/** The server ended a stream without marking the answer as complete. */
class UnfinishedAnswerError extends Error {}

/** An interrupted answer may lack calls and text, so its calls are not made. */
function requireWhole(finishReason: FinishReason) {
  if (finishReason === 'interrupted') throw new UnfinishedAnswerError()
}

/** Provider packages report an unfinished stream in three ways. */
function isUnfinished(error: unknown): boolean {
  if (error instanceof UnfinishedAnswerError || NoOutputGeneratedError.isInstance(error))
    return true
  // With data, the error is about a part of an answer with an unexpected form.
  return InvalidResponseDataError.isInstance(error) && error.data === undefined
}

/** Error codes of Node and its HTTP client for a connection that the other side closed. */
const connectionCodes: ReadonlySet<string> = new Set([
  'UND_ERR_SOCKET',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_BODY_TIMEOUT',
])

const longestReason = 1000

/** Returns the provider's message. An HTML page, such as a gateway's, is replaced by a sentence. */
function providerReason(error: unknown): string {
  const text = messageOf(error).trim()
  if (text === '') return 'the provider gave no reason'
  if (!/<!doctype|<html|<head|<body/i.test(text)) return cutToColumns(text, longestReason)
  const [, title = ''] = /<title[^<>]*>([^<]*)<\/title>/i.exec(text) ?? []
  const quotedTitle = title.trim() === '' ? '' : ` "${cutToColumns(title.trim(), 100)}"`
  return `the server answered with an HTML page${quotedTitle} instead of an answer of a model`
}

/** Returns a sentence with the address, if the provider was not reached or has nothing there. */
function unreachedReason(error: unknown): string | undefined {
  const url = APICallError.isInstance(error) ? URL.parse(error.url) : null
  if (!APICallError.isInstance(error) || url === null) return undefined
  const { statusCode, cause } = error
  if (statusCode !== 404 && (statusCode !== undefined || cause === undefined)) return undefined
  // The query may contain a key.
  const address = `${url.origin}${url.pathname}`
  const reason = providerReason(statusCode === 404 ? error : cause).replace(/\.$/, '')
  const suspect = statusCode === 404 ? 'the name of the model' : 'that the server runs'
  return `${reason}. The address was ${address}: check ${suspect}, and the address (--base-url or agent.baseUrl sets it).`
}
