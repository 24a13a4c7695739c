import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { startShop } from '../../../app/server.mjs'

const { chain_state: state } = JSON.parse(readFileSync(0, 'utf8'))
const shop = await startShop()
const order = {
  lines: [
    { article: 'book', count: 2 },
    { article: 'pencil', count: 10 },
  ],
}
const response = await fetch(`${shop.url}/orders`, { method: 'POST', body: JSON.stringify(order) })
const { total } = await response.json()
shop.close()
assert.equal(response.status, 201)
assert.equal(total, 2 * 1890 + 1080 + 490)
const known = state.accumulated_errors.length
const result = `a customer ordered for ${total / 100} euros${known === 0 ? '' : `, ${known} known errors`}`
console.log(JSON.stringify({ status: 'success', result, metrics: { orders: 1 } }))
