import { afterEach, describe, expect, it, vi } from 'vitest'
import { type ServedHttp, serveHttp } from '../../src/mcp/http.ts'
import { withinLimit } from '../patience.ts'
import { projectAt } from './_in-process.ts'

let served: ServedHttp | undefined
afterEach(async () => {
  await served?.close()
  served = undefined
})

const token = 'f'.repeat(43)
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
}

async function post(body: object, session?: string): Promise<Response> {
  const answer = await fetch(served?.address ?? '', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json; charset=utf-8',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
    body: JSON.stringify(body),
  })
  await answer.text()
  return answer
}

const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }

describe('sessions over HTTP', () => {
  it('end after a while without requests', async () => {
    const statuses = await withinLimit(
      200,
      async (idleMs) => {
        await served?.close()
        served = await serveHttp({ project: projectAt(), token, idleMs })
        const session = (await post(initialize)).headers.get('mcp-session-id') ?? ''
        const soon = await post(list, session)
        await new Promise((resolve) => setTimeout(resolve, idleMs * 2))
        const late = await post(list, session)
        return [soon.status, late.status]
      },
      ([soon]) => soon === 200,
    )
    expect(statuses).toEqual([200, 404])
  })

  it('make room for a new one: the longest idle session ends', async () => {
    served = await serveHttp({ project: projectAt(), token, maxSessions: 2 })
    const first = (await post(initialize)).headers.get('mcp-session-id') ?? ''
    const second = (await post(initialize)).headers.get('mcp-session-id') ?? ''
    expect((await post(list, first)).status).toBe(200)
    expect((await post(initialize)).status).toBe(200)
    expect((await post(list, second)).status).toBe(404)
    expect((await post(list, first)).status).toBe(200)
  })

  it('are limited in number while each has a stream', async () => {
    served = await serveHttp({ project: projectAt(), token, maxSessions: 1 })
    const only = (await post(initialize)).headers.get('mcp-session-id') ?? ''
    const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': only }
    const stream = await fetch(served.address, {
      headers: { ...headers, accept: 'text/event-stream' },
    })
    expect(stream.status).toBe(200)
    expect((await post(initialize)).status).toBe(503)
    expect((await fetch(served.address, { method: 'DELETE', headers })).status).toBe(200)
    expect((await post(initialize)).status).toBe(200)
    await stream.body?.cancel()
  })

  it('have one call session each, which a refused request does not use up', async () => {
    const project = projectAt()
    const sessions = vi.spyOn(project, 'newSession')
    served = await serveHttp({ project, token })
    sessions.mockClear()
    await post(initialize)
    await post(initialize)
    await post(list)
    await post(list, 'x')
    expect(sessions).toHaveBeenCalledTimes(2)
  })
})

it('names the port that is taken', async () => {
  served = await serveHttp({ project: projectAt(), token })
  const port = Number(new URL(served.address).port)
  await expect(serveHttp({ project: projectAt(), token, port })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
})
