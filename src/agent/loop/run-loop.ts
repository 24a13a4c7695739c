import type { AssistantModelMessage, ModelMessage } from 'ai'
import { isObject, type JsonObject, type JsonValue, parseJson, present } from '#core/json'
import { untilAborted } from '#core/runtime'
import { createSchemaChecker } from '#tools/call/schema-checker'
import { type Compactor, skillToolName } from '#agent/conversation/compact'
import { Queue } from '#agent/queue'
import { aiSdk } from '#agent/ai-sdk'
import type { SessionOptions, SessionPart } from '#agent/session'
import { toWireNames, wireName, type WireNames } from '#agent/tool'
import type {
  AgentEvent,
  AgentTool,
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
  offered: () => readonly AgentTool[]
  permit: Permit
  maxTurns: number
  /** Why no model may be asked any more: the tokens are used up. */
  exhausted?: (() => string | undefined) | undefined
  /** Calls of the last answer in `messages` that are made now. */
  open?: readonly RequestedCall[] | undefined
  /** Told when messages were added: after every answer of the model, and after its calls. */
  onMessages?: ((added: readonly ModelMessage[]) => Promise<void>) | undefined
  /** Messages sent to a running agent, taken before every step. */
  steering?: (() => readonly string[]) | undefined
  /** Returns what is sent instead of these messages: a compacted conversation. */
  prepareMessages?: Compactor['fit'] | undefined
  onUsage: (entry: UsageEntry) => void
  onEvent: (event: AgentEvent) => void
}

/** Lets a model work with tools until it answers. Never throws: a failure is an outcome. */
export async function runLoop(request: LoopRequest): Promise<LoopOutcome> {
  const run = new Run(request)
  try {
    return await run.takeTurns()
  } catch (error) {
    return run.signal.aborted
      ? run.ended('cancelled', 'The run was cancelled.')
      : run.ended('failed', failureText(error))
  }
}

/** Why a run is capped at its turns, as the PRD words it. */
export const maxTurnsExceeded = 'Max turns exceeded'

export function summaryRequest(reason: string): string {
  return `${reason}. No tool can be called any more. Sum up now what you did and found, and what is left to do.`
}

/** How often in a row one call may give the same result until the model is told. */
const repetitionsUntilNotice = 3
/** How often it may until the run is ended with a summary. */
const repetitionsUntilEnd = 8

/** Counts how often in a row a model made the same calls with the same results. */
export class Repetition {
  #last = ''
  #count = 0

  /** Takes what a step called and what came of it; returns what the model is told, and why the run ends. */
  add(calls: readonly { name: string }[]): { notice?: string; end?: string } {
    const made = JSON.stringify(calls)
    this.#count = made === this.#last ? this.#count + 1 : 1
    this.#last = made
    if (calls.length === 0 || this.#count < repetitionsUntilNotice) return {}
    const notice = `(This was the same call with the same result ${this.#count} times in a row. Do something else, or answer.)`
    if (this.#count < repetitionsUntilEnd) return { notice }
    const names = [...new Set(calls.map(({ name }) => name))].join(', ')
    const end = `The model made the same call ${this.#count} times in a row with the same result: ${names}.`
    return { notice, end }
  }
}

/** How often a model that answered nothing, or nothing of the asked shape, is asked again. */
const secondChances = 2

/** Calls of one step that work at once; the others wait in order. Delegations have a queue of their own. */
const callsAtOnce = 10

class Run {
  readonly signal: AbortSignal
  readonly #request: LoopRequest
  readonly #added: ModelMessage[] = []
  readonly #waiting: WaitingCall[] = []
  #turns = 0
  #text = ''
  /** Answers in a row that were empty, or not of the asked shape. */
  #useless = 0
  readonly #repetition = new Repetition()

  constructor(request: LoopRequest) {
    this.#request = request
    this.signal = request.signal ?? new AbortController().signal
  }

  async takeTurns(): Promise<LoopOutcome> {
    const { open = [], exhausted } = this.#request
    if (open.length > 0) await this.#carryOut(open, toWireNames(this.#request.offered()))
    for (;;) {
      if (this.#waiting.length > 0) return { ...this.ended('waiting'), waiting: this.#waiting }
      this.signal.throwIfAborted()
      this.#takeSteering()
      const spent = exhausted?.()
      if (spent !== undefined) return this.ended('capped', spent)
      if (this.#turns >= this.#request.maxTurns) return await this.#summarise(maxTurnsExceeded)
      const names = toWireNames(this.#request.offered())
      const reply = await this.#askModel(names)
      if (reply.calls.length > 0) {
        const endless = await this.#carryOut(reply.calls, names)
        if (endless !== undefined) return await this.#summarise(endless)
      } else if (!this.#takeSteering()) {
        const outcome = await this.#conclude(reply)
        if (outcome) return outcome
      }
    }
  }

  ended(status: RunStatus, error?: string): LoopOutcome {
    const [text, messages, turns] = [this.#text, this.#added, this.#turns]
    return { status, text, messages, turns, ...present({ error }) }
  }

  #takeSteering() {
    const texts = this.#request.steering?.() ?? []
    for (const text of texts) this.#tell(text)
    return texts.length > 0
  }

  #tell(content: string): undefined {
    this.#added.push({ role: 'user', content })
  }

  /** Answers the calls of a step side by side. Returns why the run must end, if it must. */
  async #carryOut(calls: readonly RequestedCall[], names: WireNames): Promise<string | undefined> {
    const queue = new Queue(callsAtOnce)
    const all = await Promise.all(calls.map((call) => this.#answer(call, names, queue)))
    let answers = all.filter((answer) => answer !== undefined)
    if (answers.length === 0) return undefined
    this.#useless = 0
    const made = answers.map(({ name, input, text }) => {
      return { name: names.get(name)?.name ?? name, input, text }
    })
    const { notice, end } = this.#repetition.add(made)
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

  /** Never throws: a problem is a text `Error: …`. Undefined for a call that waits for approval. */
  async #answer(
    call: RequestedCall,
    names: WireNames,
    queue: Queue,
  ): Promise<AnsweredCall | undefined> {
    const { agent, delegation, onEvent } = this.#request
    const { id, name, input } = call
    // Models know tools of servers as `mcp__server__tool` from other agents.
    const tool = names.get(wireName(name)) ?? names.get(wireName(name.replace(/^mcp__/, '')))
    const given = isObject<JsonValue>(input) ? input : {}
    const shown = { agent, delegation, id, tool: tool?.name ?? name }
    const work = async (): Promise<Answer | undefined> => {
      onEvent({ type: 'tool-call', ...shown, input: given })
      const problem = await callProblem(call, tool, names)
      return !tool || problem !== undefined
        ? failure(problem ?? '')
        : await untilAborted(this.#execute(tool, id, given), this.signal)
    }
    let answer: Answer | undefined
    try {
      answer = await (tool?.origin.kind === 'agent' ? work() : queue.run(this.signal, work))
    } catch (error) {
      const cancelled = 'the run was cancelled before this was done.'
      answer = failure(this.signal.aborted ? cancelled : failureText(error))
    }
    if (!answer) return undefined
    const { output, isError } = answer
    onEvent({ type: 'tool-result', ...shown, output, isError })
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
    // Its answer would be that the run was cancelled before it was done.
    signal.throwIfAborted()
    if (!permission.allowed && permission.waits === true && delegation === undefined) {
      const waiting = { id: toolCallId, tool: tool.name, input, reason: permission.reason }
      this.#waiting.push(waiting)
      onEvent({ type: 'waiting', agent, ...waiting })
      return undefined
    }
    if (!permission.allowed) return failure(`${tool.name} was refused: ${permission.reason}`)
    const used = permission.input ?? input
    let answer: Answer
    try {
      const isSkill = tool.origin.kind === 'agent' && tool.name === skillToolName
      answer = answerOf(await tool.execute(used, context), isSkill)
    } catch (error) {
      if (signal.aborted) throw error
      answer = failure(failureText(error))
    }
    const added = await afterTool?.(tool, used, answer.output, answer.isError)
    return added === undefined ? answer : { ...answer, text: `${answer.text}\n\n${added}` }
  }

  async #conclude({ text, finishReason }: ModelReply): Promise<LoopOutcome | undefined> {
    const { agent, outputSchema, beforeStop, onEvent } = this.#request
    if (finishReason === 'content-filter' || finishReason === 'error') {
      return this.ended('failed', `The provider ended the answer: ${finishReason}.`)
    }
    if (text.trim() === '') {
      const why = finishReason === 'length' ? ' before its limit of tokens' : ''
      return this.#again(
        `The model answered nothing${why}.`,
        'Your answer was empty. Continue, or give your final answer.',
      )
    }
    if (finishReason === 'length') {
      const message = 'The answer was cut off at its limit of tokens.'
      onEvent({ type: 'notice', agent, message })
    }
    const more = await beforeStop?.(text)
    if (more !== undefined) return this.#tell(more)
    if (!outputSchema) return this.ended('completed')
    const structured = await readStructured(text, outputSchema)
    if (structured.ok) return { ...this.ended('completed'), output: structured.output }
    const { problem } = structured
    return this.#again(
      `The answer is not of the asked shape: ${problem}.`,
      `Your answer is not of the asked shape: ${problem}. Answer again, with the JSON alone.`,
    )
  }

  #again(error: string, request: string): LoopOutcome | undefined {
    this.#useless += 1
    if (this.#useless > secondChances) {
      return { ...this.ended('failed', error), failure: 'answer' }
    }
    return this.#tell(request)
  }

  /** The last turn: no tools, so that what was found is not lost. */
  async #summarise(reason: string): Promise<LoopOutcome> {
    this.#tell(summaryRequest(reason))
    await this.#askModel()
    return this.ended('capped', reason)
  }

  async #ask(content: string): Promise<string> {
    const { agent, delegation, callSettings, model, onUsage, onEvent } = this.#request
    const { askModel } = await import('./sdk.ts')
    const { signal } = this
    const answer = askModel(content, model(), callSettings, signal, (answering, usage) => {
      onUsage({ model: answering, agent, delegation, usage })
      onEvent({ type: 'step', agent, delegation, usage })
    })
    return await untilAborted(answer, signal)
  }

  /** One call of the model, reported and added to the conversation; without names for text. */
  async #askModel(names?: WireNames): Promise<ModelReply> {
    const tools: WireNames = names ?? new Map()
    const outputSchema = names && this.#request.outputSchema
    const { agent, delegation, instructions, stream, onEvent, callSettings } = this.#request
    const model = this.#request.model()
    await aiSdk()
    const { callModel, modelFailure } = await import('./sdk.ts')
    const all = [...this.#request.messages, ...this.#added]
    const messages =
      (await this.#request.prepareMessages?.(all, (prompt) => this.#ask(prompt))) ?? all
    this.signal.throwIfAborted()
    this.#turns += 1
    this.#text = ''
    let booked: TokenUsage | undefined
    const book = (answering: string, usage: TokenUsage) => {
      booked = usage
      this.#request.onUsage({ model: answering, agent, delegation, usage })
    }
    const say = (text: string) => {
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
        // Some servers refuse a forced shape beside tools, others then never call one; the answer is
        // checked by the loop in any case.
        outputSchema: tools.size === 0 ? outputSchema : undefined,
        settings: callSettings,
        telemetry: this.#request.telemetry,
        signal: this.signal,
        onText: stream === true ? say : undefined,
        onReasoning: (text) => {
          if (text.trim() !== '') onEvent({ type: 'reasoning', agent, delegation, text })
        },
        onUsage: book,
      })
      // A provider may not look at the signal, or look too late; a cancelled run is over all the same.
      const reply = await untilAborted(answer, this.signal)
      if (stream !== true) say(reply.text)
      const message = keptMessage(reply.message, names !== undefined)
      if (message) await this.#add(message)
      return reply
    } catch (error) {
      // A stream that was cut off has a cost, but its usage is unknown.
      if (!booked && this.#text !== '') {
        book(model.modelId, { ...noUsage, requests: 1 })
      }
      if (this.#text !== '') await this.#add({ role: 'assistant', content: this.#text })
      throw this.signal.aborted ? error : new Error(modelFailure(error), { cause: error })
    } finally {
      if (booked) onEvent({ type: 'step', agent, delegation, usage: booked })
    }
  }
}

/**
 * An answer as it is kept: with names of tools that a provider takes back in the history, since a model
 * may call one by any name, and without calls that are not carried out. Undefined: nothing is left.
 */
function keptMessage(message: AssistantModelMessage | undefined, carriesOut: boolean) {
  if (!message || typeof message.content === 'string') return message
  const content = message.content
    .filter((part) => carriesOut || part.type !== 'tool-call' || part.providerExecuted)
    .map((part) =>
      part.type === 'tool-call' ? { ...part, toolName: wireName(part.toolName) } : part,
    )
  const isKept = carriesOut || content.some(({ type }) => type === 'text')
  return isKept ? { ...message, content } : undefined
}

async function callProblem(
  { name, input }: RequestedCall,
  tool: AgentTool | undefined,
  names: WireNames,
): Promise<string | undefined> {
  if (!tool) {
    const known = [...names.keys()]
    if (known.length === 0) return `there is no tool called ${name}, and no other one now.`
    return `there is no tool called ${name}. The tools are: ${known.join(', ')}.`
  }
  const problem = isObject<JsonValue>(input)
    ? await inputProblem(tool, input)
    : 'its arguments must be one JSON object'
  return problem && `${tool.name} was not called: ${problem}. Call it again with right arguments.`
}

/** What goes to a server is checked by its own rules before the call. */
export async function inputProblem(tool: AgentTool, input: JsonObject) {
  return tool.origin.kind === 'mcp' ? undefined : await schemaProblem(tool.inputSchema, input)
}

function schemaInstructions(schema: JsonObject) {
  return `When you are done, answer with one JSON value and nothing else: no prose, no code fence.\nIt must match this JSON Schema: ${JSON.stringify(schema)}`
}

async function readStructured(text: string, schema: JsonObject) {
  const [, fenced = ''] = /```(?:json)?[^\S\n]*\n([\s\S]*)/.exec(text) ?? []
  const output = parseJson(text) ?? parseJson(fenced.split(/\n[^\S\n]*```/, 1)[0] ?? '')
  if (output === undefined) return { ok: false, problem: 'it is not JSON' }
  const problem = await schemaProblem(schema, output)
  return problem === undefined ? { ok: true, output } : { ok: false, problem }
}

const checker = createSchemaChecker()

async function schemaProblem(schema: JsonObject, value: JsonValue) {
  const verdict = await checker.check(schema, value)
  // An unusable schema is its tool's fault: the tool has the last word then.
  const problems = verdict.checked ? verdict.problems.slice(0, 10) : []
  const texts = problems.map(({ path, message }) => `${path.join('.')} ${message}`.trim())
  return texts.join('; ') || undefined
}
