import assert from 'node:assert/strict'
import { startShop } from '../../../app/server.mjs'

const shop = await startShop()
const { status } = await fetch(`${shop.url}/health`)
shop.close()
assert.equal(status, 200)
console.log('the shop starts and answers')
