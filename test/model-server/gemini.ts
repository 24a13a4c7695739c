import type { ModelAnswer, ModelRequest } from './protocol.ts'
import type { WrittenTurn } from './turn.ts'

/** Text only: the provider packages that are tested speak other protocols. */
export function answerGemini({ path }: ModelRequest, { text, usage }: WrittenTurn): ModelAnswer {
  const { input, output } = usage
  if (path.includes(':countTokens')) return { kind: 'json', value: { totalTokens: input } }
  const value = {
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    },
  }
  if (path.includes(':streamGenerateContent')) return { kind: 'events', events: [{ data: value }] }
  return { kind: 'json', value }
}
