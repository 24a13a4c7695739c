import { type ModelAnswer, type ModelRequest, wantsStream } from './protocol.ts'

const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }

export function answerChat(request: ModelRequest, content: string): ModelAnswer {
  const head = { id: 'chatcmpl-mock', created: 0, model: 'mock' }
  if (!wantsStream(request)) {
    const message = { role: 'assistant', content }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    return { kind: 'json', value: { ...head, object: 'chat.completion', choices, usage } }
  }
  const chunk = (delta: object, finish: string | null): { data: object } => ({
    data: {
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...(finish === null ? {} : { usage }),
    },
  })
  const events = [
    chunk({ role: 'assistant', content }, null),
    chunk({}, 'stop'),
    { data: '[DONE]' },
  ]
  return { kind: 'events', events }
}
