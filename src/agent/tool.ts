import { hexDigest, isObject, type JsonObject, type JsonValue } from '#core/json'
import { ToolNameError, usageError } from './errors.ts'
import type { AgentTool, ToolContext } from './types.ts'

/** A type of zod 4, or of any library that follows Standard Schema and can write JSON Schema. */
export interface SchemaType<Value> {
  readonly '~standard': {
    readonly validate: (value: unknown) => SchemaResult<Value> | Promise<SchemaResult<Value>>
    readonly jsonSchema?: { readonly input: (options: { target: 'draft-2020-12' }) => object }
  }
}

type SchemaResult<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] }

type AnySchema = SchemaType<unknown> | JsonObject | undefined

/** What a program says of a tool. By default a call changes something, and nobody is asked. */
export interface ToolDefinition<Input>
  extends
    Pick<AgentTool, 'name' | 'description' | 'aliases'>,
    Partial<Pick<AgentTool, 'readOnly' | 'needsApproval'>> {
  /** Text, or anything that is JSON. Throwing tells the model `Error: …`. */
  execute(input: Input, context: ToolContext): unknown
}

/**
 * A tool of the program, for `new Agent({ tools: [...] })`. `input` is a type of zod, whose defaults
 * and transformations hold, or a JSON Schema of an object; absent: the tool takes nothing.
 *
 * @example
 * tool({
 *   name: 'weather',
 *   description: 'The weather in a city now.',
 *   input: z.object({ city: z.string() }),
 *   execute: async ({ city }) => await weatherOf(city),
 * })
 * @throws {AgentUsageError} when `input` cannot be written as a JSON Schema of an object.
 */
export function tool<Input>(
  definition: ToolDefinition<Input> & { input: SchemaType<Input> },
): AgentTool
export function tool(
  definition: ToolDefinition<JsonObject> & { input?: JsonObject | undefined },
): AgentTool
export function tool(definition: ToolDefinition<unknown> & { input?: AnySchema }): AgentTool {
  const { name, input, execute, ...facts } = definition
  return {
    ...facts,
    name,
    readOnly: facts.readOnly ?? false,
    needsApproval: facts.needsApproval ?? false,
    inputSchema: jsonSchemaOf(name, input),
    origin: { kind: 'program' },
    async execute(given, context) {
      const result = isSchemaType(input)
        ? await input['~standard'].validate(given)
        : { value: given }
      if (!result.issues) return jsonValue(await execute(result.value, context))
      const problems = result.issues.map(({ message }) => message).join('; ')
      throw usageError('tool-input', `The input of ${name} is not what it takes: ${problems}.`)
    },
  }
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

/** What a model can read of anything: as JSON would have it, and `null` for nothing. */
export function jsonValue(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value) ?? 'null')
}

export function objectSchema(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, required: [...required], additionalProperties: false }
}

/** What every tool of the agent itself has: it acts on nothing but the conversation. */
export const ownTool = {
  readOnly: true,
  needsApproval: false,
  origin: { kind: 'agent' },
} as const satisfies Partial<AgentTool>

/** Whether a call is asked about where no rule of a skill and no hook approves it. */
export function needsApproval(tool: AgentTool, input: JsonObject): boolean {
  if (tool.alwaysAsk?.(input) !== undefined) return true
  return tool.needsApproval ?? !(tool.readOnly || tool.origin.kind === 'program')
}

/** What OpenAI and Anthropic both accept: 64 of letters, digits, `_` and `-`. */
const longestWireName = 64

const accepted = /^[A-Za-z0-9_-]{1,64}$/

/** Tools by their wire names: {@link wireName} finds one by its display name too. */
export type WireNames = ReadonlyMap<string, AgentTool>

/** `skill.tool` is `skill__tool` for a provider; a name that is too long ends in a digest. */
export function wireName(name: string): string {
  if (accepted.test(name)) return name
  const allowed = name.replaceAll('.', '__').replaceAll(/[^A-Za-z0-9_-]/g, '_')
  if (allowed.length <= longestWireName) return allowed === '' ? '_' : allowed
  const digest = hexDigest(name, 8)
  return `${allowed.slice(0, longestWireName - digest.length - 1)}_${digest}`
}

/** @throws {ToolNameError} when two tools would have one name, or one has none. */
export function toWireNames(tools: readonly AgentTool[]): WireNames {
  const byWireName = new Map<string, AgentTool>()
  for (const tool of tools) {
    if (tool.name === '') throw nameError('A tool has an empty name.')
    const wire = wireName(tool.name)
    const other = byWireName.get(wire)
    if (other) {
      const both = [other, tool].map((one) => `${one.name} (${originText(one)})`).join(' and ')
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
