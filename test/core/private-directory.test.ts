import { mkdirSync, mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makePrivateDirectory, writeFileAtomicSync } from '../../src/core/write-files.ts'
import { openJournal } from '../../src/core/journal-file.ts'
import { seal } from '../journal-seal.ts'

const modeOf = (...parts: string[]): number => statSync(join(...parts)).mode & 0o777
const place = (): string => mkdtempSync(join(tmpdir(), 'skillrail-private-'))

describe('makePrivateDirectory', () => {
  it('creates directories on every level that only the user can open', () => {
    const root = place()
    makePrivateDirectory(join(root, 'a', 'b'))
    expect([modeOf(root, 'a'), modeOf(root, 'a', 'b')]).toEqual([0o700, 0o700])
  })

  it('leaves a shared project directory and existing directories unchanged', () => {
    const root = place()
    mkdirSync(join(root, 'there'), { mode: 0o755 })
    makePrivateDirectory(join(root, 'there', '.skillrail', 'runs'))
    const usual = 0o777 & ~process.umask()
    expect(modeOf(root, 'there', '.skillrail')).toBe(usual)
    expect(modeOf(root, 'there', '.skillrail', 'runs')).toBe(0o700)
    expect(modeOf(root, 'there')).toBe(0o755 & ~process.umask())
  })
})

it('creates private directories for a private file and normal ones for another file', () => {
  const root = place()
  writeFileAtomicSync(join(root, 'state', 'x'), '', { mode: 0o600 })
  openJournal(join(root, 'runs', 'x'), seal).close()
  writeFileAtomicSync(join(root, 'page', 'x'), '')
  expect([modeOf(root, 'state'), modeOf(root, 'runs')]).toEqual([0o700, 0o700])
  expect(modeOf(root, 'page')).toBe(0o777 & ~process.umask())
})
