import { type ModelAnswer, type ModelRequest, wantsStream } from './protocol.ts'

const usage = { input_tokens: 10, output_tokens: 2 }

export function answerAnthropic(request: ModelRequest, text: string): ModelAnswer {
  if (request.path.includes('count_tokens')) return { kind: 'json', value: { input_tokens: 10 } }
  const message = {
    id: 'msg_mock',
    type: 'message',
    role: 'assistant',
    model: 'mock',
    stop_sequence: null,
    usage,
  }
  const content = [{ type: 'text', text }]
  if (!wantsStream(request)) {
    return { kind: 'json', value: { ...message, content, stop_reason: 'end_turn' } }
  }
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
  return { kind: 'events', events: events.map((data) => ({ event: data.type, data })) }
}
