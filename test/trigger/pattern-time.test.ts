import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

const bench = new URL('../fixtures/programs/pattern-steps.ts', import.meta.url).pathname

it('ends in time on long lines that make other engines backtrack', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', bench],
    {
      encoding: 'utf8',
      timeout: 50_000,
    },
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({ finished: true })
})
