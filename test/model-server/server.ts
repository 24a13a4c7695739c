import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerAnthropic } from './anthropic.ts'
import { answerChat } from './chat-completions.ts'
import { errorBody, errorHeaders } from './errors.ts'
import { answerGemini } from './gemini.ts'
import type { ModelAnswer, ModelRequest } from './protocol.ts'
import { answerResponses } from './responses.ts'
import { type ModelTurn, type WrittenTurn, writtenTurn } from './turn.ts'

export interface ModelServer {
  /** `http://127.0.0.1:PORT` */
  url: string
  /** Every request so far, oldest first. */
  requests: readonly ModelRequest[]
  /** Those in which a model was asked for text. */
  prompts(): ModelRequest[]
  /** The sum over the answers that were sent whole. */
  counted(): ServerCount
  clear(): void
  close(): Promise<void>
}

export interface ServerCount {
  answers: number
  input: number
  output: number
  cached: number
  reasoning: number
}

/**
 * What the model does: always the same, one turn after the other (and the last one again), or what
 * fits the request. A string is an answer of text alone.
 */
export type Script =
  | readonly (ModelTurn | string)[]
  | ((request: ModelRequest, index: number) => ModelTurn | string)

/**
 * A model on the loopback that speaks the protocols of Anthropic, Gemini and OpenAI (responses and
 * chat completions), does what the script says, and keeps what it was sent.
 */
export async function startModelServer(script: Script = ['ok']): Promise<ModelServer> {
  const requests: ModelRequest[] = []
  const count: ServerCount = { answers: 0, input: 0, output: 0, cached: 0, reasoning: 0 }
  const closing = new AbortController()
  let asked = 0
  const ids = { call: 0, mock: 0 }
  const server = createServer((incoming, response) => {
    void answer(incoming, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = portOf(server.address())

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming).catch(() => undefined)
    if (body === undefined) return
    const { method = '', url: path = '', headers } = incoming
    const request = { method, path, headers, body }
    requests.push(request)
    const wanted = isPrompt(request) ? turnOf(script, request, asked++) : 'ok'
    const turn = typeof wanted === 'string' ? { text: wanted } : wanted
    if (turn.silent === true) return
    if (turn.delayMs !== undefined) await pause(turn.delayMs, closing.signal)
    if (turn.error !== undefined) {
      const headers = { 'content-type': 'application/json', ...errorHeaders(turn.error) }
      response.writeHead(turn.error.status, headers)
      response.end(JSON.stringify(errorBody(request, turn.error)))
      return
    }
    const said = writtenTurn(turn, (kind) => `${kind}_${++ids[kind]}`)
    if (isPrompt(request) && turn.cutAfter === undefined && turn.endAfter === undefined) {
      response.on('finish', () => add(count, said))
    }
    await send(response, answerTo(request, said), turn)
  }

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    prompts: () => requests.filter(isPrompt),
    counted: () => ({ ...count }),
    clear: () => void requests.splice(0),
    async close() {
      closing.abort()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}

function isPrompt({ method, path }: ModelRequest): boolean {
  return (
    method === 'POST' &&
    /\/v1\/(?:messages|responses|chat\/completions)(?:\?|$)|enerateContent/.test(path)
  )
}

function turnOf(script: Script, request: ModelRequest, index: number): ModelTurn | string {
  if (typeof script === 'function') return script(request, index)
  return script[Math.min(index, script.length - 1)] ?? ''
}

function answerTo(request: ModelRequest, turn: WrittenTurn): ModelAnswer {
  const { path } = request
  if (path.includes('/messages')) return answerAnthropic(request, turn)
  if (path.includes('/responses')) return answerResponses(request, turn)
  if (path.includes('/chat/completions')) return answerChat(request, turn)
  if (path.includes('/v1beta/')) return answerGemini(request, turn)
  const models = [{ id: 'mock', object: 'model', created: 0, owned_by: 'nobody' }]
  return { kind: 'json', value: { object: 'list', data: models } }
}

async function send(
  response: ServerResponse,
  answer: ModelAnswer,
  { before, cutAfter, endAfter }: ModelTurn,
): Promise<void> {
  if (answer.kind === 'json') {
    await before?.(0)
    const text = JSON.stringify(answer.value)
    response.writeHead(200, { 'content-type': 'application/json' })
    if (cutAfter === undefined) response.end(text)
    else await written(response, text.slice(0, text.length / 2))
    if (cutAfter !== undefined) response.destroy()
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const [index, { event, data }] of answer.events.entries()) {
    await before?.(index)
    if (index === cutAfter || response.destroyed) return void response.destroy()
    if (index === endAfter) return void response.end()
    const name = event === undefined ? '' : `event: ${event}\n`
    await written(
      response,
      `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
    )
  }
  response.end()
}

/** Also when the client has gone. */
async function written(response: ServerResponse, text: string): Promise<void> {
  await new Promise<void>((resolve) => response.write(text, () => resolve()))
}

async function pause(milliseconds: number, closed: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal: closed }).catch(() => undefined)
}

function add(count: ServerCount, { usage }: WrittenTurn): void {
  count.answers += 1
  count.input += usage.input
  count.output += usage.output
  count.cached += usage.cached
  count.reasoning += usage.reasoning
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
