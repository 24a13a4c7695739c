import type { ModelAnswer, ModelRequest } from './protocol.ts'
import type { WrittenTurn } from './turn.ts'

export function answerGemini(
  { path }: ModelRequest,
  { text, calls, usage }: WrittenTurn,
): ModelAnswer {
  const { input, output } = usage
  if (path.includes(':countTokens')) return { kind: 'json', value: { totalTokens: input } }
  const parts = [
    ...(text === '' && calls.length > 0 ? [] : [{ text }]),
    ...calls.map(({ name, arguments: json }) => {
      const args: unknown = JSON.parse(json)
      return { functionCall: { name, args } }
    }),
  ]
  const value = {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    },
  }
  if (path.includes(':streamGenerateContent')) return { kind: 'events', events: [{ data: value }] }
  return { kind: 'json', value }
}
