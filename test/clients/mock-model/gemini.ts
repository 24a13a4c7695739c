import type { ModelAnswer, ModelRequest } from './protocol.ts'

export function answerGemini({ path }: ModelRequest, text: string): ModelAnswer {
  if (path.includes(':countTokens')) return { kind: 'json', value: { totalTokens: 10 } }
  const value = {
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
  }
  if (path.includes(':streamGenerateContent')) return { kind: 'events', events: [{ data: value }] }
  return { kind: 'json', value }
}
