import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../cli/run-cli.ts'
import { bin, coverageVariables } from '../command-line.ts'
import { until } from '../patience.ts'
import { askerOf, isRunning, makeClient, makeProject, type McpProject, modern } from './_project.ts'

let project: McpProject
let server: ChildProcess
let address = ''
let token = ''
let stderr = ''

beforeAll(async () => {
  project = makeProject()
  project.skill('saw', '', 'Cut.')
  project.skill('mine', 'disable-model-invocation: true\n', 'For people.')
  server = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      bin,
      'mcp',
      'serve',
      '--http',
      '--json',
      '--trust-workspace',
      '--token-file',
      'secret/token',
    ],
    {
      cwd: project.project,
      env: { PATH: process.env['PATH'], HOME: project.home, ...coverageVariables },
    },
  )
  let out = ''
  server.stdout?.on('data', (chunk) => (out += String(chunk)))
  server.stderr?.on('data', (chunk) => (stderr += String(chunk)))
  await until(() => out.includes('}'))
  ;({ address } = JSON.parse(out))
  token = readFileSync(join(project.project, 'secret/token'), 'utf8').trim()
})
afterAll(async () => {
  server.kill('SIGTERM')
  await until(() => server.exitCode !== null || server.signalCode !== null)
  const left = project.started().filter(isRunning)
  project.remove()
  if (left.length > 0) throw new Error(`processes were left: ${left.join(', ')}`)
})

async function connect(
  options = {},
  answer?: Parameters<typeof makeClient>[1],
): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const client = makeClient(options, answer)
  const transport = new StreamableHTTPClientTransport(new URL(address), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  })
  await client.connect(transport)
  return { client, transport }
}

it.each([
  ['2025-11-25', {}, 'For people.'],
  ['2026-07-28, which has no sessions', modern, 'model-invocation-disabled'],
] as const)("keeps a person's choice to one client over MCP of %s", async (_, options, own) => {
  const [first, other] = [await connect(options), await connect(options)]
  await first.client.getPrompt({ name: 'mine' })
  const input = { skill: 'mine', path: 'SKILL.md' }
  expect(await askerOf(first.client).text('read_skill_resource', input)).toContain(own)
  expect(await askerOf(other.client).text('read_skill_resource', input)).toContain(
    'model-invocation-disabled',
  )
  await Promise.all([first.client.close(), other.client.close()])
})

describe.each([
  ['2025-11-25', {}],
  ['2026-07-28', modern],
] as const)('a client of %s', (version, options) => {
  it('uses skills, calls tools, and shows questions', async () => {
    const { client } = await connect(options, () => ({ approve: true }))
    const { text, json } = askerOf(client)
    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    expect(await text('use_skill', { skill: 'saw' })).toContain('Cut.')
    const steps: unknown[] = []
    const call = { tool: 'get_echo', params: { message: 'hi' } }
    await client.callTool(
      { name: 'call_tool', arguments: call },
      { onprogress: (step) => steps.push(step) },
    )
    expect(steps).toMatchObject([{ message: 'things__get_echo: on the way' }])
    expect(await json('call_tool', call)).toMatchObject({ result: 'hi 1' })
    const make = { tool: 'create_thing', params: { name: 'by http' } }
    expect(await text('call_tool', make)).toContain('created by http')
    await client.close()
  })
})

it.each([
  ['2025-11-25', {}],
  ['2026-07-28', modern],
] as const)('ends a call that a client of %s cancels', async (_version, options) => {
  const { client } = await connect(options)
  const before = project.calls().filter((line) => line === 'cancelled').length
  const controller = new AbortController()
  const slow = client.callTool(
    { name: 'call_tool', arguments: { tool: 'get_slow', params: {} } },
    { signal: controller.signal, onprogress: () => controller.abort('enough') },
  )
  await expect(slow).rejects.toThrow(/enough|abort/i)
  await until(() => project.calls().filter((line) => line === 'cancelled').length > before)
  await client.close()
})

it('continues a call whose client of 2025-11-25 hangs up, until the client cancels it', async () => {
  const { client, transport } = await connect()
  const post = async (message: object, signal?: AbortSignal): Promise<Response> =>
    await fetch(address, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-session-id': transport.sessionId ?? '',
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      ...(signal === undefined ? {} : { signal }),
    })
  const count = (line: string): number => project.calls().filter((one) => one === line).length
  const [slow, cancelled] = [count('get_slow {}'), count('cancelled')]
  const call = { name: 'call_tool', arguments: { tool: 'get_slow', params: {} } }
  const hangUp = new AbortController()
  const asked = post({ id: 'slow', method: 'tools/call', params: call }, hangUp.signal)
  const gone = asked.then(async (answer) => await answer.text()).catch(() => 'gone')
  await until(() => count('get_slow {}') > slow)
  hangUp.abort()
  expect(await gone).toBe('gone')
  const echo = { tool: 'get_echo', params: { message: 'still here' } }
  expect(await askerOf(client).text('call_tool', echo)).toContain('still here')
  expect(count('cancelled')).toBe(cancelled)
  const given = { method: 'notifications/cancelled', params: { requestId: 'slow' } }
  expect((await post(given)).status).toBe(202)
  await until(() => count('cancelled') > cancelled)
  await client.close()
})

it('gives every session its own ID, valid until its end', async () => {
  const [one, two] = [await connect(), await connect()]
  const ids = [one, two].map(({ transport }) => transport.sessionId ?? '')
  expect(new Set(ids).size).toBe(2)
  for (const id of ids) expect(id).toMatch(/^[\w-]{43}$/)
  await one.transport.terminateSession()
  const gone = await send({ more: `Mcp-Session-Id: ${ids[0]}\n`, body: listing })
  expect(gone).toMatch(/^HTTP\/1\.1 404 /)
  expect((await two.client.listTools()).tools).toHaveLength(14)
  await two.client.close()
})

it('stores the token in a file that only the user can read, and then never prints it', () => {
  expect(statSync(join(project.project, 'secret/token')).mode & 0o777).toBe(0o600)
  expect(token).toMatch(/^[\w-]{43}$/)
  expect(stderr).toContain(address)
  expect(stderr).not.toContain(token)
})

it.each([
  ['wrong', 'something else', 0o600, 'does not hold a token'],
  ['open', 'x'.repeat(43), 0o644, 'can be read by others'],
])('refuses a token file that is %s', async (name, text, mode, words) => {
  writeFileSync(join(project.project, name), text, { mode })
  const { code, stderr } = await runCli(['mcp', 'serve', '--http', '--token-file', name], {
    cwd: project.project,
    home: project.home,
  })
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
})

const listing = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  },
})

interface Shape {
  line?: string
  host?: string
  authorization?: string
  type?: string
  more?: string
  body?: string
  length?: string
}

/** The first answer to bytes as they are. */
function send(shape: Shape): Promise<string> {
  const { port } = new URL(address)
  const { line = 'POST /mcp HTTP/1.1', body = initialize, more = '' } = shape
  const { host = `Host: 127.0.0.1:${port}\n`, type = 'Content-Type: application/json\n' } = shape
  const { authorization = `Authorization: Bearer ${token}\n` } = shape
  const { length = `Content-Length: ${Buffer.byteLength(body)}\n` } = shape
  const accept = 'Accept: application/json, text/event-stream\n'
  const head = `${line}\n${host}${authorization}${accept}${type}${more}${length}\n`
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: '127.0.0.1', port: Number(port) })
    let answer = ''
    const end = (): void => {
      resolve(answer)
      socket.destroy()
    }
    socket.setTimeout(40_000, () => socket.destroy(new Error('it was never answered')))
    socket.on('data', (chunk) => {
      answer += String(chunk)
      if (answer.includes('\r\n\r\n')) setTimeout(end, 50)
    })
    socket.on('close', end)
    socket.on('error', (error) => (answer === '' ? reject(error) : end()))
    socket.write(head.replaceAll('\n', '\r\n') + body)
  })
}

it('answers a valid request', async () => {
  expect(await send({})).toMatch(/^HTTP\/1\.1 200 [\s\S]*mcp-session-id: [\w-]{43}/i)
})

describe('refused', () => {
  const other = 'f'.repeat(43)
  it.each<[what: string, shape: Shape, status: number]>([
    ['another host', { host: 'Host: evil.example\n' }, 403],
    ['a name bound to this machine', { host: 'Host: localhost.evil.example:80\n' }, 403],
    ['localhost by name', { host: 'Host: localhost\n' }, 403],
    ['two hosts', { more: 'Host: evil.example\n' }, 403],
    ['no host', { host: '' }, 400],
    ['no host, HTTP/1.0', { line: 'POST /mcp HTTP/1.0', host: '' }, 403],
    ['a page of another origin', { more: 'Origin: http://evil.example\n' }, 403],
    ['a page without an origin', { more: 'Origin: null\n' }, 403],
    ['a page of another port', { more: 'Origin: http://127.0.0.1:1\n' }, 403],
    ['a page of another site', { more: 'Sec-Fetch-Site: cross-site\n' }, 403],
    ['no token', { authorization: '' }, 401],
    ['another token', { authorization: `Authorization: Bearer ${other}\n` }, 401],
    ['the token as a password', { authorization: 'Authorization: Basic eDp5\n' }, 401],
    [
      'the token in the address',
      { line: `POST /mcp?token=${other} HTTP/1.1`, authorization: '' },
      401,
    ],
    ['another path', { line: 'POST /mcp/ HTTP/1.1' }, 404],
    ['a path that climbs', { line: 'POST /../mcp HTTP/1.1' }, 404],
    ['a whole address', { line: 'POST http://evil.example/mcp HTTP/1.1' }, 404],
    ['another method', { line: 'PUT /mcp HTTP/1.1' }, 405],
    [
      'leave asked by a page',
      { line: 'OPTIONS /mcp HTTP/1.1', more: 'Origin: http://evil.example\n' },
      403,
    ],
    ['OPTIONS', { line: 'OPTIONS /mcp HTTP/1.1' }, 405],
    ['a form', { type: 'Content-Type: application/x-www-form-urlencoded\n' }, 415],
    ['text', { type: 'Content-Type: text/plain\n' }, 415],
    ['no type', { type: '' }, 415],
    ['too much announced', { body: '', length: 'Content-Length: 99999999999\n' }, 413],
    ['no JSON', { body: '{' }, 400],
    ['nothing', { body: '' }, 400],
    ['a list of nothing', { body: '[]' }, 400],
    ['a length that is none', { length: 'Content-Length: many\n' }, 400],
    ['two lengths', { more: 'Content-Length: 1\n' }, 400],
    ['a request without a session', { body: listing }, 400],
    ['GET without a session', { line: 'GET /mcp HTTP/1.1', body: '' }, 400],
    ['DELETE without a session', { line: 'DELETE /mcp HTTP/1.1', body: '' }, 400],
    ['a session that nobody has', { body: listing, more: `Mcp-Session-Id: ${other}\n` }, 404],
    ['a session that is a path', { body: listing, more: 'Mcp-Session-Id: ../../etc\n' }, 404],
    ['a second initialize in a foreign session', { more: `Mcp-Session-Id: ${other}\n` }, 404],
    [
      'DELETE of a foreign session',
      { line: 'DELETE /mcp HTTP/1.1', body: '', more: `Mcp-Session-Id: ${other}\n` },
      404,
    ],
    [
      'a version that nobody speaks',
      { body: listing, more: 'MCP-Protocol-Version: 1999-01-01\n' },
      400,
    ],
  ])('refuses %s without an explanation', async (_what, shape, status) => {
    const answer = await send(shape)
    expect(answer.split('\r\n')[0]).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(answer).not.toContain(token)
    expect(answer.toLowerCase()).not.toContain('access-control-allow')
    expect(answer).not.toContain('find_skills')
  })

  it('refuses chunks that exceed the limit together', async () => {
    const chunk = `${(850_000).toString(16)}\r\n${'x'.repeat(850_000)}\r\n`
    const answer = await send({
      length: 'Transfer-Encoding: chunked\n',
      body: chunk.repeat(5),
    })
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('refuses a second request behind a refused one', async () => {
    const { port } = new URL(address)
    const second = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${initialize.length}\r\n\r\n${initialize}`
    const answer = await send({ host: 'Host: evil.example\n', body: initialize + second })
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(answer).toMatch(/^HTTP\/1\.1 403 /)
  })
})
