import type { ToolResultPart } from 'ai'
import { isObject } from '../../core/json.ts'
import { messageOf, SkillrailError } from '../../core/errors.ts'
import { nearest } from '../../core/text.ts'
import { untilAborted } from '../../core/runtime.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject } from '../../tools/model.ts'
import type { SchemaChecker } from '../../tools/call/schema-checker.ts'
import { skillToolName } from '../conversation/messages.ts'
import type { AgentTool, LoopRequest, ToolContext } from '../types.ts'
import { wireName, type WireNames } from '../tool.ts'
import type { RequestedCall } from './sdk.ts'

/** A call with what the model reads about it. */
export interface AnsweredCall {
  id: string
  /** As it goes into the history. */
  name: string
  input: unknown
  text: string
  isError: boolean
}

/**
 * Carries out one call that the model wants, or says why not. Never throws: whatever goes wrong is a
 * text that begins with `Error: `.
 */
export async function answerCall(
  call: RequestedCall,
  names: WireNames,
  request: LoopRequest,
  signal: AbortSignal,
): Promise<AnsweredCall> {
  const { agent, delegation, onEvent } = request
  const tool = names.find(call.name)
  const input = isObject<JsonValue>(call.input) ? call.input : {}
  const shown = { agent, delegation, id: call.id, tool: tool?.name ?? call.name }
  onEvent({ type: 'tool-call', ...shown, input })
  const answer = await attempt()
  onEvent({ type: 'tool-result', ...shown, output: answer.output, isError: answer.isError })
  return {
    id: call.id,
    name: wireName(call.name),
    input: call.input,
    text: answer.text,
    isError: answer.isError,
  }

  async function attempt(): Promise<Answer> {
    try {
      signal.throwIfAborted()
      if (tool === undefined) return failure(unknownTool(call.name, names))
      const problem = call.problem ?? (await inputProblem(tool, call.input))
      if (problem !== undefined) {
        return failure(
          `${tool.name} was not called: ${problem}. Call it again with right arguments.`,
        )
      }
      const context = { toolCallId: call.id, signal, onEvent }
      return await untilAborted(carryOut(tool, input, context, request), signal)
    } catch (error) {
      return failure(signal.aborted ? 'the run was cancelled before this was done.' : told(error))
    }
  }
}

/** The part of a tool message that answers the call. */
export function resultPart({ id, name, text, isError }: AnsweredCall): ToolResultPart {
  return {
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    output: { type: isError ? 'error-text' : 'text', value: text },
  }
}

interface Answer {
  output: JsonValue
  text: string
  isError: boolean
}

async function carryOut(
  tool: AgentTool,
  input: JsonObject,
  context: ToolContext,
  request: LoopRequest,
): Promise<Answer> {
  const permission = await request.permit(tool, input, context)
  // Its answer would be that the run was cancelled before it was done.
  context.signal.throwIfAborted()
  if (!permission.allowed) return failure(`${tool.name} was refused: ${permission.reason}`)
  const used = permission.input ?? input
  let given: Answer
  try {
    given = answerOf(tool, await tool.execute(used, context))
  } catch (error) {
    if (context.signal.aborted) throw error
    given = failure(told(error))
  }
  const added = await request.afterTool?.(tool, used, given.output, given.isError)
  return added === undefined ? given : { ...given, text: `${given.text}\n\n${added}` }
}

function answerOf(tool: AgentTool, output: JsonValue): Answer {
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  // Cut instructions of a skill would be worse than none.
  const isSkillContent = tool.origin.kind === 'agent' && tool.name === skillToolName
  if (isSkillContent || text.length <= longestResult) return { output, text, isError: false }
  const cut = cutText(text)
  return { output: cut, text: cut, isError: false }
}

function inputProblem(
  tool: AgentTool,
  input: unknown,
): string | Promise<string | undefined> | undefined {
  if (!isObject<JsonValue>(input)) return 'its arguments must be one JSON object'
  // What goes to a server is checked by its own rules before the call.
  if (tool.origin.kind === 'mcp') return undefined
  return schemaProblem(tool.inputSchema, input)
}

function unknownTool(name: string, names: WireNames): string {
  const known = [...names.tools.keys()]
  if (known.length === 0) return `there is no tool called ${name}, and no other one now.`
  const meant = nearest(wireName(name), known)
  const guess = meant === undefined ? '' : ` Did you mean ${meant}?`
  return `there is no tool called ${name}.${guess} The tools are: ${known.join(', ')}.`
}

function failure(sentence: string): Answer {
  const text = cutText(sentence.startsWith('Error: ') ? sentence : `Error: ${sentence}`)
  return { output: text, text, isError: true }
}

function told(error: unknown): string {
  const message = messageOf(error) || 'the tool failed and did not say why.'
  return error instanceof SkillrailError && error.hint !== undefined
    ? `${message} ${error.hint}`
    : message
}

/** Characters of one tool's result that the model gets; the rest is left out with a notice. */
const longestResult = 50_000

/** Keeps the beginning and the end, and says in between how much is missing. */
function cutText(text: string): string {
  if (text.length <= longestResult) return text
  const tail = Math.floor(longestResult / 5)
  const notice = `[${text.length - longestResult} of ${text.length} characters were left out here: the result is too long. Ask for less.]`
  // A cut through a character of two code units leaves half of it.
  const start = text.slice(0, longestResult - tail).replace(/[\uD800-\uDBFF]$/, '')
  const end = text.slice(-tail).replace(/^[\uDC00-\uDFFF]/, '')
  return `${start}\n${notice}\n${end}`
}

type StructuredAnswer = { ok: true; output: JsonValue } | { ok: false; problem: string }

/** What is added to the instructions, for providers that cannot force a shape themselves. */
export function schemaInstructions(schema: JsonObject): string {
  return [
    'When you are done, answer with one JSON value and nothing else: no prose, no code fence.',
    `It must match this JSON Schema: ${JSON.stringify(schema)}`,
  ].join('\n')
}

/** Reads a final answer as JSON, also out of a code fence, and checks it by its schema. */
export async function readStructured(text: string, schema: JsonObject): Promise<StructuredAnswer> {
  const output = parsed(text) ?? parsed(fencedText(text) ?? '')
  if (output === undefined) return { ok: false, problem: 'it is not JSON' }
  const problem = await schemaProblem(schema, output)
  return problem === undefined ? { ok: true, output } : { ok: false, problem }
}

function parsed(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** What the first code fence holds. */
function fencedText(text: string): string | undefined {
  const opening = /```(?:json)?[^\S\n]*\n/.exec(text)
  if (opening === null) return undefined
  const rest = text.slice(opening.index + opening[0].length)
  const closing = /\n[^\S\n]*```/.exec(rest)
  return closing === null ? undefined : rest.slice(0, closing.index).trim()
}

let checker: Promise<SchemaChecker> | undefined

/** What is wrong with a value by its JSON Schema, as one line, or undefined. */
async function schemaProblem(schema: JsonObject, value: JsonValue): Promise<string | undefined> {
  checker ??= import('../../tools/call/schema-checker.ts').then((schemas) =>
    schemas.createSchemaChecker(),
  )
  const verdict = await (await checker).check(schema, value)
  // An unusable schema is its tool's fault: the tool has the last word then.
  if (!verdict.checked || verdict.problems.length === 0) return undefined
  const problems = verdict.problems.slice(0, 10)
  return problems.map(({ path, message }) => [path.join('.'), message].join(' ').trim()).join('; ')
}
