import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { openServers, type ServerPool } from '../../../src/tools/server/pool.ts'
import { ToolCallError } from '../../../src/tools/errors.ts'
import type { ToolServer } from '../../../src/tools/model.ts'
import { definition, emptyRuntime } from './_servers.ts'

let http: Server | undefined
let pool: ServerPool | undefined
const seen: IncomingHttpHeaders[] = []

afterEach(async () => {
  await pool?.close()
  http?.closeAllConnections()
  await new Promise((resolve) => (http === undefined ? resolve(undefined) : http.close(resolve)))
  http = undefined
  seen.length = 0
})

/**
 * The official server of the protocol of 2026-07-28, which checks the headers of every call. `asks`:
 * it asks whatever the client says that it can answer.
 */
async function open(register: (server: McpServer) => void, asks = false): Promise<ToolServer> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'official', version: '1' })
    register(server)
    return server
  })
  const server = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = []
      for await (const chunk of request) parts.push(Buffer.from(chunk))
      seen.push(request.headers)
      const headers = Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as [string, string]] : [],
      )
      const url = `http://${request.headers.host}${request.url}`
      const requestText = Buffer.concat(parts).toString()
      const body = requestText === '' ? null : asks ? withElicitation(requestText) : requestText
      const method = request.method ?? 'GET'
      const answer = await handler.fetch(new Request(url, { method, headers, body }))
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(Buffer.from(await answer.arrayBuffer()))
    })()
  })
  http = server
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const transport = { kind: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: {} } as const
  pool = openServers([definition('far', transport)], { runtime: emptyRuntime() })
  return await pool.get('far')
}

function withElicitation(body: string): string {
  const message = JSON.parse(body)
  const meta = message.params?.['_meta']
  if (meta !== undefined) meta['io.modelcontextprotocol/clientCapabilities'] = { elicitation: {} }
  return JSON.stringify(message)
}

const text = (value: string): { content: { type: 'text'; text: string }[] } => ({
  content: [{ type: 'text', text: value }],
})

const mirrored = z.object({
  region: z.string().optional().meta({ 'x-mcp-header': 'Region' }),
  count: z.int().optional().meta({ 'x-mcp-header': 'Count' }),
  inner: z.object({ dry: z.boolean().meta({ 'x-mcp-header': 'Dry' }) }).optional(),
})

function registerMirrored(server: McpServer): void {
  server.registerTool('query', { inputSchema: mirrored }, ({ region }) => text(region ?? 'none'))
}

function lastHeaders(): Record<string, unknown> {
  const parameterHeaders = Object.entries(seen.at(-1) ?? {}).filter(([name]) =>
    name.startsWith('mcp-param-'),
  )
  return Object.fromEntries(parameterHeaders)
}

describe('parameters that a tool also requires in headers', () => {
  it.each([
    [
      { region: 'eu-1', count: 3 },
      { 'mcp-param-region': 'eu-1', 'mcp-param-count': '3' },
    ],
    [{ inner: { dry: false } }, { 'mcp-param-dry': 'false' }],
    [{ region: 'zürich' }, { 'mcp-param-region': '=?base64?esO8cmljaA==?=' }],
    [{ region: ' eu' }, { 'mcp-param-region': '=?base64?IGV1?=' }],
    [{ region: '=?base64?x?=' }, { 'mcp-param-region': '=?base64?PT9iYXNlNjQ/eD89?=' }],
    [{}, {}],
  ])('%j are sent as %j', async (parameters, headers) => {
    const server = await open(registerMirrored)
    await server.list()
    const outcome = await server.call('query', parameters)
    expect(outcome.isError).toBe(false)
    expect(lastHeaders()).toEqual(headers)
  })

  it('are sent as in the schema of the caller, without a listing', async () => {
    const server = await open(registerMirrored)
    const properties = { region: { type: 'string', 'x-mcp-header': 'Region' } }
    const before = seen.length
    await server.call('query', { region: 'eu' }, { inputSchema: { type: 'object', properties } })
    expect(lastHeaders()).toEqual({ 'mcp-param-region': 'eu' })
    expect(seen.length).toBe(before + 1)
  })

  it('are looked up if the server reports them as missing', async () => {
    const server = await open(registerMirrored)
    const outcome = await server.call('query', { region: 'eu' }, { inputSchema: {} })
    expect(outcome).toMatchObject({ isError: false, content: [{ text: 'eu' }] })
    expect(lastHeaders()).toEqual({ 'mcp-param-region': 'eu' })
  })

  it.each<[string, z.ZodObject]>([
    ['no name', z.object({ a: z.string().meta({ 'x-mcp-header': 'two words' }) })],
    ['a type that is not text', z.object({ a: z.number().meta({ 'x-mcp-header': 'A' }) })],
    ['a place in a list', z.object({ a: z.array(z.string().meta({ 'x-mcp-header': 'A' })) })],
    [
      'a name given twice',
      z.object({
        a: z.string().meta({ 'x-mcp-header': 'A' }),
        b: z.string().meta({ 'x-mcp-header': 'a' }),
      }),
    ],
  ])('exclude a tool that declares one incorrectly: %s', async (_, inputSchema) => {
    await open((server) => {
      registerMirrored(server)
      server.registerTool('wrong', { inputSchema }, () => text(''))
    })
    const listing = await pool?.list()
    expect(listing?.tools.map(({ name }) => name)).toEqual(['query'])
    expect(listing?.diagnostics).toMatchObject([
      { message: expect.stringContaining('the tool wrong is left out: x-mcp-header') },
    ])
  })
})

const city = z.object({ city: z.string(), unit: z.enum(['c', 'f']).optional() })

function asking(inputSchema: z.ZodObject): (server: McpServer) => void {
  return (server) => {
    server.registerTool('weather', { inputSchema }, () =>
      inputRequired({
        inputRequests: {
          where: inputRequired.elicit({ message: 'Which city?', requestedSchema: city }),
        },
      }),
    )
  }
}

async function failureOf(server: ToolServer): Promise<unknown> {
  await server.list()
  const error: unknown = await server.call('weather', {}).catch((reason: unknown) => reason)
  return error instanceof ToolCallError ? error.failure : error
}

describe('a server that asks instead of answering', () => {
  it('ends the call, which nobody can continue', async () => {
    expect(await failureOf(await open(asking(z.object({})), true))).toMatchObject({
      kind: 'input-required',
      delivered: 'yes',
      message: expect.stringContaining('asks during the call, which Skillrail does not answer'),
    })
  })

  it('learns from the protocol that no user answers, and the error reports that', async () => {
    expect(await failureOf(await open(asking(z.object({}))))).toMatchObject({
      kind: 'input-required',
      message: expect.stringMatching(/asks during the call.*elicitation/),
    })
  })

  it('is called again if it requires nothing else', async () => {
    let rounds = 0
    const server = await open((official) => {
      official.registerTool('busy', { inputSchema: z.object({}) }, () => {
        rounds++
        return rounds < 3 ? inputRequired({ requestState: `round ${rounds}` }) : text('done')
      })
    })
    expect(await server.call('busy', {})).toMatchObject({ content: [{ text: 'done' }] })
    expect(rounds).toBe(3)
  })
})
