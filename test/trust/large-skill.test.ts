import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { collectSkillParts } from '../../src/trust/acting-parts.ts'
import { skillIn, temporaryDirectory, writeFiles } from './_project.ts'

it('a skill with more than 20,000 files and links cannot be verified', () => {
  const directory = temporaryDirectory()
  const files = Array.from({ length: 999 }, (_, index) => [`a/${index}.md`, ''])
  writeFiles(directory, Object.fromEntries(files))
  for (let index = 1; index < 20; index++) symlinkSync('a', join(directory, `link${index}`))
  expect(collectSkillParts(directory, skillIn(directory)).map(({ link }) => link)).toEqual(
    Array(19).fill('a'),
  )
  writeFileSync(join(directory, 'z.md'), '')
  expect(
    collectSkillParts(directory, skillIn(directory)).filter(({ link }) => link === undefined),
  ).toMatchObject([
    {
      kind: 'script',
      digest: 'unreadable',
      size: 0,
      problem: 'has more than 20000 files and directories',
    },
  ])
})
