import type { ToolAnnotations } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { messageOf, SkillrailError, UsageError } from '#core/errors'
import { safeText } from '#core/text'
import { isObject, type JsonValue, type JsonObject } from '#core/json'
import type { ToolContent, ToolProgress } from '#tools/model'
import { isDeepValue } from '#tools/workflow/gate'

export interface OfferedTool extends ToolFacts {
  inputSchema: JsonObject & { type: 'object' }
  /** Only where the shape is stable. */
  outputSchema?: JsonObject | undefined
  /**
   * @param input as the client sent it
   * @throws {SkillrailError} what the model gets as an error
   */
  run(input: unknown, call: ClientCall): Promise<ToolAnswer>
}

interface ToolFacts {
  name: string
  title: string
  description: string
  /** Every hint is set, since MCP's defaults assume the worst. */
  annotations: Required<Omit<ToolAnnotations, 'title'>>
}

export interface ToolAnswer {
  text: string
  /** Messages of workflows and repeated attempts; they come before the text. */
  notes?: readonly string[] | undefined
  /** Images, sounds, resources and links of other servers, unchanged. */
  blocks?: readonly ToolContent[] | undefined
  /** The answer as data, for a tool with an output schema, or as a server structured it. */
  value?: JsonObject | undefined
  isError?: boolean | undefined
}

export interface ClientCall {
  /** Aborted when the client cancels, and when its connection or the server ends. */
  signal: AbortSignal
  connection: Connection
  progress(step: ToolProgress): void
  /** Undefined if the client cannot ask its user. */
  ask: AskUser | undefined
}

export interface Question {
  message: string
  name: string
  field: { type: 'boolean'; title: string } | { type: 'string'; title: string; enum?: string[] }
  isOptional?: true
}

/**
 * Resolves with the user's answer; undefined if the user refuses, closes the question or does not
 * answer.
 */
export type AskUser = (question: Question) => Promise<JsonValue | undefined>

export interface Connection {
  /**
   * The session in which prerequisites count as done; undefined means the environment's session.
   */
  session: string | undefined
  /**
   * Directories of the skills that this client activated; undefined if clients are not told apart.
   */
  activated: Set<string> | undefined
}

export const readAnnotations: ToolFacts['annotations'] = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

export const changeAnnotations: ToolFacts['annotations'] = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
}

export function failureText(error: unknown): string {
  if (!(error instanceof SkillrailError)) return safeText(`Error: ${messageOf(error)}`)
  const { code, message, hint, diagnostics } = error
  const lines = [
    message.startsWith('Error: ') ? message : `Error: ${message}`,
    ...diagnostics.slice(0, 20).map((one) => `${one.path}: ${one.message}`),
    ...(hint === undefined ? [] : [hint]),
    `[${code}]`,
  ]
  return safeText(lines.join('\n'))
}

/** Makes a tool whose input is checked by one schema; parameters that are not in it are refused. */
export function defineTool<S extends z.ZodObject>({
  input: schema,
  output,
  run,
  ...facts
}: ToolFacts & {
  input: S
  output?: z.ZodObject
  run(input: z.output<S>, call: ClientCall): Promise<ToolAnswer> | ToolAnswer
}): OfferedTool {
  return {
    ...facts,
    inputSchema: { ...jsonSchema(schema), type: 'object' },
    ...(output ? { outputSchema: jsonSchema(output) } : {}),
    run: async (input, call) => await run(checkedInput(facts.name, schema, input), call),
  }
}

const longestName = 500
const longestText = 100_000
/** Maximum JSON characters in the input of one call. */
const largestInput = 4 * 1024 * 1024

export function nameOf(description: string): z.ZodString {
  return z.string().min(1).max(longestName).describe(description)
}

export function textOf(description: string): z.ZodString {
  return z.string().max(longestText).describe(description)
}

export function objectOf(description: string): z.ZodType<JsonObject> {
  const schema = z.custom<JsonObject>((value) => isObject(value), 'is not a JSON object')
  return schema.meta({ type: 'object', description })
}

/** Returns a value as it arrives at the client: without undefined members. */
export function plainJson(value: object): JsonObject {
  const parsed: unknown = JSON.parse(JSON.stringify(value))
  return isObject<JsonValue>(parsed) ? parsed : {}
}

export function shortened(name: string): string {
  return name.length <= longestName ? name : `${name.slice(0, 100)}…`
}

export function inputText(tool: string, input: unknown): string {
  if (isDeepValue(input)) throw wrongInput(tool, ['Invalid: they are nested too deep'])
  const text = JSON.stringify(input)
  if (text.length <= largestInput) return text
  const problem = `Invalid: they have ${text.length} characters; ${largestInput} are allowed`
  throw wrongInput(tool, [problem])
}

function checkedInput<S extends z.ZodObject>(tool: string, schema: S, input: unknown): z.output<S> {
  const reading = schema.safeParse(input, { reportInput: true })
  if (reading.success) return reading.data
  const problems = reading.error.issues.map((issue) => {
    if (issue.code === 'unrecognized_keys')
      return `Invalid: ${issue.keys.map(shortened).join(', ')} is not a parameter`
    const at = shortened(issue.path.join('.')) || 'the whole'
    return issue.input === undefined ? `Missing: ${at}` : `Invalid: ${at}: ${issue.message}`
  })
  const takes = Object.keys(schema.shape).join(', ') || 'nothing'
  throw wrongInput(tool, problems.slice(0, 10), `It takes: ${takes}`)
}

function wrongInput(tool: string, problems: readonly string[], hint?: string): UsageError {
  const message = [`Error: invalid parameters for ${tool}`, ...problems].join('\n')
  return new UsageError({ code: 'invalid-parameters', message, hint })
}

function jsonSchema(schema: z.ZodObject): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    // Not every client knows this keyword.
    override: (context) => void delete context.jsonSchema.propertyNames,
  })
  return plainJson(rest)
}
