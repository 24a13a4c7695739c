import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerAnthropic } from './anthropic.ts'
import { answerChat } from './chat-completions.ts'
import { answerGemini } from './gemini.ts'
import type { ModelAnswer, ModelRequest } from './protocol.ts'
import { answerResponses } from './responses.ts'

export interface MockModel {
  /** `http://127.0.0.1:PORT` */
  url: string
  /** Every request so far, oldest first. */
  requests: readonly ModelRequest[]
  /** Those in which a model was asked for text. */
  prompts(): ModelRequest[]
  clear(): void
  close(): Promise<void>
}

/** The text of the next answer; default: `ok`. */
export type Reply = (request: ModelRequest) => string

/**
 * A model on the loopback that speaks the protocols of Anthropic, Gemini and OpenAI (responses and
 * chat completions) as far as agent clients use them without tools, and keeps what it was sent.
 */
export async function startMockModel(reply: Reply = () => 'ok'): Promise<MockModel> {
  const requests: ModelRequest[] = []
  const server = createServer((incoming, response) => {
    void readBody(incoming).then((body) => {
      const request = { method: incoming.method ?? '', path: incoming.url ?? '', body }
      requests.push(request)
      send(response, answerTo(request, reply))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = portOf(server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    prompts: () => requests.filter(isPrompt),
    clear: () => void requests.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function isPrompt({ method, path }: ModelRequest): boolean {
  return (
    method === 'POST' &&
    /\/v1\/(?:messages|responses|chat\/completions)(?:\?|$)|enerateContent/.test(path)
  )
}

function answerTo(request: ModelRequest, reply: Reply): ModelAnswer {
  const { path } = request
  if (path.includes('/messages')) return answerAnthropic(request, reply(request))
  if (path.includes('/responses')) return answerResponses(request, reply(request))
  if (path.includes('/chat/completions')) return answerChat(request, reply(request))
  if (path.includes('/v1beta/')) return answerGemini(request, reply(request))
  const models = [{ id: 'mock', object: 'model', created: 0, owned_by: 'nobody' }]
  return { kind: 'json', value: { object: 'list', data: models } }
}

function send(response: ServerResponse, answer: ModelAnswer): void {
  if (answer.kind === 'json') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer.value))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const { event, data } of answer.events) {
    if (event !== undefined) response.write(`event: ${event}\n`)
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
  }
  response.end()
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  let body = ''
  incoming.setEncoding('utf8')
  for await (const chunk of incoming) body += String(chunk)
  return body
}

function portOf(address: string | AddressInfo | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address
}
