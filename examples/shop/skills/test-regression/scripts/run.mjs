import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { total } from '../../../app/price.mjs'

const golden = JSON.parse(
  readFileSync(new URL('../../../app/prices.golden.json', import.meta.url), 'utf8'),
)
for (const { lines, ...expected } of golden) assert.deepEqual(total(lines), expected)
console.log(`${golden.length} prices are what they were`)
