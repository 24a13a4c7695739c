import type { ModelAnswer, ModelRequest } from './protocol.ts'

export function answerResponses(_request: ModelRequest, text: string): ModelAnswer {
  const response = { id: 'resp_mock', object: 'response', model: 'mock', status: 'completed' }
  const item = {
    id: 'msg_mock',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  }
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 12,
  }
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', item_id: item.id, output_index: 0, delta: text },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, output: [item], usage } },
  ]
  return { kind: 'events', events: events.map((data) => ({ event: data.type, data })) }
}
