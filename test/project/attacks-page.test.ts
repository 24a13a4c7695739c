import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = new URL('../..', import.meta.url).pathname
const page = readFileSync(join(root, 'docs/internals/attacks.md'), 'utf8')
const rows = [...page.matchAll(/\| `(test\/\S+\.ts)`: (.+?) +\|$/gm)].map(
  ([, file = '', title = '']) => ({
    file,
    title,
  }),
)

it('names a test for every way in', () => {
  expect(rows.length).toBeGreaterThan(15)
})

it.each(rows)('$file has the test: $title', ({ file, title }) => {
  expect(readFileSync(join(root, file), 'utf8')).toContain(title)
})
