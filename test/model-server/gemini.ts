import type { ModelAnswer, ModelRequest } from './protocol.ts'
import { piecesOf, type WrittenTurn } from './turn.ts'

export function answerGemini(
  { path }: ModelRequest,
  { text, calls, usage }: WrittenTurn,
): ModelAnswer {
  const { input, output, cached, reasoning } = usage
  if (path.includes(':countTokens')) return { kind: 'json', value: { totalTokens: input } }
  const called = calls.map(({ name, arguments: json }) => {
    const args: unknown = JSON.parse(json)
    return { functionCall: { name, args } }
  })
  const usageMetadata = {
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + output,
  }
  const part = (parts: readonly object[], end: object): object => ({
    candidates: [{ index: 0, content: { role: 'model', parts }, ...end }],
  })
  const whole = { finishReason: 'STOP' }
  if (path.includes(':streamGenerateContent')) {
    const pieces = piecesOf(text).map((piece) => ({ data: part([{ text: piece }], {}) }))
    const last = { ...part(called.length > 0 ? called : [{ text: '' }], whole), usageMetadata }
    return { kind: 'events', events: [...pieces, { data: last }] }
  }
  const parts = [...(text === '' && called.length > 0 ? [] : [{ text }]), ...called]
  return { kind: 'json', value: { ...part(parts, whole), usageMetadata } }
}
