import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { startShop } from '../../../app/server.mjs'

const contract = JSON.parse(
  readFileSync(new URL('../../../app/contract.json', import.meta.url), 'utf8'),
)
const shop = await startShop()
const response = await fetch(`${shop.url}/orders`, { method: 'POST', body: '{ "lines": [] }' })
const order = await response.json()
shop.close()
const found = Object.fromEntries(Object.entries(order).map(([key, value]) => [key, typeof value]))
assert.deepEqual(found, contract.order)
console.log(`an order has ${Object.keys(found).join(', ')}`)
