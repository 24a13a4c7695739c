import {
  APICallError,
  type FilePart,
  generateText,
  jsonSchema,
  type LanguageModelUsage,
  type ModelMessage,
  type OutputInterface,
  RetryError,
  streamText,
  type TelemetryOptions,
  tool,
  type ToolSet,
  type TypedToolCall,
} from 'ai'
import { messageOf } from '#core/errors'
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
  /** Called once when the provider has answered, before anything can fail afterwards. */
  onUsage?: ((model: string, usage: TokenUsage) => void) | undefined
}

type OfferedTools = ReadonlyMap<string, Pick<AgentTool, 'description' | 'inputSchema'>>

export type ModelReply = ReturnType<typeof replyOf>

export interface RequestedCall {
  id: string
  name: string
  /** Anything: models write what they like. */
  input: unknown
}

export async function callModel(call: ModelCall): Promise<ModelReply> {
  const { model } = call
  const plain = { ...call, outputSchema: undefined }
  if (!call.outputSchema || plainModels.has(model)) return await callOnce(plain)
  try {
    return await callOnce(call)
  } catch (error) {
    if (!refusesFormat(error)) throw error
    plainModels.add(model)
    return await callOnce(plain)
  }
}

export async function askModel(
  content: string,
  model: ModelObject,
  settings: ModelCall['settings'],
  signal: AbortSignal,
  onUsage: ModelCall['onUsage'],
): Promise<string> {
  const [messages, tools] = [[{ role: 'user' as const, content }], new Map()]
  const call = { model, settings, signal, onUsage, instructions: '', messages, tools }
  return (await callModel(call)).text
}

/** Models whose servers refuse an output schema. The instructions contain it in any case. */
const plainModels = new WeakSet<object>()

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
    return replyOf(text, toolCalls, finishReason, responseMessages)
  }
  const streamed = streamText({ ...options, onError: () => undefined })
  let reasoning = ''
  for await (const part of streamed.stream) {
    if (part.type === 'reasoning-delta') reasoning += part.text
    else if (reasoning !== '') {
      call.onReasoning?.(reasoning)
      reasoning = ''
    }
    if (part.type === 'text-delta') onText(part.text)
    else if (part.type === 'error') throw part.error
    else if (part.type === 'abort') throw signal.reason ?? new Error('The answer was cut off.')
  }
  const { text, toolCalls, finishReason, responseMessages } = streamed
  return replyOf(await text, await toolCalls, await finishReason, await responseMessages)
}

/**
 * OpenAI's packages put the text of a failed call into JSON, and over chat completions pictures of
 * results: the text is sent as it is instead, and the pictures as a message of the user.
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
    const shown: ModelMessage = { role: 'user', content: files }
    files = []
    return [{ ...message, content }, shown]
  })
}

/** Schemas go to the provider as they are; arguments are checked by the loop. */
function toolSet(tools: OfferedTools): ToolSet {
  return Object.fromEntries(
    Array.from(tools, ([name, { description, inputSchema }]) => {
      return [name, tool({ description, inputSchema: jsonSchema({ ...inputSchema }) })]
    }),
  )
}

/** Asks the provider for JSON of this shape; the text is read and checked by the loop. */
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
) {
  return {
    text,
    /** What goes into the conversation; undefined for an empty answer. */
    message: messages.find((message) => message.role === 'assistant'),
    calls: calls
      .filter(({ providerExecuted }) => providerExecuted !== true)
      .map(({ toolCallId: id, toolName: name, input }): RequestedCall => ({ id, name, input })),
    /** `stop`, `tool-calls`, `length`, `content-filter`, … */
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
  const said = `${last.message}\n${last.responseBody ?? ''}`
  return /response.?format|json.?(?:schema|object)|structured|grammar/i.test(said)
}

function attemptsOf(error: unknown): readonly unknown[] {
  return RetryError.isInstance(error) ? error.errors : [error]
}

/** A sentence for a model call that failed, without keys that the provider may have repeated. */
export function modelFailure(error: unknown): string {
  const attempts = attemptsOf(error)
  const last = attempts.at(-1)
  const status = APICallError.isInstance(last) ? last.statusCode : undefined
  const facts = [
    status === undefined ? '' : `HTTP ${status}`,
    attempts.length > 1 ? `${attempts.length} attempts` : '',
  ].filter((fact) => fact !== '')
  const reason = unreached(last) ?? said(last)
  const what = facts.length === 0 ? '' : ` (${facts.join(', ')})`
  return redactText(`The model call failed${what}: ${reason}`)
}

const longestReason = 1000

/** What a provider says is wrong. A page, such as that of a gateway, is not what a user wants to read. */
function said(error: unknown): string {
  const text = messageOf(error).trim()
  if (text === '') return 'the provider gave no reason'
  if (!/<!doctype|<html|<head|<body/i.test(text)) return cutToColumns(text, longestReason)
  const [, title = ''] = /<title[^<>]*>([^<]*)<\/title>/i.exec(text) ?? []
  const named = title.trim() === '' ? '' : ` "${cutToColumns(title.trim(), 100)}"`
  return `the server answered with an HTML page${named} instead of an answer of a model`
}

/** A sentence with the address for a provider that was not reached, or has nothing there. */
function unreached(error: unknown): string | undefined {
  const url = APICallError.isInstance(error) ? URL.parse(error.url) : null
  if (!APICallError.isInstance(error) || url === null) return undefined
  const { statusCode, cause } = error
  if (statusCode !== 404 && (statusCode !== undefined || cause === undefined)) return undefined
  // Without the query, in which some providers have a key.
  const address = `${url.origin}${url.pathname}`
  const reason = said(statusCode === 404 ? error : cause).replace(/\.$/, '')
  const what = statusCode === 404 ? 'the name of the model' : 'that the server runs'
  return `${reason}. Asked was ${address}: check ${what}, and the address (--base-url or agent.baseUrl sets it).`
}
