import type { ServerResponse } from 'node:http'
import { createConnection, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RawRequest, rawRequest, sendRaw, statusOf } from '../raw-request.ts'
import { type LocalServer, openLocalServer, pageRoute } from '../../src/core/local-server.ts'

const token = 'f'.repeat(64)
let server: LocalServer
let answered: unknown[] = []

beforeAll(async () => {
  server = await openLocalServer({
    token,
    largestBody: 1000,
    arrivalMs: 400,
    routes: {
      '/': pageRoute(
        '<!doctype html><style>p{}</style><script>let a</script><script>let b</script>',
      ),
      '/data': {
        method: 'POST',
        answer(body, response) {
          answered.push(body)
          response.writeHead(200, { 'content-type': 'application/json' }).end('{"secret":1}')
        },
      },
      '/fails': {
        method: 'POST',
        answer: () => Promise.reject(new Error('<b>inner words</b>')),
      },
    },
  })
})
/** One with the usual limits. */
let patient: LocalServer
beforeAll(async () => {
  const routes = {
    '/data': {
      method: 'POST' as const,
      answer: (_: unknown, response: ServerResponse) => void response.end('{}'),
    },
  }
  patient = await openLocalServer({ token, routes })
})
afterAll(() => {
  server.destroy()
  patient.destroy()
})

/** Settles when a connection stands, or is gone again. */
function connected(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (!socket.connecting) resolve()
    socket.once('connect', resolve)
    socket.once('close', () => resolve())
  })
}

const send = (text: string, to: { host?: string; port?: number } = {}): Promise<string> =>
  sendRaw(text, { port: server.port, ...to })

const shaped = (shape: RawRequest = {}): string =>
  rawRequest(shape, {
    line: 'POST /data HTTP/1.1',
    host: `Host: 127.0.0.1:${server.port}\n`,
    authorization: `Authorization: Bearer ${token}\n`,
    type: 'Content-Type: application/json\n',
    more: '',
    body: '{}',
  })

describe('a local server', () => {
  it('answers requests with the token', async () => {
    answered = []
    const answer = await send(shaped({ body: '{"a":1}' }))
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK[^]*\{"secret":1\}/)
    expect(answered).toEqual([{ a: 1 }])
  })

  const port = (): number => server.port
  const refused: readonly (readonly [what: string, status: number, shape: () => RawRequest])[] = [
    ['another name of this machine', 403, () => ({ host: `Host: localhost:${port()}\n` })],
    ['a name bound to it afterwards', 403, () => ({ host: `Host: evil.example:${port()}\n` })],
    ['a name that begins like it', 403, () => ({ host: `Host: 127.0.0.1:${port()}.evil\n` })],
    ['its decimal name', 403, () => ({ host: `Host: 2130706433:${port()}\n` })],
    ['its short name', 403, () => ({ host: `Host: 127.1:${port()}\n` })],
    ['its name in IPv6', 403, () => ({ host: `Host: [::1]:${port()}\n` })],
    ['its IPv4 name in IPv6', 403, () => ({ host: `Host: [::ffff:127.0.0.1]:${port()}\n` })],
    ['a host without port', 403, () => ({ host: 'Host: 127.0.0.1\n' })],
    ['another port', 403, () => ({ host: 'Host: 127.0.0.1:80\n' })],
    ['an empty host', 403, () => ({ host: 'Host:\n' })],
    ['two hosts', 403, () => ({ more: 'Host: evil.example\n' })],
    ['no host in HTTP/1.1', 400, () => ({ host: '' })],
    ['no host in HTTP/1.0', 403, () => ({ line: 'POST /data HTTP/1.0', host: '' })],
    ['a page elsewhere', 403, () => ({ more: 'Origin: https://evil.example\n' })],
    ['a page at another port', 403, () => ({ more: 'Origin: http://127.0.0.1:1\n' })],
    ['a page without origin', 403, () => ({ more: 'Origin: null\n' })],
    ['an image or form of a page', 403, () => ({ more: 'Sec-Fetch-Site: cross-site\n' })],
    ['the same at another port', 403, () => ({ more: 'Sec-Fetch-Site: same-site\n' })],
    ['no token', 401, () => ({ authorization: '' })],
    ['a wrong token', 401, () => ({ authorization: `Authorization: Bearer ${'e'.repeat(64)}\n` })],
    ['half a token', 401, () => ({ authorization: `Authorization: Bearer ${token.slice(1)}\n` })],
    ['another scheme', 401, () => ({ authorization: `Authorization: Basic ${token}\n` })],
    [
      'a token in the address',
      401,
      () => ({
        line: `POST /data?token=${token} HTTP/1.1`,
        authorization: '',
      }),
    ],
    ['a token in a cookie', 401, () => ({ authorization: `Cookie: token=${token}\n` })],
    ['GET instead of POST', 405, () => ({ line: 'GET /data HTTP/1.1' })],
    ['PUT instead of POST', 405, () => ({ line: 'PUT /data HTTP/1.1' })],
    ['a preflight', 405, () => ({ line: 'OPTIONS /data HTTP/1.1' })],
    [
      'a preflight of a page',
      403,
      () => ({
        line: 'OPTIONS /data HTTP/1.1',
        authorization: '',
        more: 'Origin: https://evil.example\nAccess-Control-Request-Method: POST\n',
      }),
    ],
    ['TRACE', 405, () => ({ line: 'TRACE /data HTTP/1.1' })],
    [
      'an upgrade',
      405,
      () => ({
        line: 'GET /data HTTP/1.1',
        more: 'Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: eA==\n',
      }),
    ],
    ['the type of a form', 415, () => ({ type: 'Content-Type: text/plain\n' })],
    ['no type', 415, () => ({ type: '' })],
    ['a path that is not known', 404, () => ({ line: 'POST /other HTTP/1.1' })],
    ['a way up', 404, () => ({ line: 'POST /../data HTTP/1.1' })],
    ['an encoded way up', 404, () => ({ line: 'POST /%2e%2e/%2e%2e/etc/passwd HTTP/1.1' })],
    ['a path with a query', 404, () => ({ line: 'POST /data?x HTTP/1.1' })],
    ['a whole address', 404, () => ({ line: 'POST http://127.0.0.1/data HTTP/1.1' })],
    ['a name that every object has', 404, () => ({ line: 'POST /__proto__ HTTP/1.1' })],
    ['what is not JSON', 400, () => ({ body: '<xml>' })],
    ['a body that is too long', 413, () => ({ body: `"${'a'.repeat(1000)}"` })],
    ['a length that is too long', 413, () => ({ more: 'Content-Length: 999999999999\n' })],
    [
      'a long body of unknown length',
      413,
      () => ({
        more: 'Transfer-Encoding: chunked\n',
        body: `800\n"${'a'.repeat(2047)}\n`,
      }),
    ],
    ['two lengths', 400, () => ({ more: 'Content-Length: 2\nContent-Length: 3\n' })],
    [
      'a length and chunks',
      400,
      () => ({
        more: 'Content-Length: 2\nTransfer-Encoding: chunked\n',
      }),
    ],
    [
      'chunks under another name',
      400,
      () => ({
        more: 'Transfer-Encoding: chunked, identity\n',
      }),
    ],
    ['a space before a colon', 400, () => ({ more: 'Transfer-Encoding : chunked\n' })],
    ['a folded header', 400, () => ({ more: 'X: a\n b: c\nContent-Length: z\n' })],
    ['headers without end', 431, () => ({ more: `X: ${'a'.repeat(20_000)}\n` })],
    ['a failure inside', 500, () => ({ line: 'POST /fails HTTP/1.1' })],
  ]
  it.each(refused)('refuses %s with %i and no text', async (_, status, shape) => {
    answered = []
    const answer = await send(shaped(shape()))
    expect(statusOf(answer)).toBe(status)
    expect(answer).not.toMatch(/secret|inner words|access-control/i)
    expect(answer.match(/^HTTP\/1\.1 /gm)).toHaveLength(1)
    expect(answered).toEqual([])
  })

  it('does not answer a second request that is hidden in a body', async () => {
    answered = []
    const hidden = shaped({ body: '{"hidden":1}' })
    await send(shaped({ body: hidden, line: 'POST /other HTTP/1.1' }))
    await send(shaped({ body: hidden, type: 'Content-Type: text/plain\n' }))
    expect(answered).toEqual([])
  })

  it('ends a request that does not arrive completely', async () => {
    answered = []
    const slow = await Promise.all([
      send('POST /data HTTP/1.1\nHost: '),
      send(shaped({ more: 'Content-Length: 100\n', body: '{' })),
    ])
    expect(slow.map(statusOf).filter((status) => status === 200)).toEqual([])
    expect(answered).toEqual([])
  })

  it('ends a connection without a request', async () => {
    // Node answers 408 where its own check of what is late comes before ours.
    expect(await send('')).toMatch(/^(?:HTTP\/1\.1 408 |$)/)
  })

  it('stops reading a request without the token, whatever is still to come', async () => {
    const head = shaped({ authorization: '', more: 'Content-Length: 900\n', body: '{' })
    expect(statusOf(await send(head.replace('Connection: close\n', '')))).toBe(401)
  })

  it.each([
    ['say nothing', ''],
    ['begin a request', 'POST /data HTTP/1.1\r\nHost: 1'],
  ])('answers requests with the token while 300 other clients %s', async (_, text) => {
    const others = Array.from({ length: 300 }, () => {
      const socket = createConnection({ host: '127.0.0.1', port: patient.port })
      socket.on('error', () => undefined)
      if (text !== '') socket.write(text)
      return socket
    })
    try {
      await Promise.all(others.map(connected))
      const host = `Host: 127.0.0.1:${patient.port}\n`
      expect(statusOf(await send(shaped({ host }), { port: patient.port }))).toBe(200)
    } finally {
      for (const socket of others) socket.destroy()
    }
  })

  it('is not reachable by another address of this machine', async () => {
    await expect(send(shaped(), { host: '::1' })).rejects.toThrow(
      /REFUSED|ADDRNOTAVAIL|AFNOSUPPORT/,
    )
  })

  it('forbids that its answers are executed, framed, cached or read as another type', async () => {
    for (const answer of [await send(shaped()), await send(shaped({ authorization: '' }))]) {
      expect(answer).toMatch(/^x-content-type-options: nosniff/m)
      expect(answer).toMatch(
        /^content-security-policy: default-src 'none'; frame-ancestors 'none'/m,
      )
      expect(answer).toMatch(/^cache-control: no-store/m)
      expect(answer).toMatch(/^cross-origin-resource-policy: same-origin/m)
    }
  })

  it("serves a page to everybody on this machine, and allows only the page's own scripts", async () => {
    const page = { line: 'GET / HTTP/1.1', authorization: '', type: '' }
    const answer = await send(shaped(page))
    expect(statusOf(answer)).toBe(200)
    expect(answer).toMatch(
      /^content-security-policy: default-src 'none'; script-src 'sha256-\S{44}' 'sha256-\S{44}'; style-src 'sha256-\S{44}'; connect-src 'self'/m,
    )
    expect(answer).toMatch(/^x-content-type-options: nosniff/m)
    expect(answer).not.toContain('unsafe')
    expect(statusOf(await send(shaped({ ...page, more: 'Origin: null\n' })))).toBe(403)
    expect(statusOf(await send(shaped({ ...page, host: 'Host: evil.example\n' })))).toBe(403)
  })
})
