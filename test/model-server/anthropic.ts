import { type ModelAnswer, type ModelRequest, wantsStream } from './protocol.ts'
import { piecesOf, type WrittenCall, type WrittenTurn } from './turn.ts'

export function answerAnthropic(request: ModelRequest, turn: WrittenTurn): ModelAnswer {
  const { input, output, cached } = turn.usage
  if (request.path.includes('count_tokens')) return { kind: 'json', value: { input_tokens: input } }
  const usage = {
    input_tokens: input - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output,
  }
  const message = {
    id: `msg_${turn.id}`,
    type: 'message',
    role: 'assistant',
    model: 'mock',
    stop_sequence: null,
    usage,
  }
  const stop = turn.calls.length > 0 ? 'tool_use' : 'end_turn'
  if (!wantsStream(request)) {
    const content = [
      ...(turn.text === '' ? [] : [{ type: 'text', text: turn.text }]),
      ...turn.calls.map(toolUse),
    ]
    return { kind: 'json', value: { ...message, content, stop_reason: stop } }
  }
  const blocks = [
    ...(turn.text === '' && turn.calls.length > 0 ? [] : [textBlock(turn.text)]),
    ...turn.calls.map(callBlock),
  ]
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
  return { kind: 'events', events: events.map((data) => ({ event: data.type, data })) }
}

interface Block {
  start: object
  deltas: readonly object[]
}

function textBlock(text: string): Block {
  return {
    start: { type: 'text', text: '' },
    deltas: piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece })),
  }
}

function callBlock({ id, name, arguments: json }: WrittenCall): Block {
  const middle = Math.ceil(json.length / 2)
  return {
    start: { type: 'tool_use', id, name, input: {} },
    deltas: [json.slice(0, middle), json.slice(middle)].map((part) => ({
      type: 'input_json_delta',
      partial_json: part,
    })),
  }
}

function toolUse({ id, name, arguments: json }: WrittenCall): object {
  return { type: 'tool_use', id, name, input: parsed(json) }
}

/** The protocol has no malformed arguments outside a stream: they arrive as a string. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}
