import { createServer, type RequestListener } from 'node:http'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { nextLines } from '../../../dev/restate.mjs'
import { commandsIn } from '../_command.ts'
import { makeProject, type TestProject } from '../_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject({ main: { run: 'true' } })
})
afterEach(() => project.remove())

const { command } = commandsIn(() => project)

/** A port at which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => void server.close(resolve))
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

/** A server that is healthy and answers every other request in the same way, at a free port. */
async function served(listener: RequestListener): Promise<number> {
  const server = createServer((request, response) => {
    if (request.url === '/restate/health') response.end('{}')
    else listener(request, response)
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

const runs = async (): Promise<number> => (await command('runs list --json')).json.runs.length

async function submitTo(port: number) {
  return await submitToUrl(`http://127.0.0.1:${port}`)
}

async function submitToUrl(url: string) {
  const adminUrl = `http://127.0.0.1:${await closedPort()}`
  return await command(`run main --engine restate --url ${url} --admin-url ${adminUrl}`)
}

it('keeps nothing of a run whose server cannot be reached', async () => {
  const { code, error } = await submitTo(await closedPort())
  expect([code, error?.code, await runs()]).toEqual([1, 'restate-away', 0])
})

it.each([
  ['a port that no request is sent to', 'http://127.0.0.1:1'],
  ['a name that does not exist', 'http://restate.invalid:8080'],
])('keeps nothing of a run with %s', async (_what, url) => {
  const { code, error } = await submitToUrl(url)
  expect([code, error?.code, await runs()]).toEqual([1, 'restate-away', 0])
})

it('keeps nothing of a run whose server ends every connection', async () => {
  const server = createServer((request) => void request.socket.destroy())
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const { error } = await submitTo(typeof address === 'object' ? (address?.port ?? 0) : 0)
  expect([error?.code, await runs()]).toEqual(['restate-away', 0])
})

it('keeps nothing of a run that no worker takes', async () => {
  const port = await served((_request, response) => response.writeHead(404).end('{}'))
  const { error } = await submitTo(port)
  expect([error?.code, await runs()]).toEqual(['restate-no-worker', 0])
})

it.each<[string, RequestListener]>([
  ['ends the connection', (request) => void request.socket.destroy()],
  ['fails', (_request, response) => void response.writeHead(503).end('{}')],
])(
  'keeps a run that its server may have, if the server %s after the request',
  async (_what, answer) => {
    const { code } = await submitTo(await served(answer))
    expect([code, await runs()]).toEqual([1, 1])
  },
)

it.each([
  ['http://127.0.0.1:8080', 'http://127.0.0.1:9070', 0],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:9999', 2],
  ['http://127.0.0.1:8888', 'http://127.0.0.1:9999', 3],
])('names whole commands for a first try with the server at %s', (url, adminUrl, addresses) => {
  const text = nextLines({ url, adminUrl }).join('\n')
  expect(text).toContain('skillrail runs worker --register')
  expect(text).toContain('skillrail run SKILL --engine restate')
  expect(text.match(/--(?:admin-)?url http:\S+/g) ?? []).toHaveLength(addresses)
})
