import type { ToolSet } from 'ai'
import { messageOf } from '#core/errors'
import type { JsonObject, JsonValue } from '#core/json'
import { usageError } from '#agent/errors'
import { failureText } from '#agent/loop/results'
import { jsonValue } from '#agent/tool'
import type { McpPart } from '#agent/mcp-tools/mcp-part'
import type { AgentTool, ToolContext } from '#agent/types'
import type { RunSkills } from './run-skills.ts'
import { isAsyncIterable, lastOf, quietContext, type ToolModelOutput } from './tool-set.ts'

export interface Call {
  run: RunSkills
  tool: AgentTool
  /** What hooks made of the input of the call. */
  input: JsonObject
  isChanged: boolean
  given: object
}

export type Workflows = Pick<McpPart, 'isIdle' | 'beforeTool' | 'afterTool'>

/** Calls that were decided about, by the very input that the AI SDK then executes. */
export class CallBook {
  readonly #calls = new WeakMap<object, Call>()
  readonly #added = new WeakMap<object, string>()
  readonly #workflows: Workflows | undefined

  constructor(workflows: Workflows | undefined) {
    this.#workflows = workflows
  }

  allow(call: Call) {
    this.#calls.set(call.given, call)
  }

  /** @throws {AgentUsageError} for a call that nobody decided about. */
  require(input: unknown): Call {
    const call = isKey(input) ? this.#calls.get(input) : undefined
    if (call) return call
    const message = 'A call was made without the rules of the skills.'
    const hint = 'Give prepareStep and toolApproval to settings(), and spread what it returns last.'
    throw usageError('settings-incomplete', message, hint)
  }

  /** Tools that run only what was allowed, with the hooks of skills after them. */
  guard<T extends ToolSet>(tools: T): T
  guard(tools: ToolSet): ToolSet {
    return Object.fromEntries(
      Object.entries(tools).map(([name, tool]) => [name, this.#guarded(tool)]),
    )
  }

  #guarded(tool: ToolSet[string]): ToolSet[string] {
    const { execute, toModelOutput } = tool
    if (!execute) return tool
    return {
      ...tool,
      execute: (input: unknown, options) => {
        const call = this.require(input)
        const context = quietContext(options.toolCallId, options.abortSignal)
        const start = () => execute(call.isChanged ? call.input : input, options)
        // Before its first call, only a generator function is known to stream, and waits to be read.
        const mayStart = this.#workflows?.isIdle !== false || isGenerator(execute)
        const result = mayStart ? start() : undefined
        if (isAsyncIterable(result)) return this.#each(call, context, () => result)
        return lastOf(this.#each(call, context, mayStart ? () => result : start))
      },
      toModelOutput: async (options: { toolCallId: string; input: unknown; output: unknown }) => {
        const { output, input } = options
        const read = toModelOutput ? await toModelOutput(options) : plain(output)
        const added = isKey(input) ? this.#added.get(input) : undefined
        return added === undefined ? read : withText(read, added)
      },
    }
  }

  async *#each(call: Call, context: ToolContext, start: () => unknown): AsyncGenerator {
    let last: unknown
    let isMade = false
    try {
      await this.#workflows?.beforeTool(call.tool, call.input, context)
      isMade = true
      for await (last of outputsOf(start)) yield last
      const added = await this.#after(call, jsonValue(last), false)
      if (added !== undefined) this.#added.set(call.given, added)
    } catch (error) {
      // With the hint of an error of ours, and what hooks have to say about the call.
      const text = failureText(error)
      const added = isMade ? await this.#after(call, text, true) : undefined
      if (added === undefined && text === messageOf(error)) throw error
      throw new Error([text, added ?? []].flat().join('\n\n'), { cause: error })
    }
  }

  async #after({ run, tool, input }: Call, output: JsonValue, isError: boolean) {
    await this.#workflows?.afterTool(tool, input, output, isError)
    return await run.hooks.after(tool, input, output, isError)
  }
}

async function* outputsOf(start: () => unknown): AsyncGenerator {
  const result = await start()
  if (isAsyncIterable(result)) yield* result
  else yield result
}

function isGenerator(execute: object) {
  return Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]'
}

function isKey(input: unknown): input is object {
  return typeof input === 'object' && input !== null
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
  const read = typeof value === 'string' ? value : JSON.stringify(value)
  return { ...output, type: type === 'error-text' ? type : 'text', value: `${read}\n\n${text}` }
}
