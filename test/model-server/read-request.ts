import type { ModelRequest } from './protocol.ts'

/** What a model is told, whatever the protocol. */
export interface ReadRequest {
  model: string
  /** The system prompt. */
  system: string
  messages: readonly ReadMessage[]
  /** Names of the offered tools, in order. */
  tools: readonly string[]
  /** The parsed body, for what only one protocol has. */
  body: Readonly<Record<string, unknown>>
}

export interface ReadMessage {
  role: 'user' | 'assistant' | 'tool'
  text: string
  /** What the model called before. */
  calls: readonly { id: string; name: string; arguments: string }[]
  /** Results of calls. */
  results: readonly { id: string; text: string }[]
}

/** Reads a request of OpenAI chat completions, OpenAI responses, Anthropic messages or Google. */
export function readRequest(request: ModelRequest): ReadRequest {
  const body = record(JSON.parse(request.body))
  if (request.path.includes('/messages')) return readAnthropic(body)
  if (request.path.includes('/responses')) return readResponses(body)
  if (request.path.includes('/v1beta/')) return readGemini(body, request.path)
  return readChat(body)
}

/** What the last message of the user says. */
export function lastUserText(request: ModelRequest): string {
  return readRequest(request).messages.findLast(({ role }) => role === 'user')?.text ?? ''
}

/** Everything that came back from tools, oldest first. */
export function toolResults(request: ModelRequest): string[] {
  return readRequest(request).messages.flatMap(({ results }) => results.map(({ text }) => text))
}

function readChat(body: Fields): ReadRequest {
  const all = list(body['messages']).map(record)
  const system = all.filter(({ role }) => role === 'system' || role === 'developer')
  return {
    model: text(body['model']),
    system: system.map(({ content }) => textOf(content)).join('\n'),
    messages: all
      .filter((message) => !system.includes(message))
      .map((message) => {
        const content = textOf(message['content'])
        if (message['role'] === 'tool') {
          return {
            ...empty('tool'),
            results: [{ id: text(message['tool_call_id']), text: content }],
          }
        }
        const calls = list(message['tool_calls']).map((call) => {
          const { id, function: called } = record(call)
          const { name, arguments: json } = record(called)
          return { id: text(id), name: text(name), arguments: text(json) }
        })
        return { ...empty(message['role'] === 'user' ? 'user' : 'assistant'), text: content, calls }
      }),
    tools: list(body['tools']).map((tool) => text(record(record(tool)['function'])['name'])),
    body,
  }
}

function readResponses(body: Fields): ReadRequest {
  const items = list(body['input']).map(record)
  const system = items.filter(({ role }) => role === 'system' || role === 'developer')
  return {
    model: text(body['model']),
    system: [text(body['instructions']), ...system.map(({ content }) => textOf(content))]
      .filter((part) => part !== '')
      .join('\n'),
    messages: items
      .filter((item) => !system.includes(item))
      .map((item) => {
        const { type, call_id: id, role, content } = item
        if (type === 'function_call') {
          const call = {
            id: text(id),
            name: text(item['name']),
            arguments: text(item['arguments']),
          }
          return { ...empty('assistant'), calls: [call] }
        }
        if (type === 'function_call_output') {
          return { ...empty('tool'), results: [{ id: text(id), text: textOf(item['output']) }] }
        }
        return { ...empty(role === 'user' ? 'user' : 'assistant'), text: textOf(content) }
      }),
    tools: list(body['tools']).map((tool) => text(record(tool)['name'])),
    body,
  }
}

function readAnthropic(body: Fields): ReadRequest {
  return {
    model: text(body['model']),
    system: textOf(body['system']),
    messages: list(body['messages']).map((message) => {
      const { role, content } = record(message)
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content)
      const blocks = parts.map(record)
      const results = blocks
        .filter(({ type }) => type === 'tool_result')
        .map((block) => ({ id: text(block['tool_use_id']), text: textOf(block['content']) }))
      const calls = blocks
        .filter(({ type }) => type === 'tool_use')
        .map(({ id, name, input }) => ({
          id: text(id),
          name: text(name),
          arguments: JSON.stringify(input),
        }))
      const from = role === 'user' ? 'user' : 'assistant'
      return {
        role: results.length > 0 ? 'tool' : from,
        text: textOf(blocks.filter(({ type }) => type === 'text')),
        calls,
        results,
      }
    }),
    tools: list(body['tools']).map((tool) => text(record(tool)['name'])),
    body,
  }
}

function readGemini(body: Fields, path: string): ReadRequest {
  const declared = list(body['tools']).flatMap((tool) => list(record(tool)['functionDeclarations']))
  return {
    model: /models\/([^:]+)/.exec(path)?.[1] ?? '',
    system: textOf(record(body['systemInstruction'])['parts']),
    messages: list(body['contents']).map((content) => {
      const { role, parts } = record(content)
      const all = list(parts).map(record)
      const results = all
        .filter((part) => 'functionResponse' in part)
        .map((part) => {
          const { name, response } = record(part['functionResponse'])
          const { content: read, output, error } = record(response)
          return { id: text(name), text: text(read ?? output ?? error) }
        })
      const calls = all
        .filter((part) => 'functionCall' in part)
        .map((part) => {
          const { name, args } = record(part['functionCall'])
          return { id: text(name), name: text(name), arguments: JSON.stringify(args) }
        })
      const from = role === 'user' ? 'user' : 'assistant'
      return { role: results.length > 0 ? 'tool' : from, text: textOf(parts), calls, results }
    }),
    tools: declared.map((tool) => text(record(tool)['name'])),
    body,
  }
}

type Fields = Readonly<Record<string, unknown>>

function empty(role: ReadMessage['role']): ReadMessage {
  return { role, text: '', calls: [], results: [] }
}

/** A string, or the texts of a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return list(content)
    .map((part) => text(record(part)['text']))
    .join('')
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function record(value: unknown): Fields {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {}
}
