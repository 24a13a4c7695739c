import type { Tool, ToolSet } from 'ai'
import { aiSdk } from '#agent/ai-sdk'
import { checkArgument, listOf, rule } from '#core/api-options'
import { isObject, type JsonObject, type JsonValue, objectOf } from '#core/json'
import { usageError } from '#agent/errors'
import { outputOf } from '#agent/failed-result'
import { answerOf, modelOutput } from '#agent/loop/results'
import { inputProblem } from '#agent/loop/run-loop'
import { jsonSchemaOf, jsonValue, needsApproval, toWireNames } from '#agent/tool'
import type { AgentTool, ToolContext } from '#agent/types'

/** The tools that {@link toToolSet} converted, with their facts for the rules of calls. */
const originals = new WeakMap<object, AgentTool>()

/**
 * Converts tools of `skillrail/agent` into an AI SDK `ToolSet`, with names that providers accept:
 * `server.tool` becomes `server__tool`. Tools that need an approval ask for it.
 *
 * @example await generateText({ model, prompt, tools: toToolSet([weather]) })
 * @throws {ToolNameError} when two tools would have one name.
 */
export function toToolSet(
  tools: readonly AgentTool[],
): Record<string, Tool<JsonObject, JsonValue>> {
  checkArgument(tools, 'The tools', listOf('tools made with `tool`', isObject))
  const entries = Array.from(toWireNames(tools), ([name, tool]) => [name, toTool(tool)] as const)
  return Object.fromEntries(entries)
}

function toTool(tool: AgentTool): Tool<JsonObject, JsonValue> {
  const { description, inputSchema } = tool
  const sdkTool: Tool<JsonObject, JsonValue> = {
    description,
    inputSchema: {
      '~standard': {
        version: 1,
        vendor: 'skillrail',
        validate: (value) => checkInput(tool, value),
        jsonSchema: { input: () => inputSchema, output: () => inputSchema },
      },
    },
    needsApproval: (input) => needsApproval(tool, input),
    execute: async (input, { toolCallId, abortSignal }) =>
      outputOf(await tool.execute(input, quietContext(toolCallId, abortSignal))),
    toModelOutput: ({ output }) => modelOutput(answerOf(output)),
  }
  originals.set(sdkTool, tool)
  return sdkTool
}

async function checkInput(tool: AgentTool, value: unknown) {
  const input = inputOf(value)
  if (!input) return { issues: [{ message: 'it must be one JSON object' }] }
  const problem = await inputProblem(tool, input)
  return problem === undefined ? { value: input } : { issues: [{ message: problem }] }
}

/** Returns the input of a call for the rules of calls; undefined if it is not a JSON object. @internal */
export function inputOf(input: unknown): JsonObject | undefined {
  const value = jsonValue(input)
  return isObject<JsonValue>(value) ? value : undefined
}

/** The context of a call whose events have no listener. @internal */
export function quietContext(
  toolCallId: string,
  signal: AbortSignal = new AbortController().signal,
): ToolContext {
  return { toolCallId, signal, onEvent: () => undefined }
}

/**
 * Converts an AI SDK `ToolSet` into tools of `skillrail/agent`. Tools without `execute` and tools that
 * a provider runs are left out.
 *
 * @throws {AgentUsageError} for an input schema whose JSON Schema is not available synchronously.
 */
export function fromToolSet(tools: ToolSet): AgentTool[] {
  checkArgument(tools, 'A ToolSet', rule.object)
  return Object.entries(tools).flatMap(([name, tool]) => {
    if (!tool.execute) return []
    return [originals.get(tool) ?? fromTool(name, tool)]
  })
}

function fromTool(name: string, tool: ToolSet[string]): AgentTool {
  return {
    ...toolFacts(name, tool),
    inputSchema: readSchema(name, tool.inputSchema),
    async execute(input, { toolCallId, signal }) {
      const validInput = await validateInput(tool.inputSchema, input)
      const options = { toolCallId, messages: [], abortSignal: signal, context: undefined }
      const output = await lastOf(await tool.execute?.(validInput, options))
      if (!tool.toModelOutput) return jsonValue(output)
      return modelValue(await tool.toModelOutput({ toolCallId, input: validInput, output }))
    },
  }
}

/** Returns an AI SDK tool as the rules of calls need it. Its `execute` is never called. */
export function toolFacts(name: string, tool: ToolSet[string]): AgentTool {
  const original = originals.get(tool)
  if (original) return original
  const { description, metadata, needsApproval: approval } = tool
  return {
    name,
    description: typeof description === 'string' ? description : '',
    inputSchema: {},
    readOnly: metadata?.['readOnly'] === true,
    // A function decides call by call; here it counts as true.
    needsApproval: approval !== undefined && approval !== false,
    origin: { kind: 'program' },
    execute: async () => null,
  }
}

function readSchema(name: string, schema: ToolSet[string]['inputSchema']): JsonObject {
  const value = typeof schema === 'function' ? schema() : schema
  if ('~standard' in value) return jsonSchemaOf(name, value)
  const { jsonSchema } = value
  if (!('then' in jsonSchema)) return objectOf<JsonValue>(jsonValue(jsonSchema))
  const hint = 'Use a type of zod 4.2 or later, or jsonSchema of the AI SDK.'
  throw usageError('schema-unusable', `The schema of ${name} is not known at once.`, hint)
}

async function validateInput(schema: ToolSet[string]['inputSchema'], input: JsonObject) {
  const { asSchema } = await aiSdk()
  const result = await asSchema(schema).validate?.(input)
  if (result?.success === false) throw result.error
  return result ? result.value : input
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

export async function lastOf(result: unknown): Promise<unknown> {
  if (!isAsyncIterable(result)) return result
  let last: unknown
  for await (last of result);
  return last
}

function modelValue(output: ToolModelOutput): JsonValue {
  if (output.type === 'execution-denied') return output.reason ?? 'The call was refused.'
  if (output.type !== 'content') return jsonValue(output.value)
  return output.value.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')
}

export type ToolModelOutput = Awaited<ReturnType<NonNullable<Tool['toModelOutput']>>>
