import type { ToolResultPart } from 'ai'
import { isObject, messageOf, nearest, SkillrailError, untilAborted } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject, SchemaChecker } from '../../tools/index.ts'
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
  const remark = await request.afterTool?.(tool, used, given.output, given.isError)
  return remark === undefined ? given : { ...given, text: `${given.text}\n\n${remark}` }
}

function answerOf(tool: AgentTool, output: JsonValue): Answer {
  if (isSkillContent(tool, output)) return { output, text: output, isError: false }
  return { output: cutOutput(output), text: outputText(output), isError: false }
}

/** Instructions with a hole in them would be worse than none. */
function isSkillContent(tool: AgentTool, output: JsonValue): output is string {
  return tool.origin.kind === 'agent' && tool.name === skillToolName && typeof output === 'string'
}

function inputProblem(
  tool: AgentTool,
  input: unknown,
): string | Promise<string | undefined> | undefined {
  if (!isObject<JsonValue>(input)) return 'its arguments must be one JSON object'
  // The tools room checks what goes to a server itself, with the server's own rules.
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
  const text = outputText(sentence.startsWith('Error: ') ? sentence : `Error: ${sentence}`)
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

/** What the model reads of a tool's result: text as it is, anything else as JSON, at most so long. */
function outputText(output: JsonValue): string {
  return cutText(typeof output === 'string' ? output : JSON.stringify(output), longestResult)
}

/** The value itself where it is short enough, else its cut text. */
function cutOutput(output: JsonValue): JsonValue {
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return text.length <= longestResult ? output : cutText(text, longestResult)
}

/** Keeps the beginning and the end, and says in between how much is missing. */
function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  const tail = Math.floor(most / 5)
  const head = most - tail
  const missing = text.length - most
  const notice = `[${missing} of ${text.length} characters were left out here: the result is too long. Ask for less.]`
  return `${wholeEnd(text.slice(0, head))}\n${notice}\n${wholeStart(text.slice(-tail))}`
}

/** A cut must not leave half of a character that takes two code units. */
function wholeEnd(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text
}

function wholeStart(text: string): string {
  return /^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text
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
  const parsed = parseAnswer(text)
  if (!parsed.ok) return { ok: false, problem: 'it is no JSON' }
  const problem = await schemaProblem(schema, parsed.output)
  return problem === undefined ? parsed : { ok: false, problem }
}

function parseAnswer(text: string): { ok: true; output: JsonValue } | { ok: false } {
  const fenced = fencedText(text)
  const candidates = [text, fenced].filter((candidate) => candidate !== undefined)
  for (const candidate of candidates) {
    try {
      const output: JsonValue = JSON.parse(candidate)
      return { ok: true, output }
    } catch {
      // the next form
    }
  }
  return { ok: false }
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
  checker ??= import('../../tools/index.ts').then((tools) => tools.createSchemaChecker())
  const verdict = await (await checker).check(schema, value)
  // An unusable schema is its tool's fault: the tool has the last word then.
  if (!verdict.checked || verdict.problems.length === 0) return undefined
  const problems = verdict.problems.slice(0, 10)
  return problems.map(({ path, message }) => [path.join('.'), message].join(' ').trim()).join('; ')
}
