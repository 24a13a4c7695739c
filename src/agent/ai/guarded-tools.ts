import type { ToolSet } from 'ai'
import { messageOf } from '../../core/errors.ts'
import type { JsonObject } from '../../tools/model.ts'
import { usageError } from '../errors.ts'
import { failureText } from '../loop/results.ts'
import { jsonValue } from '../tool.ts'
import type { AgentTool } from '../types.ts'
import type { RunSkills } from './run-skills.ts'
import { isAsyncIterable, type ToolModelOutput } from './tool-set.ts'

/** A call that was allowed. */
export interface Call {
  run: RunSkills
  tool: AgentTool
  /** What hooks made of the input of the call. */
  input: JsonObject
  isChanged: boolean
}

/** Calls that were decided about, by the very input that the AI SDK then executes. */
export class CallBook {
  readonly #calls = new WeakMap<object, Call>()
  readonly #added = new WeakMap<object, string>()

  allow(input: object, call: Call): void {
    this.#calls.set(input, call)
  }

  /** @throws {AgentUsageError} for a call that nobody decided about. */
  require(input: unknown): Call {
    const call = isKey(input) ? this.#calls.get(input) : undefined
    if (call !== undefined) return call
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
    if (execute === undefined) return tool
    return {
      ...tool,
      execute: (input: unknown, options) => {
        const call = this.require(input)
        const result = execute(call.isChanged ? call.input : input, options)
        if (!isAsyncIterable(result)) return this.#once(call, input, result)
        return this.#each(call, input, result)
      },
      toModelOutput: async (options: { toolCallId: string; input: unknown; output: unknown }) => {
        const { output, input } = options
        const read = toModelOutput === undefined ? plain(output) : await toModelOutput(options)
        const added = isKey(input) ? this.#added.get(input) : undefined
        return added === undefined ? read : withText(read, added)
      },
    }
  }

  async #once(call: Call, input: unknown, result: unknown): Promise<unknown> {
    try {
      const output = await result
      await this.#after(call, input, output)
      return output
    } catch (error) {
      throw await failed(call, error)
    }
  }

  async *#each(call: Call, input: unknown, results: AsyncIterable<unknown>) {
    let last: unknown
    try {
      for await (last of results) yield last
      await this.#after(call, input, last)
    } catch (error) {
      throw await failed(call, error)
    }
  }

  async #after(call: Call, input: unknown, output: unknown): Promise<void> {
    const added = await call.run.hooks.after(call.tool, call.input, jsonValue(output), false)
    if (added !== undefined && isKey(input)) this.#added.set(input, added)
  }
}

function isKey(input: unknown): input is object {
  return typeof input === 'object' && input !== null
}

/** With the hint of an error of ours, and what hooks have to say about the call. */
async function failed({ run, tool, input }: Call, error: unknown): Promise<unknown> {
  const text = failureText(error)
  const added = await run.hooks.after(tool, input, text, true)
  if (added === undefined && text === messageOf(error)) return error
  return new Error([text, added ?? []].flat().join('\n\n'), { cause: error })
}

function plain(output: unknown): ToolModelOutput {
  const value = jsonValue(output)
  return typeof value === 'string' ? { type: 'text', value } : { type: 'json', value }
}

function withText(output: ToolModelOutput, text: string): ToolModelOutput {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${output.value}\n\n${text}` }
    case 'json':
    case 'error-json':
      return { type: 'text', value: `${JSON.stringify(output.value)}\n\n${text}` }
    case 'content':
      return { ...output, value: [...output.value, { type: 'text', text }] }
    case 'execution-denied':
      return output
  }
}
