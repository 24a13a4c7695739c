import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { writeFileAtomicSync } from '../../src/core/write-files.ts'

it('a write removes the temporary files of a killed write to the same file, and nothing else', () => {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-leftovers-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const put = (name: string, ageSeconds: number): string => {
    writeFileSync(join(directory, name), '')
    const at = Date.now() / 1000 - ageSeconds
    utimesSync(join(directory, name), at, at)
    return name
  }
  put('.SKILL.md.0123456789.tmp', 3600)
  const kept = [
    put('.SKILL.md.abcdefghij.tmp', 5),
    put('.other.md.0123456789.tmp', 3600),
    put('.SKILL.md.notes.tmp', 3600),
  ]
  writeFileAtomicSync(join(directory, 'SKILL.md'), 'text')
  expect(readdirSync(directory).toSorted((a, b) => a.localeCompare(b))).toEqual(
    [...kept, 'SKILL.md'].toSorted((a, b) => a.localeCompare(b)),
  )
})
