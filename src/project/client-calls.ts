import { loadConfiguration } from '#core/configuration'
import { isList, isObject, type JsonObject, type JsonValue, objectOf, parseJson } from '#core/json'
import type { WorkflowAnswer, WorkflowEvent } from '#hooks/workflow-hook'
import { type ClientAnswer, type ClientCall, ClientGate } from '#tools/call/client-gate'

/** Judges or records a call of an MCP tool that the agent of a client makes itself. */
export async function answerClientCall(event: WorkflowEvent): Promise<WorkflowAnswer | undefined> {
  const { kind, payload, platform, projects, runtime } = event
  const { settings } = loadConfiguration(runtime)
  const call: ClientCall = {
    client: platform,
    name: payload.tool,
    named: payload.mcpTool,
    params: paramsOf(payload.toolInput),
  }
  const advice: string[] = []
  for (const project of projects) {
    const gate = new ClientGate({ project, runtime, settings, session: payload.session })
    const verdict =
      kind === 'before'
        ? await gate.before(call)
        : await gate.after(call, readAnswer(payload.toolResult))
    if (verdict.denial !== undefined) return { kind: 'deny', reason: verdict.denial }
    if (verdict.advice !== undefined) advice.push(verdict.advice)
  }
  return advice.length === 0 ? undefined : { kind: 'context', text: advice.join('\n') }
}

function paramsOf(input: string): JsonObject {
  const value = parseJson(input)
  return isObject<JsonValue>(value) ? value : {}
}

/**
 * Reads what a client passes as the result of an MCP tool. All of them pass content of MCP or their own text
 * for the model; undefined if the call failed.
 */
export function readAnswer(result: unknown): ClientAnswer | undefined {
  const { isError, error, resultType, structuredContent } = objectOf(result)
  const isFailed =
    isError === true ||
    (error !== undefined && error !== null) ||
    (resultType !== undefined && resultType !== 'success')
  if (isFailed) return undefined
  const text = textOf(result)
    // Gemini CLI marks what a server said.
    .replace(/^<untrusted_context>\n([^]*)\n<\/untrusted_context>$/, '$1')
  return { text, value: isObject<JsonValue>(structuredContent) ? structuredContent : text }
}

function textOf(result: unknown): string {
  if (typeof result === 'string') return result
  if (isList(result))
    return result
      .map(textOf)
      .filter((text) => text !== '')
      .join('\n')
  const { text, content, llmContent, textResultForLlm } = objectOf(result)
  return (
    [text, textResultForLlm].find((one) => typeof one === 'string') ?? textIn(content ?? llmContent)
  )
}

function textIn(content: unknown): string {
  return content === undefined ? '' : textOf(content)
}
