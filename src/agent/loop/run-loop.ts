import type { AssistantModelMessage, ModelMessage } from 'ai'
import { isObject, type JsonObject, type JsonValue, parseJson, present, sha256 } from '#core/json'
import { untilAborted } from '#core/runtime'
import { createSchemaChecker } from '#tools/call/schema-checker'
import type { AskModel } from '#agent/conversation/compact'
import { skillToolName } from '#agent/conversation/messages'
import { Queue } from '#agent/queue'
import { aiSdk } from '#agent/ai-sdk'
import { FailedResult, outputOf } from '#agent/failed-result'
import type { SessionOptions, SessionPart } from '#agent/session-contract'
import { toWireNames, wireName, type WireNames } from '#agent/tool'
import type {
  AgentEvent,
  AgentTool,
  FinishedCall,
  LoopOutcome,
  ModelObject,
  Permit,
  RunOptions,
  RunStatus,
  TokenUsage,
  UsageEntry,
  WaitingCall,
} from '#agent/types'
import { noUsage } from '#agent/usage'
import {
  type Answer,
  type AnsweredCall,
  answerOf,
  failure,
  failureText,
  resultPart,
} from './results.ts'
import type { ModelReply, RequestedCall } from './sdk.ts'

export interface LoopRequest
  extends
    Pick<RunOptions, 'signal' | 'stream'>,
    Pick<SessionOptions, 'agent' | 'delegation' | 'callSettings' | 'telemetry'>,
    Pick<SessionPart, 'afterTool' | 'beforeStop'> {
  outputSchema?: JsonObject | undefined
  model: () => ModelObject
  instructions: string
  messages: readonly ModelMessage[]
  offeredTools: () => readonly AgentTool[]
  permit: Permit
  maxTurns: number
  /** Returns why no model may be called any more, such as the token limit. */
  exhausted?: (() => string | undefined) | undefined
  /** Calls of the last answer in `messages` that have no result yet and are made first. */
  open?: readonly RequestedCall[] | undefined
  /** Called after every answer of the model and after its calls, with all added messages. */
  onMessages?: ((newMessages: readonly ModelMessage[]) => Promise<void>) | undefined
  /** Returns the messages that were sent to the running agent since the last step. */
  steering?: (() => readonly string[]) | undefined
  /** Returns the messages that are sent to the model: all of them, or a compacted conversation. */
  prepareMessages?:
    | ((messages: readonly ModelMessage[], ask: AskModel) => Promise<readonly ModelMessage[]>)
    | undefined
  onUsage: (entry: UsageEntry) => void
  onEvent: (event: AgentEvent) => void
}

/** Lets a model call tools until it answers. Never throws: a failure is an outcome. */
export async function runLoop(request: LoopRequest): Promise<LoopOutcome> {
  const run = new Run(request)
  try {
    return await run.takeTurns()
  } catch (error) {
    return run.signal.aborted
      ? run.outcome('cancelled', 'The run was cancelled.')
      : run.outcome('failed', failureText(error))
  }
}

/** The error of a run that reached its maximum of turns. */
export const maxTurnsExceeded = 'Max turns exceeded'

export function summaryRequest(reason: string): string {
  return `${reason}. No tool can be called any more. Sum up now what you did and found, and what is left to do.`
}

/** After so many equal steps in a row the model reads a notice. Equal: the same calls and results. */
const repetitionsUntilNotice = 3
/** After so many equal steps in a row the run ends with a summary. */
const repetitionsUntilEnd = 8
/** After so many equal cycles of several steps in a row the run ends with a summary. */
const cyclesUntilEnd = 5

/** Counts how often in a row a model repeats the same steps, in cycles of any length. */
export class Repetition {
  readonly #steps: { digest: string; names: readonly string[] }[] = []
  /** By the length of a cycle: how many of the last steps equal the step one cycle before. */
  readonly #matches: number[] = []

  /** Adds the calls of a step with their results. Returns a notice for the model, and why the run ends. */
  add(calls: readonly { name: string }[]): { notice?: string; end?: string } {
    if (calls.length === 0) return {}
    const digest = sha256(JSON.stringify(calls))
    const names = calls.map(({ name }) => name)
    const count = this.#steps.push({ digest, names })
    for (let length = 1; length < count; length++) {
      const isSame = this.#steps.at(-1 - length)?.digest === digest
      this.#matches[length] = isSame ? (this.#matches[length] ?? 0) + 1 : 0
    }
    const length = this.#matches.findIndex(
      (matches, length) => length > 0 && matches >= (repetitionsUntilNotice - 1) * length,
    )
    if (length === -1) return {}
    const times = Math.floor((this.#matches[length] ?? 0) / length) + 1
    const isCycle = length > 1
    const subject = isCycle ? `These ${length} steps were the same calls` : 'This was the same call'
    const notice = `(${subject} with the same ${isCycle ? 'results' : 'result'} ${times} times in a row. Do something else, or answer.)`
    if (times < (isCycle ? cyclesUntilEnd : repetitionsUntilEnd)) return { notice }
    const tools = [...new Set(this.#steps.slice(-length).flatMap((step) => step.names))].join(', ')
    const end = isCycle
      ? `The model made the same ${length} steps ${times} times in a row with the same results: ${tools}.`
      : `The model made the same call ${times} times in a row with the same result: ${tools}.`
    return { notice, end }
  }
}

/** How often a model is asked again after an empty answer, or one that does not match the schema. */
const retriesOfAnswer = 2

/** Maximum number of calls of one step that run at once. Delegations have a queue of their own. */
const callsAtOnce = 10

class Run {
  readonly signal: AbortSignal
  readonly #request: LoopRequest
  readonly #added: ModelMessage[] = []
  readonly #waiting: WaitingCall[] = []
  #turns = 0
  #text = ''
  /** Answers in a row that were empty or did not match the schema. */
  #uselessAnswers = 0
  readonly #repetition = new Repetition()

  constructor(request: LoopRequest) {
    this.#request = request
    this.signal = request.signal ?? new AbortController().signal
  }

  async takeTurns(): Promise<LoopOutcome> {
    const { open = [], exhausted } = this.#request
    if (open.length > 0) await this.#carryOut(open, toWireNames(this.#request.offeredTools()))
    for (;;) {
      if (this.#waiting.length > 0) return { ...this.outcome('waiting'), waiting: this.#waiting }
      this.signal.throwIfAborted()
      this.#takeSteering()
      const limitReason = exhausted?.()
      if (limitReason !== undefined) return this.outcome('capped', limitReason)
      if (this.#turns >= this.#request.maxTurns) return await this.#summarise(maxTurnsExceeded)
      const names = toWireNames(this.#request.offeredTools())
      const reply = await this.#askModel(names)
      if (reply.calls.length > 0) {
        const endReason = await this.#carryOut(reply.calls, names)
        if (endReason !== undefined) return await this.#summarise(endReason)
      } else if (!this.#takeSteering()) {
        const outcome = await this.#conclude(reply)
        if (outcome) return outcome
      }
    }
  }

  outcome(status: RunStatus, error?: string): LoopOutcome {
    const [text, messages, turns] = [this.#text, this.#added, this.#turns]
    return { status, text, messages, turns, ...present({ error }) }
  }

  #takeSteering() {
    const texts = this.#request.steering?.() ?? []
    for (const text of texts) this.#addPrompt(text)
    return texts.length > 0
  }

  #addPrompt(content: string): undefined {
    this.#added.push({ role: 'user', content })
  }

  /** Makes the calls of a step concurrently. Returns why the run must end, if it must. */
  async #carryOut(calls: readonly RequestedCall[], names: WireNames): Promise<string | undefined> {
    const queue = new Queue(callsAtOnce)
    const results = await Promise.all(calls.map((call) => this.#answer(call, names, queue)))
    let answers = results.filter((answer) => answer !== undefined)
    if (answers.length === 0) return undefined
    this.#uselessAnswers = 0
    const calledTools = answers.map(({ name, input, text }) => {
      return { name: names.get(name)?.name ?? name, input, text }
    })
    const { notice, end } = this.#repetition.add(calledTools)
    if (notice !== undefined) {
      answers = answers.map((answer) => ({ ...answer, text: `${answer.text}\n\n${notice}` }))
    }
    await this.#add({ role: 'tool', content: answers.map(resultPart) })
    return end
  }

  async #add(message: ModelMessage) {
    this.#added.push(message)
    await this.#request.onMessages?.(this.#added)
  }

  /** Never throws: a problem becomes a text `Error: …`. Undefined for a call that waits for approval. */
  async #answer(
    call: RequestedCall,
    names: WireNames,
    queue: Queue,
  ): Promise<AnsweredCall | undefined> {
    const { agent, delegation, onEvent } = this.#request
    const { id, name, input } = call
    // Models also write `mcp__server__tool`, the form of other agents.
    const tool = names.get(wireName(name)) ?? names.get(wireName(name.replace(/^mcp__/, '')))
    const inputObject = isObject<JsonValue>(input) ? input : {}
    const event = { agent, delegation, id, tool: tool?.name ?? name }
    const work = async (): Promise<Answer | undefined> => {
      onEvent({ type: 'tool-call', ...event, input: inputObject })
      const problem = await callProblem(call, tool, names)
      return !tool || problem !== undefined
        ? failure(problem ?? '')
        : await untilAborted(this.#execute(tool, id, inputObject), this.signal)
    }
    let answer: Answer | undefined
    try {
      answer = await (tool?.origin.kind === 'agent' ? work() : queue.run(this.signal, work))
    } catch (error) {
      const cancelledText = 'the run was cancelled before this was done.'
      answer = failure(this.signal.aborted ? cancelledText : failureText(error))
    }
    if (!answer) return undefined
    const { output, isError } = answer
    onEvent({ type: 'tool-result', ...event, output, isError })
    return { ...answer, id, name: wireName(name), input }
  }

  async #execute(
    tool: AgentTool,
    toolCallId: string,
    input: JsonObject,
  ): Promise<Answer | undefined> {
    const { signal } = this
    const { agent, delegation, permit, afterTool, onEvent } = this.#request
    const context = { toolCallId, signal, onEvent }
    const permission = await permit(tool, input, context)
    signal.throwIfAborted()
    if (!permission.allowed && permission.waits === true && delegation === undefined) {
      const waiting = { id: toolCallId, tool: tool.name, input, reason: permission.reason }
      this.#waiting.push(waiting)
      onEvent({ type: 'waiting', agent, ...waiting })
      return undefined
    }
    if (!permission.allowed) return failure(`${tool.name} was refused: ${permission.reason}`)
    const usedInput = permission.input ?? input
    let answer: Answer
    let failureKind: FinishedCall['failure']
    try {
      const isSkill = tool.origin.kind === 'agent' && tool.name === skillToolName
      const result = await tool.execute(usedInput, context)
      if (result instanceof FailedResult) failureKind = 'reported'
      answer = answerOf(outputOf(result), isSkill)
    } catch (error) {
      if (signal.aborted) throw error
      failureKind = 'thrown'
      answer = failure(failureText(error))
    }
    const { output } = answer
    const hookText = await afterTool?.({ tool, input: usedInput, output, failure: failureKind })
    return hookText === undefined ? answer : { ...answer, text: `${answer.text}\n\n${hookText}` }
  }

  async #conclude({ text, finishReason }: ModelReply): Promise<LoopOutcome | undefined> {
    const { agent, outputSchema, beforeStop, onEvent } = this.#request
    if (finishReason === 'content-filter' || finishReason === 'error') {
      return this.outcome('failed', `The provider ended the answer: ${finishReason}.`)
    }
    if (text.trim() === '') {
      const reason = finishReason === 'length' ? ' before its limit of tokens' : ''
      return this.#again(
        `The model answered nothing${reason}.`,
        'Your answer was empty. Continue, or give your final answer.',
      )
    }
    if (finishReason === 'length') {
      const message = 'The answer was cut off at its limit of tokens.'
      onEvent({ type: 'notice', agent, message })
    }
    const more = await beforeStop?.(text)
    if (more !== undefined) return this.#addPrompt(more)
    if (!outputSchema) return this.outcome('completed')
    const reading = await readStructured(text, outputSchema)
    if (reading.ok) return { ...this.outcome('completed'), output: reading.output }
    const { problem } = reading
    return this.#again(
      `The answer does not have the requested shape: ${problem}.`,
      `Your answer does not have the requested shape: ${problem}. Answer again, with the JSON alone.`,
    )
  }

  #again(error: string, request: string): LoopOutcome | undefined {
    this.#uselessAnswers += 1
    if (this.#uselessAnswers > retriesOfAnswer) {
      return { ...this.outcome('failed', error), failure: 'answer' }
    }
    return this.#addPrompt(request)
  }

  /** The last turn, without tools: the model sums up, so that its findings are not lost. */
  async #summarise(reason: string): Promise<LoopOutcome> {
    this.#addPrompt(summaryRequest(reason))
    await this.#askModel()
    return this.outcome('capped', reason)
  }

  /** Asks the model for a summary of old messages. */
  async #ask(content: string): Promise<string> {
    const { agent, delegation, callSettings, model, onUsage, onEvent } = this.#request
    const { askModel } = await import('./sdk.ts')
    const { signal } = this
    const answer = askModel(content, model(), callSettings, signal, (modelId, usage) => {
      onUsage({ model: modelId, agent, delegation, usage })
      onEvent({ type: 'step', agent, delegation, usage })
    })
    return await untilAborted(answer, signal)
  }

  /** Calls the model, reports its answer and adds it to the conversation. Without tools it writes text. */
  async #askModel(offeredTools?: WireNames): Promise<ModelReply> {
    const tools: WireNames = offeredTools ?? new Map()
    const outputSchema = offeredTools && this.#request.outputSchema
    const { agent, delegation, instructions, stream, onEvent, callSettings } = this.#request
    const model = this.#request.model()
    await aiSdk()
    const { callModel, modelFailure } = await import('./sdk.ts')
    const allMessages = [...this.#request.messages, ...this.#added]
    const messages =
      (await this.#request.prepareMessages?.(allMessages, (prompt) => this.#ask(prompt))) ??
      allMessages
    this.signal.throwIfAborted()
    this.#turns += 1
    this.#text = ''
    let recordedUsage: TokenUsage | undefined
    const recordUsage = (modelId: string, usage: TokenUsage) => {
      recordedUsage = usage
      this.#request.onUsage({ model: modelId, agent, delegation, usage })
    }
    const addText = (text: string) => {
      this.#text += text
      if (text !== '') onEvent({ type: 'text', agent, delegation, text })
    }
    const shape = outputSchema ? schemaInstructions(outputSchema) : ''
    try {
      const answer = callModel({
        model,
        instructions: [instructions, shape].filter((text) => text !== '').join('\n\n'),
        messages,
        tools,
        // With a schema beside tools, some servers refuse the request and others never call a tool.
        // The loop checks the answer in any case.
        outputSchema: tools.size === 0 ? outputSchema : undefined,
        settings: callSettings,
        telemetry: this.#request.telemetry,
        signal: this.signal,
        onText: stream === true ? addText : undefined,
        onReasoning: (text) => {
          if (text.trim() !== '') onEvent({ type: 'reasoning', agent, delegation, text })
        },
        onUsage: recordUsage,
      })
      // A provider may ignore the signal; the run ends anyway.
      const reply = await untilAborted(answer, this.signal)
      if (stream !== true) addText(reply.text)
      const message = messageToStore(reply.message, offeredTools !== undefined)
      if (message) await this.#add(message)
      return reply
    } catch (error) {
      // A stream that was cut off has a cost, but its usage is unknown.
      if (!recordedUsage && this.#text !== '') {
        recordUsage(model.modelId, { ...noUsage, requests: 1 })
      }
      if (this.#text !== '') await this.#add({ role: 'assistant', content: this.#text })
      throw this.signal.aborted ? error : new Error(modelFailure(error), { cause: error })
    } finally {
      if (recordedUsage) onEvent({ type: 'step', agent, delegation, usage: recordedUsage })
    }
  }
}

/**
 * Returns an answer for the conversation. Names of tools become names that providers accept, since a
 * model may call a tool by any name. Calls that are not carried out are removed; undefined if nothing
 * remains.
 */
function messageToStore(message: AssistantModelMessage | undefined, carriesOut: boolean) {
  if (!message || typeof message.content === 'string') return message
  const content = message.content
    .filter((part) => carriesOut || part.type !== 'tool-call' || part.providerExecuted)
    .map((part) =>
      part.type === 'tool-call' ? { ...part, toolName: wireName(part.toolName) } : part,
    )
  const hasContent = carriesOut || content.some(({ type }) => type === 'text')
  return hasContent ? { ...message, content } : undefined
}

async function callProblem(
  { name, input }: RequestedCall,
  tool: AgentTool | undefined,
  names: WireNames,
): Promise<string | undefined> {
  if (!tool) {
    const available = [...names.keys()]
    if (available.length === 0) return `there is no tool called ${name}, and no other one now.`
    return `there is no tool called ${name}. The tools are: ${available.join(', ')}.`
  }
  const problem = isObject<JsonValue>(input)
    ? await inputProblem(tool, input)
    : 'its arguments must be one JSON object'
  return problem && `${tool.name} was not called: ${problem}. Call it again with right arguments.`
}

/** Returns why an input does not match its schema. Inputs for MCP servers are checked at the call. */
export async function inputProblem(tool: AgentTool, input: JsonObject) {
  return tool.origin.kind === 'mcp' ? undefined : await schemaProblem(tool.inputSchema, input)
}

function schemaInstructions(schema: JsonObject) {
  return `When you are done, answer with one JSON value and nothing else: no prose, no code fence.\nIt must match this JSON Schema: ${JSON.stringify(schema)}`
}

async function readStructured(text: string, schema: JsonObject) {
  const [, fencedText = ''] = /```(?:json)?[^\S\n]*\n([\s\S]*)/.exec(text) ?? []
  const output = parseJson(text) ?? parseJson(fencedText.split(/\n[^\S\n]*```/, 1)[0] ?? '')
  if (output === undefined) return { ok: false, problem: 'it is not JSON' }
  const problem = await schemaProblem(schema, output)
  return problem === undefined ? { ok: true, output } : { ok: false, problem }
}

const checker = createSchemaChecker()

async function schemaProblem(schema: JsonObject, value: JsonValue) {
  const verdict = await checker.check(schema, value)
  // With an unusable schema, the tool itself decides about its input.
  const problems = verdict.checked ? verdict.problems.slice(0, 10) : []
  const texts = problems.map(({ path, message }) => `${path.join('.')} ${message}`.trim())
  return texts.join('; ') || undefined
}
