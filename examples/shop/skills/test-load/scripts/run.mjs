import assert from 'node:assert/strict'
import { startShop } from '../../../app/server.mjs'

const shop = await startShop()
const started = Date.now()
const orders = Array.from({ length: 100 }, () =>
  fetch(`${shop.url}/orders`, { method: 'POST', body: '{ "lines": [] }' }),
)
const answers = await Promise.all(orders)
await Promise.all(answers.map((answer) => answer.text()))
shop.close()
assert.ok(answers.every((answer) => answer.status === 201))
const metrics = { orders: answers.length, load_ms: Date.now() - started }
console.log(
  JSON.stringify({ status: 'success', result: `${answers.length} orders at once`, metrics }),
)
