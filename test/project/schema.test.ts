import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { expect, it } from 'vitest'

const schema: object = JSON.parse(
  readFileSync(new URL('../../schema/config.json', import.meta.url), 'utf8'),
)
const check = new Ajv().compile(schema)

it.each([
  [{ workspaceTrust: 'trusted', run: { environment: ['TOKEN'] } }, true],
  [{ $schema: './schema.json', hooks: { repeat: 'session' }, tools: { retryWaits: [0, 1] } }, true],
  [{ hooks: { repeat: 'sesion' } }, false],
  [{ run: { shel: 1 } }, false],
])('judges with the schema for editors %j as %j', (settings, valid) => {
  expect(check(settings)).toBe(valid)
})
