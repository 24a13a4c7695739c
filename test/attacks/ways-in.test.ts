import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { waysIn } from './ways-in.ts'

const root = new URL('../..', import.meta.url).pathname

it.each(waysIn)('$file has the test "$title"', ({ file, title }) => {
  const isThere = readFileSync(join(root, file), 'utf8').includes(title)
  expect({ title, isThere }).toEqual({ title, isThere: true })
})
