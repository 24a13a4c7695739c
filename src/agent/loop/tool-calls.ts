import type { ToolResultPart } from 'ai'
import { messageOf, SkillrailError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { untilAborted } from '../../core/runtime.ts'
import { didYouMean } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import { createSchemaChecker } from '../../tools/call/schema-checker.ts'
import type { JsonObject } from '../../tools/model.ts'
import { skillToolName } from '../conversation/compact.ts'
import { wireName, type WireNames } from '../tool.ts'
import type { AfterTool, AgentEvent, AgentTool, Permit, ToolContext } from '../types.ts'
import type { RequestedCall } from './sdk.ts'

/** Who calls tools, and what is asked and told about every call. */
export interface ToolCaller {
  agent: string
  delegation?: string | undefined
  permit: Permit
  afterTool?: AfterTool | undefined
  onEvent: (event: AgentEvent) => void
}

interface Answer {
  output: JsonValue
  text: string
  isError: boolean
}

/** `name` is the one that goes into the history. */
type AnsweredCall = Answer & Pick<RequestedCall, 'id' | 'name' | 'input'>

/** Carries out one call. Never throws: whatever goes wrong is a text that begins with `Error: `. */
export async function answerCall(
  { id, name, input, isUnreadable }: RequestedCall,
  names: WireNames,
  caller: ToolCaller,
  signal: AbortSignal,
): Promise<AnsweredCall> {
  const { agent, delegation, onEvent } = caller
  const tool = names.find(name)
  const given = isObject<JsonValue>(input) ? input : {}
  const shown = { agent, delegation, id, tool: tool?.name ?? name }
  onEvent({ type: 'tool-call', ...shown, input: given })
  const answer = await attempt().catch((error: unknown) =>
    failure(signal.aborted ? 'the run was cancelled before this was done.' : failureText(error)),
  )
  const { output, isError } = answer
  onEvent({ type: 'tool-result', ...shown, output, isError })
  return { ...answer, id, name: wireName(name), input }

  async function attempt(): Promise<Answer> {
    signal.throwIfAborted()
    if (tool === undefined) return failure(unknownTool(name, names))
    let problem: string | undefined
    if (isUnreadable) problem = 'the arguments are not JSON'
    else if (!isObject(input)) problem = 'its arguments must be one JSON object'
    // What goes to a server is checked by its own rules before the call.
    else if (tool.origin.kind !== 'mcp') problem = await schemaProblem(tool.inputSchema, given)
    if (problem !== undefined) {
      return failure(`${tool.name} was not called: ${problem}. Call it again with right arguments.`)
    }
    const context = { toolCallId: id, signal, onEvent }
    return await untilAborted(carryOut(tool, given, context, caller), signal)
  }
}

export function resultPart({ id, name, text, isError }: AnsweredCall): ToolResultPart {
  const type = isError ? 'error-text' : 'text'
  return { type: 'tool-result', toolCallId: id, toolName: name, output: { type, value: text } }
}

async function carryOut(
  tool: AgentTool,
  input: JsonObject,
  context: ToolContext,
  { permit, afterTool }: ToolCaller,
): Promise<Answer> {
  const permission = await permit(tool, input, context)
  // Its answer would be that the run was cancelled before it was done.
  context.signal.throwIfAborted()
  if (!permission.allowed) return failure(`${tool.name} was refused: ${permission.reason}`)
  const used = permission.input ?? input
  let answer: Answer
  try {
    answer = answerOf(tool, await tool.execute(used, context))
  } catch (error) {
    if (context.signal.aborted) throw error
    answer = failure(failureText(error))
  }
  const added = await afterTool?.(tool, used, answer.output, answer.isError)
  return added === undefined ? answer : { ...answer, text: `${answer.text}\n\n${added}` }
}

function answerOf(tool: AgentTool, output: JsonValue): Answer {
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  // Cut instructions of a skill would be worse than none.
  const isSkillContent = tool.origin.kind === 'agent' && tool.name === skillToolName
  if (isSkillContent || text.length <= longestResult) return { output, text, isError: false }
  const cut = cutText(text)
  return { output: cut, text: cut, isError: false }
}

function unknownTool(name: string, names: WireNames): string {
  const known = [...names.tools.keys()]
  if (known.length === 0) return `there is no tool called ${name}, and no other one now.`
  const guess = didYouMean(wireName(name), known)
  const all = `The tools are: ${known.join(', ')}.`
  return [`there is no tool called ${name}.`, guess, all].filter(Boolean).join(' ')
}

function failure(sentence: string): Answer {
  const text = cutText(sentence.startsWith('Error: ') ? sentence : `Error: ${sentence}`)
  return { output: text, text, isError: true }
}

/** What a model is told of an error: its message, and the hint of one of ours. */
export function failureText(error: unknown): string {
  const message = messageOf(error) || 'the tool failed and did not say why.'
  return error instanceof SkillrailError ? `${message} ${error.hint ?? ''}`.trim() : message
}

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

/** What is added to the instructions, for providers that cannot force a shape themselves. */
export function schemaInstructions(schema: JsonObject): string {
  const how =
    'When you are done, answer with one JSON value and nothing else: no prose, no code fence.'
  return `${how}\nIt must match this JSON Schema: ${JSON.stringify(schema)}`
}

/** Reads a final answer as JSON, also out of a code fence, and checks it by its schema. */
export async function readStructured(
  text: string,
  schema: JsonObject,
): Promise<{ ok: true; output: JsonValue } | { ok: false; problem: string }> {
  const [, fenced = ''] = /```(?:json)?[^\S\n]*\n([\s\S]*)/.exec(text) ?? []
  const output = parsed(text) ?? parsed(fenced.split(/\n[^\S\n]*```/, 1)[0] ?? '')
  if (output === undefined) return { ok: false, problem: 'it is not JSON' }
  const problem = await schemaProblem(schema, output)
  return problem === undefined ? { ok: true, output } : { ok: false, problem }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const checker = createSchemaChecker()

/** What is wrong with a value by its JSON Schema, as one line, or undefined. */
async function schemaProblem(schema: JsonObject, value: JsonValue): Promise<string | undefined> {
  const verdict = await checker.check(schema, value)
  // An unusable schema is its tool's fault: the tool has the last word then.
  const problems = verdict.checked ? verdict.problems.slice(0, 10) : []
  const texts = problems.map(({ path, message }) => `${path.join('.')} ${message}`.trim())
  return texts.join('; ') || undefined
}
