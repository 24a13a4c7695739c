import { type ModelAnswer, type ModelRequest, wantsStream } from './protocol.ts'
import { piecesOf, type WrittenCall, type WrittenTurn } from './turn.ts'

export function answerResponses(request: ModelRequest, turn: WrittenTurn): ModelAnswer {
  const response = {
    id: `resp_${turn.id}`,
    object: 'response',
    created_at: 0,
    model: 'mock',
    status: 'completed',
  }
  const texts = turn.text === '' && turn.calls.length > 0 ? [] : [textItem(turn)]
  const items = [...texts, ...turn.calls.map(callItem)]
  const output = items.map(({ item }) => item)
  const usage = usageOf(turn)
  if (!wantsStream(request)) return { kind: 'json', value: { ...response, output, usage } }
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...items.flatMap(({ item, open, deltas }, index) => [
      { type: 'response.output_item.added', output_index: index, item: { ...item, ...open } },
      ...deltas.map((delta) => ({ ...delta, item_id: item.id, output_index: index })),
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: 'response.completed', response: { ...response, output, usage } },
  ]
  return { kind: 'events', events: events.map((data) => ({ event: data.type, data })) }
}

interface Item {
  item: { id: string }
  /** Its fields before anything has come. */
  open: object
  deltas: readonly { type: string }[]
}

function textItem({ id, text }: WrittenTurn): Item {
  const delta = { type: 'response.output_text.delta', content_index: 0, logprobs: [] }
  return {
    item: Object.assign(
      { id: `msg_${id}` },
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ),
    open: { status: 'in_progress', content: [] },
    deltas: piecesOf(text).map((piece) => ({ ...delta, delta: piece })),
  }
}

function callItem({ id, name, namespace, arguments: json }: WrittenCall): Item {
  const middle = Math.ceil(json.length / 2)
  const parts = [json.slice(0, middle), json.slice(middle)]
  return {
    item: Object.assign(
      { id: `fc_${id}` },
      { type: 'function_call', call_id: id, name, arguments: json, status: 'completed' },
      namespace === undefined ? {} : { namespace },
    ),
    open: { arguments: '', status: 'in_progress' },
    deltas: [
      ...parts.map((part) => ({ type: 'response.function_call_arguments.delta', delta: part })),
      Object.assign({ type: 'response.function_call_arguments.done' }, { arguments: json }),
    ],
  }
}

function usageOf({ usage: { input, output, cached, reasoning } }: WrittenTurn): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
}
