import { type ModelAnswer, type ModelRequest, wantsStream } from './protocol.ts'
import { piecesOf, type WrittenCall, type WrittenTurn } from './turn.ts'

export function answerChat(request: ModelRequest, turn: WrittenTurn): ModelAnswer {
  const { text, calls } = turn
  const head = { id: 'chatcmpl-mock', created: 0, model: 'mock' }
  const usage = usageOf(turn)
  const finish = calls.length > 0 ? 'tool_calls' : 'stop'
  if (!wantsStream(request)) {
    const message = {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(toolCall) }),
    }
    const choices = [{ index: 0, message, finish_reason: finish }]
    return { kind: 'json', value: { ...head, object: 'chat.completion', choices, usage } }
  }
  const chunk = (delta: object, end: string | null): { data: object } => ({
    data: {
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: end }],
      ...(end === null ? {} : { usage }),
    },
  })
  const events = [
    chunk({ role: 'assistant', content: '' }, null),
    ...piecesOf(text).map((content) => chunk({ content }, null)),
    ...calls.flatMap((call, index) => callDeltas(call, index).map((delta) => chunk(delta, null))),
    chunk({}, finish),
    { data: '[DONE]' },
  ]
  return { kind: 'events', events }
}

function usageOf({ usage: { input, output, cached, reasoning } }: WrittenTurn): object {
  return {
    prompt_tokens: input,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens: output,
    completion_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
}

function toolCall({ id, name, arguments: json }: WrittenCall): object {
  return { id, type: 'function', function: { name, arguments: json } }
}

/** The name first, then the arguments in two pieces. */
function callDeltas({ id, name, arguments: json }: WrittenCall, index: number): object[] {
  const middle = Math.ceil(json.length / 2)
  const parts = [json.slice(0, middle), json.slice(middle)]
  return [
    { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
    ...parts.map((part) => ({ tool_calls: [{ index, function: { arguments: part } }] })),
  ]
}
