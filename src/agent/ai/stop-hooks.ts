import type { LanguageModel, LanguageModelMiddleware } from 'ai'
import { aiSdk } from '../ai-sdk.ts'
import { skillToolName } from '../conversation/compact.ts'
import type { RunSkills } from './run-skills.ts'

type Wrap = NonNullable<LanguageModelMiddleware['wrapGenerate']>
type Generated = Awaited<ReturnType<Wrap>>
type ToolCall = Extract<Generated['content'][number], { type: 'tool-call' }>

/**
 * A model whose final answers the Stop hooks of active skills see. Where they want it to continue, a
 * call of the tool `skill` is added to the answer; its result is what the hooks say.
 */
export async function withStopHooks(
  model: Exclude<LanguageModel, string>,
  { hooks }: RunSkills,
): Promise<LanguageModel> {
  const { wrapLanguageModel } = await aiSdk()
  const continued = async (text: string, signal?: AbortSignal): Promise<ToolCall[]> => {
    const reason = await hooks.stop(text, signal)
    if (reason === undefined) return []
    const input = JSON.stringify({ name: 'Stop', hook: reason })
    const toolCallId = `stop-${crypto.randomUUID()}`
    return [{ type: 'tool-call', toolCallId, toolName: skillToolName, input }]
  }
  const finishReason: Generated['finishReason'] = { unified: 'tool-calls', raw: 'stop-hook' }
  const middleware: LanguageModelMiddleware = {
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate()
      if (result.content.some(({ type }) => type === 'tool-call')) return result
      const text = result.content
        .flatMap((part) => (part.type === 'text' ? part.text : []))
        .join('')
      const calls = await continued(text, params.abortSignal)
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
          const calls = await continued(text, params.abortSignal)
          for (const call of calls) controller.enqueue(call)
          controller.enqueue(calls.length === 0 ? part : { ...part, finishReason })
        },
      })
      return { ...result, stream: stream.pipeThrough(transform) }
    },
  }
  return wrapLanguageModel({ model, middleware })
}
