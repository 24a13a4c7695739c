import assert from 'node:assert/strict'
import { startShop } from '../../../app/server.mjs'

const shop = await startShop()
const answer = await fetch(`${shop.url}/health`)
shop.close()
assert.deepEqual(await answer.json(), { ok: true })
console.log('it starts and says how it is')
