import type { ToolResultPart } from 'ai'
import { messageOf, nearest, SkillrailError, isObject } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import { skillToolName } from '../conversation/skill-content.ts'
import type { AgentTool, LoopRequest, ToolContext } from '../model.ts'
import { wireName, type WireNames } from '../tool-names.ts'
import { schemaProblem } from './check-schema.ts'
import type { RequestedCall } from './sdk.ts'
import { cutOutput, outputText } from './tool-output.ts'
import { untilAborted } from './until-aborted.ts'

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
