import { type OptionOwner, required, rule } from '#core/api-options'
import { hexDigest, isObject, type JsonObject, type JsonValue } from '#core/json'
import { checkAgentOptions } from './check-options.ts'
import { ToolNameError, usageError } from './errors.ts'
import type { AgentTool, SchemaType, ToolContext } from './types.ts'

type AnySchema = SchemaType<unknown> | JsonObject | undefined

/** The definition of a program's tool. By default a call changes something and needs no approval. */
export interface ToolDefinition<Input>
  extends
    Pick<AgentTool, 'name' | 'description' | 'aliases'>,
    Partial<Pick<AgentTool, 'readOnly' | 'needsApproval'>> {
  /** Returns a text or any JSON value. An exception becomes the text `Error: …` for the model. */
  execute(input: Input, context: ToolContext): unknown
}

/**
 * Creates a tool of the program, for `new Agent({ tools: [...] })`. `input` is a zod type, whose
 * defaults and transformations apply, or a JSON Schema of an object. Without it the tool has no input.
 *
 * @example
 * tool({
 *   name: 'weather',
 *   description: 'The weather in a city now.',
 *   input: z.object({ city: z.string() }),
 *   execute: async ({ city }) => await weatherOf(city),
 * })
 * @throws {AgentUsageError} if `input` cannot be written as a JSON Schema of an object.
 */
export function tool<Input>(
  definition: ToolDefinition<Input> & { input: SchemaType<Input> },
): AgentTool
export function tool(
  definition: ToolDefinition<JsonObject> & { input?: JsonObject | undefined },
): AgentTool
export function tool(definition: ToolDefinition<unknown> & { input?: AnySchema }): AgentTool {
  const { name, input, execute, ...facts } = checkAgentOptions(definition, toolOptions)
  return {
    ...facts,
    name,
    readOnly: facts.readOnly ?? false,
    needsApproval: facts.needsApproval ?? false,
    inputSchema: jsonSchemaOf(name, input),
    origin: { kind: 'program' },
    async execute(value, context) {
      const result = isSchemaType(input) ? await input['~standard'].validate(value) : { value }
      if (!result.issues) return jsonValue(await execute(result.value, context))
      const problems = result.issues.map(({ message }) => message).join('; ')
      throw usageError('tool-input', `The input of ${name} is not what it takes: ${problems}.`)
    },
  }
}

const toolOptions: OptionOwner<ToolDefinition<unknown> & { input?: AnySchema }> = {
  of: 'a tool',
  rules: {
    name: required(rule.text),
    description: required(rule.text),
    input: rule.object,
    execute: required(rule.callback),
    aliases: rule.texts,
    readOnly: rule.flag,
    needsApproval: rule.flag,
  },
  earlierNames: {
    inputSchema: 'The option is called input.',
    parameters: 'The option is called input.',
  },
}

function isSchemaType(input: AnySchema): input is SchemaType<unknown> {
  return input !== undefined && '~standard' in input
}

export function jsonSchemaOf(owner: string, input: AnySchema): JsonObject {
  if (input === undefined) return { type: 'object', properties: {} }
  if (!isSchemaType(input)) return input
  const value = jsonValue(input['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }))
  if (isObject<JsonValue>(value)) return value
  const message = `The schema of ${owner} cannot be written as JSON Schema.`
  throw usageError('schema-unusable', message, 'Use zod 4.2 or later, or give the JSON Schema.')
}

/** Returns a value as JSON would store it: `null` for nothing. */
export function jsonValue(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value) ?? 'null')
}

export function objectSchema(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required: [...required], additionalProperties: false }
}

/** Facts of the agent's own tools, which change nothing but the conversation. */
export const ownTool = {
  readOnly: true,
  needsApproval: false,
  origin: { kind: 'agent' },
} as const satisfies Partial<AgentTool>

/** Whether a call needs an approval that no skill and no hook gives. */
export function needsApproval(tool: AgentTool, input: JsonObject): boolean {
  if (tool.mustAsk !== undefined || tool.alwaysAsk?.(input) !== undefined) return true
  return tool.needsApproval ?? !(tool.readOnly || tool.origin.kind === 'program')
}

/** OpenAI and Anthropic both accept up to 64 letters, digits, `_` and `-`. */
const longestWireName = 64

const wireNameForm = /^[A-Za-z0-9_-]{1,64}$/

/** Tools by their wire names: {@link wireName} finds one by its display name too. */
export type WireNames = ReadonlyMap<string, AgentTool>

/** Returns the name of a tool for providers: `skill__tool` for `skill.tool`. A long name ends in a digest. */
export function wireName(name: string): string {
  if (wireNameForm.test(name)) return name
  const safeName = name.replaceAll('.', '__').replaceAll(/[^A-Za-z0-9_-]/g, '_')
  if (safeName.length <= longestWireName) return safeName === '' ? '_' : safeName
  const digest = hexDigest(name, 8)
  return `${safeName.slice(0, longestWireName - digest.length - 1)}_${digest}`
}

/** @throws {ToolNameError} if two tools would have the same name, or one has none. */
export function toWireNames(tools: readonly AgentTool[]): WireNames {
  const byWireName = new Map<string, AgentTool>()
  for (const tool of tools) {
    if (tool.name === '') throw nameError('A tool has an empty name.')
    const wire = wireName(tool.name)
    const otherTool = byWireName.get(wire)
    if (otherTool) {
      const both = [otherTool, tool].map((one) => `${one.name} (${originText(one)})`).join(' and ')
      throw nameError(`Two tools would be called ${wire}: ${both}.`)
    }
    byWireName.set(wire, tool)
  }
  return byWireName
}

function nameError(message: string): ToolNameError {
  return new ToolNameError({ code: 'tool-name', message, hint: 'Rename one of the tools.' })
}

function originText({ origin }: AgentTool) {
  if (origin.kind === 'skill') return `of the skill ${origin.skill}`
  return origin.kind === 'mcp' ? `of the MCP server ${origin.server}` : `of the ${origin.kind}`
}
