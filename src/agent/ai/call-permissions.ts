import { isDeepStrictEqual } from 'node:util'
import type { ModelMessage, ToolSet } from 'ai'
import { messageOf } from '#core/errors'
import type { JsonObject } from '#core/json'
import { usageError } from '#agent/errors'
import { failureText } from '#agent/loop/results'
import { jsonValue } from '#agent/tool'
import type { AgentTool } from '#agent/types'
import type { RunSkills } from './run-skills.ts'
import { inputOf, isAsyncIterable, type ToolModelOutput } from './tool-set.ts'

/** How the AI SDK identifies a call: by its ID, and by the messages of its step. */
export interface CallPlace {
  toolCallId: string
  /** One array for each step: the AI SDK passes it to `toolApproval` and then to `execute`. */
  messages: readonly ModelMessage[]
}

/** A call that the rules allowed and that has not been executed. */
export interface PermittedCall {
  run: RunSkills
  /** The name by which the model called the tool. */
  toolName: string
  /** The input for which the call was allowed. */
  decidedInput: JsonObject
  tool: AgentTool
  /** The input for the tool, which hooks may have changed. */
  input: JsonObject
  /** Whether hooks changed the input. */
  isChanged: boolean
}

/**
 * Permissions for tool calls. A permission is valid for one call of one step with one input, and is
 * used up when the call is executed.
 */
export class CallPermissions {
  readonly #steps = new WeakMap<readonly ModelMessage[], Map<string, PermittedCall[]>>()
  /** Text of hooks for the model, by input and call ID: the AI SDK passes both with a result. */
  readonly #additions = new WeakMap<object, Map<string, string>>()

  allow({ toolCallId, messages }: CallPlace, call: PermittedCall): void {
    const calls = this.#steps.get(messages) ?? new Map<string, PermittedCall[]>()
    this.#steps.set(messages, calls)
    // Two runs can resume from one array of messages, so that a call has two permissions.
    calls.set(toolCallId, [...(calls.get(toolCallId) ?? []), call])
  }

  /**
   * Uses up the permission of a call.
   *
   * @throws {AgentUsageError} for a call that was not allowed, or not with this input.
   */
  take(toolName: string, input: unknown, { toolCallId, messages }: CallPlace): PermittedCall {
    const call = this.#steps.get(messages)?.get(toolCallId)?.shift()
    const isSame =
      call?.toolName === toolName && isDeepStrictEqual(inputOf(input), call.decidedInput)
    if (call && isSame) return call
    const message = 'A call was made without the rules of the skills.'
    const hint = 'Give prepareStep and toolApproval to settings(), and spread what it returns last.'
    throw usageError('settings-incomplete', message, hint)
  }

  /** Wraps the tools of an application so that they execute permitted calls only. */
  guard(tools: ToolSet): ToolSet {
    return Object.fromEntries(
      Object.entries(tools).map(([name, tool]) => [name, this.#guarded(name, tool)]),
    )
  }

  #guarded(name: string, tool: ToolSet[string]): ToolSet[string] {
    const { execute } = tool
    if (!execute) return tool
    return this.withAdditions({
      ...tool,
      execute: (input: unknown, options) => {
        const call = this.take(name, input, options)
        const result: unknown = execute(call.isChanged ? call.input : input, options)
        return isAsyncIterable(result)
          ? this.followEach(call, input, options, result)
          : this.follow(call, input, options, async () => await result)
      },
    })
  }

  /** Awaits the result of a call; hooks of skills may add text to it. */
  async follow<T>(
    call: PermittedCall,
    input: unknown,
    place: CallPlace,
    work: () => Promise<T>,
  ): Promise<T> {
    let output: T
    try {
      output = await work()
    } catch (error) {
      throw await withAddedText(call, error)
    }
    await this.#succeeded(call, input, place, output)
    return output
  }

  /** Yields the results of a call; hooks of skills may add text to the last one. */
  async *followEach<T>(
    call: PermittedCall,
    input: unknown,
    place: CallPlace,
    outputs: AsyncIterable<T>,
  ): AsyncGenerator<T> {
    let last: T | undefined
    try {
      for await (last of outputs) yield last
    } catch (error) {
      throw await withAddedText(call, error)
    }
    await this.#succeeded(call, input, place, last)
  }

  async #succeeded(
    call: PermittedCall,
    input: unknown,
    { toolCallId }: CallPlace,
    output: unknown,
  ) {
    const { run, tool, input: usedInput } = call
    const finishedCall = { tool, input: usedInput, output: jsonValue(output) }
    const hookText = await run.hooks.after(finishedCall)
    if (hookText === undefined || typeof input !== 'object' || input === null) return
    const additions = this.#additions.get(input) ?? new Map<string, string>()
    this.#additions.set(input, additions.set(toolCallId, hookText))
  }

  /** Adds the text of hooks to the result that the model reads. */
  withAdditions<T extends ToolSet[string]>(tool: T): T
  withAdditions(tool: ToolSet[string]): ToolSet[string] {
    const { toModelOutput } = tool
    return {
      ...tool,
      toModelOutput: async (options: { toolCallId: string; input: unknown; output: unknown }) => {
        const { toolCallId, input, output } = options
        const modelOutput = toModelOutput ? await toModelOutput(options) : plain(output)
        const isKey = typeof input === 'object' && input !== null
        const hookText = isKey ? this.#additions.get(input)?.get(toolCallId) : undefined
        return hookText === undefined ? modelOutput : withText(modelOutput, hookText)
      },
    }
  }
}

/** Returns the error with its hint, if it has one, and with the text that hooks add. */
async function withAddedText(
  { run, tool, input }: PermittedCall,
  error: unknown,
): Promise<unknown> {
  const text = failureText(error)
  const hookText = await run.hooks.after({ tool, input, output: text, failure: 'thrown' })
  if (hookText === undefined && text === messageOf(error)) return error
  return new Error([text, hookText ?? []].flat().join('\n\n'), { cause: error })
}

function plain(output: unknown): ToolModelOutput {
  const value = jsonValue(output)
  return typeof value === 'string' ? { type: 'text', value } : { type: 'json', value }
}

function withText(output: ToolModelOutput, text: string): ToolModelOutput {
  if (output.type === 'execution-denied') return output
  if (output.type === 'content') {
    return { ...output, value: [...output.value, { type: 'text', text }] }
  }
  const { type, value } = output
  const original = typeof value === 'string' ? value : JSON.stringify(value)
  return { ...output, type: type === 'error-text' ? type : 'text', value: `${original}\n\n${text}` }
}
