import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { listSkillFiles } from '../../src/library/skill-files.ts'

const base = mkdtempSync(join(tmpdir(), 'skillrail-files-'))

afterEach(() => rmSync(base, { recursive: true, force: true }))

it('leaves out a link whose real target is outside, whatever its text is', () => {
  const skill = join(base, 'skill')
  mkdirSync(join(base, 'outside', 'deep'), { recursive: true })
  mkdirSync(skill)
  writeFileSync(join(base, 'outside', 'secret.txt'), 'secret')
  writeFileSync(join(skill, 'secret.txt'), 'a decoy')
  symlinkSync(join(base, 'outside', 'deep'), join(skill, 'up'))
  // By its text this is the decoy; the system goes through `up` to the file outside.
  symlinkSync('up/../secret.txt', join(skill, 'notes.txt'))
  symlinkSync('secret.txt', join(skill, 'inner.txt'))

  expect(listSkillFiles(skill).map(({ path }) => path)).toEqual(['inner.txt', 'secret.txt'])
})
