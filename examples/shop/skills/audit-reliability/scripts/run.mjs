import assert from 'node:assert/strict'
import { startShop } from '../../../app/server.mjs'

const shop = await startShop()
const requests = [
  { page: '/orders', method: 'POST', body: '{' },
  { page: '/orders', method: 'DELETE' },
  { page: '/../../etc/passwd' },
]
const codes = []
for (const { page, ...options } of requests) {
  codes.push((await fetch(`${shop.url}${page}`, options)).status)
}
const alive = (await fetch(`${shop.url}/health`)).ok
shop.close()
assert.deepEqual([codes, alive], [[500, 404, 404], true])
console.log(`${requests.length} kinds of nonsense were survived`)
