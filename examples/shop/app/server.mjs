import { createServer } from 'node:http'
import { total } from './price.mjs'

const catalogue = new Map([
  ['pencil', 120],
  ['book', 1890],
])

/** Starts the shop on a free port of the loopback. */
export async function startShop() {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => send(response, 500, { error: 'internal' }))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() }
}

async function answer(request, response) {
  if (request.url === '/health') return send(response, 200, { ok: true })
  if (request.method !== 'POST' || request.url !== '/orders') {
    return send(response, 404, { error: 'there is no such page' })
  }
  const { lines = [] } = JSON.parse(await read(request))
  const unknown = lines.find(({ article }) => !catalogue.has(article))
  if (unknown !== undefined) return send(response, 422, { error: `no article ${unknown.article}` })
  const priced = lines.map(({ article, count }) => ({ price: catalogue.get(article), count }))
  const { goods, postage } = total(priced)
  return send(response, 201, { goods, postage, total: goods + postage })
}

async function read(request) {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

function send(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}
