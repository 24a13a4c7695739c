import type { LanguageModel, LanguageModelMiddleware } from 'ai'
import { aiSdk } from '#agent/ai-sdk'
import type { RunSkills } from './run-skills.ts'

/** The tool that Stop hooks call, so that the AI SDK loop continues. */
export const stopToolName = 'skill_stop'

type GenerateResult = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapGenerate']>>>
type ToolCall = Extract<GenerateResult['content'][number], { type: 'tool-call' }>

/**
 * Asks the Stop hooks of active skills about each final answer of a model. If they object, a call of
 * `skill_stop` is added to the answer, because the AI SDK continues only after a call. The model is
 * not offered this tool, and a call that no hook made is refused.
 */
export async function withStopHooks(
  model: Exclude<LanguageModel, string>,
  run: RunSkills,
): Promise<LanguageModel> {
  const { wrapLanguageModel } = await aiSdk()
  const callsOfHooks = async (text: string, signal?: AbortSignal): Promise<ToolCall[]> => {
    const toolCallId = await run.stop(text, signal)
    if (toolCallId === undefined) return []
    return [{ type: 'tool-call', toolCallId, toolName: stopToolName, input: '{}' }]
  }
  const finishReason: GenerateResult['finishReason'] = { unified: 'tool-calls', raw: 'stop-hook' }
  const middleware: LanguageModelMiddleware = {
    async transformParams({ params: { tools, toolChoice, ...params } }) {
      const modelTools = tools?.filter(({ name }) => name !== stopToolName) ?? []
      if (modelTools.length === 0) return params
      return { ...params, tools: modelTools, ...(toolChoice ? { toolChoice } : {}) }
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate()
      if (result.content.some(({ type }) => type === 'tool-call')) return result
      const text = result.content
        .flatMap((part) => (part.type === 'text' ? part.text : []))
        .join('')
      const calls = await callsOfHooks(text, params.abortSignal)
      if (calls.length === 0) return result
      return { ...result, content: [...result.content, ...calls], finishReason }
    },
    async wrapStream({ doStream, params }) {
      const { stream, ...result } = await doStream()
      let text = ''
      let isFinal = true
      type Part = typeof stream extends ReadableStream<infer One> ? One : never
      const transform = new TransformStream<Part, Part>({
        async transform(part, controller) {
          if (part.type === 'text-delta') text += part.delta
          if (part.type === 'tool-call') isFinal = false
          if (part.type !== 'finish' || !isFinal) return controller.enqueue(part)
          const calls = await callsOfHooks(text, params.abortSignal)
          for (const call of calls) controller.enqueue(call)
          controller.enqueue(calls.length === 0 ? part : { ...part, finishReason })
        },
      })
      return { ...result, stream: stream.pipeThrough(transform) }
    },
  }
  return wrapLanguageModel({ model, middleware })
}
