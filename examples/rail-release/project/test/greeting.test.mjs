import assert from 'node:assert/strict'
import { test } from 'node:test'
import { greeting } from '../src/greeting.mjs'

test('greets a person by name', () => {
  assert.equal(greeting('Ada'), 'Hello, Ada!')
})
