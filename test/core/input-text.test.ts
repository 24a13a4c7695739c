import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { inputText } from '../../src/core/input-text.ts'

it.each([
  ['a missing file', 'gone.json', 'does not exist'],
  ['a directory', '.', 'is a directory'],
])('names %s once in the error', async (_what, name, problem) => {
  const cwd = tmpdir()
  const work = inputText(`@${name}`, { runtime: { cwd }, stdin: () => Promise.resolve('') })
  await expect(work).rejects.toThrow(`${join(cwd, name)} ${problem}`)
  await expect(work).rejects.not.toThrow(`: ${cwd}`)
})
