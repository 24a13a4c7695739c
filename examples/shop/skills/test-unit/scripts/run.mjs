import assert from 'node:assert/strict'
import { total } from '../../../app/price.mjs'

const cases = [
  () => assert.deepEqual(total([]), { goods: 0, postage: 0 }),
  () => assert.equal(total([{ price: 100, count: 9 }]).goods, 900),
  () => assert.equal(total([{ price: 100, count: 10 }]).goods, 900),
  () => assert.equal(total([{ price: 5000, count: 1 }]).postage, 0),
  () => assert.throws(() => total([{ price: 1, count: -1 }]), RangeError),
]
for (const test of cases) test()
const output = {
  status: 'success',
  result: `${cases.length} tests of the prices`,
  metrics: { tests: cases.length },
}
console.log(JSON.stringify(output))
