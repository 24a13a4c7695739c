import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RawRequest, rawRequest, sendRaw, statusOf } from '../raw-request.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { openEntrance, openView } from '../../src/view/open-view.ts'
import { openTestView, type TestView, tokenFor } from './_view.ts'
import { projectSaying } from './project-saying.ts'

let view: TestView
let asked: string[] = []
let decided = 0

beforeAll(async () => {
  const project = projectSaying('of the user', {
    match(question) {
      asked.push(question.text('prompt'))
      return projectSaying('of the user').match(question)
    },
    decide: () => ({ approved: ++decided > 0 }),
  })
  view = await openTestView(project, { arrivalMs: 400 })
})
afterAll(() => view.stop())

const send = (text: string): Promise<string> => sendRaw(text, { port: view.port })

const shaped = (shape: RawRequest = {}): string =>
  rawRequest(shape, {
    line: 'POST /api/match HTTP/1.1',
    host: `Host: 127.0.0.1:${view.port}\n`,
    authorization: `Authorization: Bearer ${view.token}\n`,
    type: 'Content-Type: application/json\n',
    more: '',
    body: '{"prompt":"hello"}',
  })

const decideAt = (query: string): string => `POST /api/decide${query} HTTP/1.1`

/** Everything of the user is behind these; the page and the entrance hold nothing. */
const noToken = { authorization: '' }

describe('requests to the view', () => {
  it('are answered with the token', async () => {
    asked = []
    const answer = await send(shaped())
    expect(statusOf(answer)).toBe(200)
    expect(answer).toContain('of the user')
    expect(asked).toEqual(['hello'])
  })

  const refused: readonly (readonly [what: string, status: number, shape: () => RawRequest])[] = [
    ['another host', 403, () => ({ host: 'Host: evil.example\n' })],
    ['a name bound to this machine', 403, () => ({ host: `Host: rebound.example:${view.port}\n` })],
    ['localhost', 403, () => ({ host: `Host: localhost:${view.port}\n` })],
    ['another port', 403, () => ({ host: 'Host: 127.0.0.1:80\n' })],
    ['two hosts', 403, () => ({ more: 'Host: evil.example\n' })],
    ['a page of another site', 403, () => ({ more: 'Origin: https://evil.example\n' })],
    ['a page at another port', 403, () => ({ more: 'Origin: http://127.0.0.1:1\n' })],
    ['a page in a sandbox', 403, () => ({ more: 'Origin: null\n' })],
    ['a request that a site began', 403, () => ({ more: 'Sec-Fetch-Site: cross-site\n' })],
    ['no token', 401, () => noToken],
    ['a wrong token', 401, () => ({ authorization: `Authorization: Bearer ${'e'.repeat(64)}\n` })],
    [
      'half a token',
      401,
      () => ({ authorization: `Authorization: Bearer ${view.token.slice(1)}\n` }),
    ],
    [
      'the code of the entrance',
      401,
      () => ({ authorization: `Authorization: Bearer ${codeOf()}\n` }),
    ],
    [
      'a token in the address',
      401,
      () => ({ ...noToken, line: `POST /api/match?token=${view.token} HTTP/1.1` }),
    ],
    ['a token in a cookie', 401, () => ({ authorization: `Cookie: token=${view.token}\n` })],
    ['a token in the body', 401, () => ({ ...noToken, body: `{"token":"${view.token}"}` })],
    ['GET', 405, () => ({ line: 'GET /api/match HTTP/1.1' })],
    ['HEAD', 405, () => ({ line: 'HEAD /api/match HTTP/1.1' })],
    ['PUT', 405, () => ({ line: 'PUT /api/match HTTP/1.1' })],
    ['DELETE', 405, () => ({ line: 'DELETE /api/runs HTTP/1.1' })],
    ['OPTIONS', 405, () => ({ line: 'OPTIONS /api/match HTTP/1.1' })],
    [
      'a preflight of another site',
      403,
      () => ({
        ...noToken,
        line: 'OPTIONS /api/match HTTP/1.1',
        more: 'Origin: https://evil.example\nAccess-Control-Request-Method: POST\n',
      }),
    ],
    [
      'an upgrade',
      405,
      () => ({
        line: 'GET /api/match HTTP/1.1',
        more: 'Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: eA==\n',
      }),
    ],
    ['the type of a form', 415, () => ({ type: 'Content-Type: text/plain\n' })],
    ['a path up', 404, () => ({ line: 'POST /api/../../etc/passwd HTTP/1.1' })],
    [
      'an encoded path up',
      404,
      () => ({ line: 'POST /api/%2e%2e%2f%2e%2e%2fetc/passwd HTTP/1.1' }),
    ],
    ['a path of the disk', 404, () => ({ line: 'POST /etc/passwd HTTP/1.1' })],
    ['a name that every object has', 404, () => ({ line: 'POST /api/constructor HTTP/1.1' })],
    [
      'a path that is not there, without a token',
      401,
      () => ({ ...noToken, line: 'POST /api/other HTTP/1.1' }),
    ],
    ['what is not JSON', 400, () => ({ body: '<xml>' })],
    ['a body over 256 KiB', 413, () => ({ body: `"${'a'.repeat(262_144)}"` })],
    ['a length over it', 413, () => ({ more: 'Content-Length: 999999999999\n' })],
    ['two lengths', 400, () => ({ more: 'Content-Length: 2\nContent-Length: 3\n' })],
    [
      'a length and chunks',
      400,
      () => ({ more: 'Content-Length: 2\nTransfer-Encoding: chunked\n' }),
    ],
    ['headers without end', 431, () => ({ more: `X: ${'a'.repeat(20_000)}\n` })],
  ]
  it.each(refused)('are refused with a status and no text: %s, %i', async (_, status, shape) => {
    asked = []
    const answer = await send(shaped(shape()))
    expect(statusOf(answer)).toBe(status)
    expect(answer).not.toMatch(/of the user|access-control/i)
    expect(asked).toEqual([])
  })

  it.each<[what: string, status: number, shape: () => RawRequest]>([
    ['no token', 401, () => noToken],
    ['a token in the address', 401, () => ({ ...noToken, line: decideAt(`?token=${view.token}`) })],
    ['a token in a cookie', 401, () => ({ authorization: `Cookie: token=${view.token}\n` })],
    ['a page of another site', 403, () => ({ more: 'Origin: https://evil.example\n' })],
    ['a page at another port', 403, () => ({ more: 'Origin: http://127.0.0.1:1\n' })],
    ['a page in a sandbox', 403, () => ({ more: 'Origin: null\n' })],
    ['a request that a site began', 403, () => ({ more: 'Sec-Fetch-Site: same-site\n' })],
    ['a name bound to this machine', 403, () => ({ host: `Host: rebound.example:${view.port}\n` })],
    ['the type of a form', 415, () => ({ type: 'Content-Type: text/plain\n' })],
    ['a link', 405, () => ({ line: 'GET /api/decide HTTP/1.1' })],
  ])('decide about no gate with %s: %i', async (_, status, shape) => {
    decided = 0
    const body = '{"decision":"approve"}'
    expect(statusOf(await send(shaped({ line: decideAt(''), body, ...shape() })))).toBe(status)
    expect(decided).toBe(0)
    expect(statusOf(await send(shaped({ line: decideAt(''), body })))).toBe(200)
    expect(decided).toBe(1)
  })

  it('are answered one by one, and not if they are hidden in the body of another', async () => {
    asked = []
    const second = shaped({ body: '{"prompt":"second"}' })
    const first = shaped({ body: '{"prompt":"first"}' }).replace('Connection: close\n', '')
    const both = await send(`${first}${second}`)
    expect(both.match(/HTTP\/1\.1 200/g)).toHaveLength(2)
    expect(asked).toEqual(['first', 'second'])
    asked = []
    await send(shaped({ body: second, line: 'POST /api/other HTTP/1.1' }))
    await send(shaped({ body: second, type: 'Content-Type: text/plain\n' }))
    expect(asked).toEqual([])
  })

  it('end if they do not arrive completely', async () => {
    asked = []
    const slow = await Promise.all([
      send('POST /api/match HTTP/1.1\nHost: '),
      send(shaped({ more: 'Content-Length: 100\n', body: '{"prompt":' })),
      send(shaped({ more: 'Transfer-Encoding: chunked\n', body: '5\n{"pro\n' })),
    ])
    expect(slow.map(statusOf)).not.toContain(200)
    expect(asked).toEqual([])
  })

  it('get only the page without a token, which contains no data', async () => {
    const page = { ...noToken, line: 'GET / HTTP/1.1', type: '' }
    const answer = await send(shaped(page))
    expect(statusOf(answer)).toBe(200)
    expect(answer).not.toContain('of the user')
    expect(answer).toMatch(
      /^content-security-policy: default-src 'none'; script-src 'sha256-\S{44}'; style-src 'none'; connect-src 'self'/m,
    )
    expect(answer).toMatch(/require-trusted-types-for 'script'; trusted-types 'none'/)
    expect(statusOf(await send(shaped({ ...page, host: 'Host: evil.example\n' })))).toBe(403)
  })
})

describe('the entrance', () => {
  it('returns the token once for the code, and never without it', async () => {
    const own = await openTestView(projectSaying('x'))
    const enter = async (code: unknown): Promise<unknown> => {
      const response = await fetch(`http://127.0.0.1:${own.port}/enter`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      })
      return response.status === 200 ? await response.json() : response.status
    }
    const code = /#once-([0-9a-f]{64})$/.exec(own.addressToOpen)?.[1]
    expect(await enter('0'.repeat(64))).toBe(401)
    expect(await enter(own.token)).toBe(401)
    expect(await enter([code])).toBe(401)
    expect(await enter(undefined)).toBe(401)
    expect(await enter(code)).toEqual({ token: own.token })
    expect(await enter(code)).toBe(401)
    expect(own.addressToOpen).not.toContain(own.token)
    await own.stop()
  })

  it('has a new address after one was used, and the old one is invalid', async () => {
    const own = await openTestView(projectSaying('x'))
    const first = own.address
    expect(first).not.toContain(own.token)
    expect(await tokenFor(first)).toBe(own.token)
    expect(own.address).not.toBe(first)
    expect(await tokenFor(first)).toBeUndefined()
    expect(await tokenFor(own.address)).toBe(own.token)
    await own.stop()
  })

  it('reports that an address is opened which another program used first', async () => {
    let reports = 0
    const stop = new AbortController()
    const own = await openView({
      view: projectSaying('x'),
      page: '<!doctype html>',
      runtime: systemRuntime(),
      signal: stop.signal,
      onUsedAgain: () => void reports++,
    })
    for (const address of [own.addressToOpen, own.address]) {
      reports = 0
      expect(await tokenFor(`${address.slice(0, -1)}x`)).toBeUndefined()
      expect(await tokenFor(address)).toBeTypeOf('string')
      expect(reports).toBe(0)
      expect(await tokenFor(address)).toBeUndefined()
      expect(reports).toBe(1)
    }
    stop.abort()
    await own.ended
  })

  it('accepts an address for a program for a minute, and one for a person for longer', () => {
    let now = 0
    const entrance = openEntrance('the token', () => now)
    const enter = (code: string): unknown => {
      let given = ''
      const response = { writeHead: () => response, end: (text: string) => (given = text) }
      Reflect.apply(entrance.route.answer, undefined, [{ code }, response])
      return JSON.parse(given)
    }
    const [program, late, person] = [60_000, 60_000, undefined].map((lifetimeMs) =>
      entrance.invite({ lifetimeMs }),
    )
    now = 59_999
    expect(enter(program ?? '')).toEqual({ token: 'the token' })
    now = 60_000
    expect(enter(late ?? '')).toEqual({})
    now = 3_600_000
    expect(enter(person ?? '')).toEqual({ token: 'the token' })
    expect(enter(person ?? '')).toEqual({})
  })
})

describe('the view', () => {
  it('ends on request', async () => {
    const own = await openTestView(projectSaying('x'))
    expect((await own.ask('skills')).status).toBe(200)
    await own.stop()
  })
})

function codeOf(): string {
  return view.addressToOpen.split('#once-')[1] ?? ''
}
