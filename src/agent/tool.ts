import { isObject } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'
import type { JsonObject } from '../tools/index.ts'
import { AgentUsageError } from './agent-errors.ts'
import type { AgentTool, ToolContext } from './model.ts'

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

/** What a program says of a tool. */
export interface ToolDefinition<Input> {
  /** Letters, digits, `_` and `-`; a `.` parts a group from the tool. */
  name: string
  /** What it does and when to use it: the model reads this. */
  description: string
  /** Whether a call changes nothing; default false. Where only reading is allowed, others are not offered. */
  readOnly?: boolean | undefined
  /** Whether the approver is asked before every call; default false. */
  needsApproval?: boolean | undefined
  /** Other names by which skills and agent files may call it. */
  aliases?: readonly string[] | undefined
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
export function tool(
  definition: ToolDefinition<unknown> & { input?: SchemaType<unknown> | JsonObject | undefined },
): AgentTool {
  const { name, description, input, execute, ...facts } = definition
  return {
    name,
    description,
    inputSchema: jsonSchemaOf(name, input),
    readOnly: facts.readOnly ?? false,
    needsApproval: facts.needsApproval ?? false,
    aliases: facts.aliases,
    origin: { kind: 'program' },
    async execute(given, context) {
      const value = isSchemaType(input) ? await readInput(name, input, given) : given
      return jsonValue(await execute(value, context))
    },
  }
}

/** Whether it is a type of a schema library, and no JSON Schema. */
export function isSchemaType(
  input: SchemaType<unknown> | JsonObject | undefined,
): input is SchemaType<unknown> {
  return input !== undefined && '~standard' in input
}

/** @throws {AgentUsageError} for a type that has no JSON Schema, or none of an object. */
export function jsonSchemaOf(
  owner: string,
  input: SchemaType<unknown> | JsonObject | undefined,
): JsonObject {
  if (input === undefined) return { type: 'object', properties: {} }
  if (!isSchemaType(input)) return input
  const schema = input['~standard'].jsonSchema?.input({ target: 'draft-2020-12' })
  const value = schema === undefined ? undefined : jsonValue(schema)
  if (isObject<JsonValue>(value)) return value
  throw new AgentUsageError({
    code: 'schema-unusable',
    message: `The schema of ${owner} cannot be written as JSON Schema.`,
    hint: 'Use a type of zod 4.2 or later, or give the JSON Schema itself.',
  })
}

async function readInput(
  name: string,
  type: SchemaType<unknown>,
  given: JsonObject,
): Promise<unknown> {
  const result = await type['~standard'].validate(given)
  if (result.issues === undefined) return result.value
  const problems = result.issues.map(({ message }) => message).join('; ')
  throw new AgentUsageError({
    code: 'tool-input',
    message: `The input of ${name} is not what it takes: ${problems}.`,
  })
}

/** What a model can read of anything: as JSON would have it, and `null` for nothing. */
function jsonValue(value: unknown): JsonValue {
  const text = JSON.stringify(value)
  return text === undefined ? null : JSON.parse(text)
}
