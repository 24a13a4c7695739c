import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { triggerRules } from '../../src/trigger/check.ts'

const room = join(import.meta.dirname, '../../src/trigger')

it('every code of the trigger rules has one sentence', () => {
  const text = readdirSync(room)
    .filter((name) => name.endsWith('.ts') && name !== 'rules.ts')
    .map((name) => readFileSync(join(room, name), 'utf8'))
    .join('\n')
  const named = [...text.matchAll(/'((?:trigger|pattern|prompt-case)-[a-z-]+)'/g)].map(
    ([, code = '']) => code,
  )
  expect([...new Set(named)].toSorted()).toEqual(triggerRules.map(({ code }) => code).toSorted())
})
