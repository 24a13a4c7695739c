import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { createServer, type RequestListener, type Server } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { openServers, type ServerPool } from '../../../src/tools/server/pool.ts'
import type { ServerDefinition } from '../../../src/tools/config/model.ts'
import { definition, emptyRuntime } from './_servers.ts'

let http: Server | undefined
let pool: ServerPool | undefined

afterEach(async () => {
  await pool?.close()
  http?.closeAllConnections()
  await new Promise((resolve) => (http === undefined ? resolve(undefined) : http.close(resolve)))
  http = undefined
  pool = undefined
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  http = server
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`
}

function open(url: string, more: Partial<ServerDefinition> = {}, headers = {}): ServerPool {
  const transport = { kind: 'http', url, headers } as const
  pool = openServers([definition('far', transport, more)], {
    runtime: emptyRuntime(),
    answerLimit: 1_000_000,
  })
  return pool
}

/** The official server behind node's own HTTP; it speaks every version of the protocol. */
function officialServer(seen: string[], name = 'official'): RequestListener {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name, version: '1' })
    const inputSchema = z.object({ text: z.string() })
    server.registerTool('echo', { description: 'Says it again', inputSchema }, ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
    return server
  })
  return (request, response) => {
    void (async () => {
      const parts: Buffer[] = []
      for await (const chunk of request) parts.push(Buffer.from(chunk))
      const headers = Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as [string, string]] : [],
      )
      seen.push(request.headers['x-team']?.toString() ?? '')
      const body = parts.length === 0 ? null : Buffer.concat(parts)
      const url = `http://${request.headers.host}${request.url}`
      const answer = await handler.fetch(
        new Request(url, { method: request.method ?? 'GET', headers, body }),
      )
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(Buffer.from(await answer.arrayBuffer()))
    })()
  }
}

/** Streamable HTTP by hand; `call` answers a call of a tool. */
function plainServer(
  call: (id: number) => { status?: number; type?: string; body: string },
): RequestListener {
  return (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const parts: Buffer[] = []
    request.on('data', (chunk: Buffer) => parts.push(chunk))
    request.on('end', () => {
      const { id, method } = JSON.parse(Buffer.concat(parts).toString())
      const send = (status: number, body: string, type = 'application/json'): void =>
        void response.writeHead(status, { 'content-type': type }).end(body)
      if (method === 'initialize') {
        const result = {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'plain', version: '1' },
        }
        return send(200, JSON.stringify({ jsonrpc: '2.0', id, result }))
      }
      if (id === undefined) return void response.writeHead(202).end()
      if (method === 'tools/call') {
        const { status = 200, type, body } = call(id)
        return send(status, body, type)
      }
      return send(
        200,
        JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'no such method' } }),
      )
    })
  }
}

describe('a server over HTTP', () => {
  it('is listed and called in the newest protocol, with the headers of its configuration', async () => {
    const seen: string[] = []
    const opened = open(await serve(officialServer(seen)), {}, { 'X-Team': 'blue' })
    const { tools, failures } = await opened.list()
    expect(failures).toEqual([])
    expect(tools).toMatchObject([{ id: 'far__echo', description: 'Says it again' }])
    const server = await opened.get('far')
    const outcome = await server.call('echo', { text: 'hello' })
    expect(outcome).toMatchObject({ isError: false, content: [{ type: 'text', text: 'hello' }] })
    expect(outcome.size).toBeGreaterThan(20)
    expect(new Set(seen)).toEqual(new Set(['blue']))
  })

  it('is the same instance for the next command', async () => {
    const url = await serve(officialServer([]))
    const first = (await open(url).get('far')).instance()
    await pool?.close()
    expect((await open(url).get('far')).instance()).toBe(first)
  })

  it.each<[string, RequestListener, RegExp]>([
    [
      'wants a sign-in',
      (_, response) => response.writeHead(401).end(),
      /wants a sign-in \(HTTP 401\)\. Run: skillrail tools auth far/,
    ],
    [
      'is forbidden',
      (_, response) => response.writeHead(403).end(),
      /HTTP 403.*skillrail tools auth far/,
    ],
    [
      'answers with a web page',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      /web page/,
    ],
    ['is not there', (_, response) => response.writeHead(404).end(), /HTTP 404/],
    ['is broken', (_, response) => response.writeHead(500).end(), /HTTP 500/],
    ['says nothing', () => undefined, /no answer within 400 ms/],
  ])('that %s fails with this reason', async (_, listener, message) => {
    const opened = open(await serve(listener), { startupTimeoutMs: 400 })
    await expect(opened.get('far')).rejects.toMatchObject({
      message: expect.stringMatching(message),
      failure: { kind: 'server-unavailable', delivered: 'no' },
    })
    expect((await opened.list()).failures).toMatchObject([{ server: 'far' }])
  })

  it('that does not run fails without the secrets of its address', async () => {
    const url = await serve(() => undefined)
    await new Promise((resolve) => http?.close(resolve))
    http = undefined
    const failing = open(`${url}?key=secret`).get('far')
    await expect(failing).rejects.toThrow(/nothing answers there \(ECONNREFUSED\)/)
    await expect(failing).rejects.not.toThrow(/secret/)
  })

  it('fails a call at once when the stream of its answer breaks', async () => {
    const answer = { type: 'text/event-stream', body: ': still there\n\n' }
    const opened = open(await serve(plainServer(() => answer)))
    const call = (await opened.get('far')).call('any', {})
    await expect(call).rejects.toMatchObject({
      failure: { kind: 'connection-lost', delivered: 'unknown' },
    })
  })

  it.each([
    [
      'too large',
      { body: `{"x":"${'x'.repeat(2_000_000)}"}` },
      'connection-lost',
      'unknown',
      /over the limit/,
    ],
    ['a web page', { type: 'text/html', body: '<html>' }, 'protocol', 'unknown', /web page/],
    ['an error of the server', { status: 502, body: '' }, 'protocol', 'unknown', /HTTP 502/],
    ['a refusal', { status: 400, body: '' }, 'protocol', 'no', /HTTP 400/],
    ['a lost session', { status: 404, body: '' }, 'connection-lost', 'no', /session/],
    ['a sign-in', { status: 401, body: '' }, 'server-unavailable', 'no', /sign-in/],
  ])('whose answer to a call is %s', async (_, answer, kind, delivered, message) => {
    const opened = open(await serve(plainServer(() => answer)))
    const call = (await opened.get('far')).call('any', {})
    await expect(call).rejects.toMatchObject({
      failure: { kind, delivered, message: expect.stringMatching(message) },
    })
  })

  it('from before streamable HTTP is reached over server-sent events', async () => {
    const url = await serve((request, response) => {
      if (request.method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('event: endpoint\ndata: /messages\n\n')
        events.push((text) => response.write(`event: message\ndata: ${text}\n\n`))
        return
      }
      if (request.url !== '/messages') return void response.writeHead(405).end()
      const parts: Buffer[] = []
      request.on('data', (chunk: Buffer) => parts.push(chunk))
      request.on('end', () => {
        response.writeHead(202).end()
        const { id, method } = JSON.parse(Buffer.concat(parts).toString())
        const result =
          method === 'initialize'
            ? {
                protocolVersion: '2024-11-05',
                capabilities: { tools: {} },
                serverInfo: { name: 'old', version: '1' },
              }
            : { tools: [{ name: 'old-tool', inputSchema: { type: 'object' } }] }
        if (id !== undefined) events[0]?.(JSON.stringify({ jsonrpc: '2.0', id, result }))
      })
    })
    const events: ((text: string) => void)[] = []
    expect((await open(url).list()).tools).toMatchObject([{ id: 'far__old-tool' }])
  })
})

it('does not use a server that is Skillrail itself', async () => {
  const servers = open(await serve(officialServer([], 'skillrail')))
  await expect(servers.get('far')).rejects.toMatchObject({
    message: 'The server far is Skillrail itself, which does not call itself',
    hint: expect.stringContaining('/home/user/.cursor/mcp.json'),
  })
  expect((await servers.list()).failures).toMatchObject([{ server: 'far' }])
})
