import assert from 'node:assert/strict'
import { startShop } from '../../../app/server.mjs'

const shop = await startShop()
const body = JSON.stringify({ lines: [{ article: 'unicorn', count: 1 }] })
const response = await fetch(`${shop.url}/orders`, { method: 'POST', body })
const { error } = await response.json()
shop.close()
assert.deepEqual([response.status, error], [422, 'no article unicorn'])
console.log('an unknown article is refused')
