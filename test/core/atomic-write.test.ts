import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { StateFileError } from '../../src/core/errors.ts'
import { writeFileAtomic, writeFileAtomicSync } from '../../src/core/write-files.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'skillrail-write-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

it('creates missing directories and writes the content', async () => {
  const path = join(directory, 'a/b/file.json')
  await writeFileAtomic(path, 'text')
  expect(readFileSync(path, 'utf8')).toBe('text')
})

it.skipIf(process.platform === 'win32').each(['itself', 'a link to it'])(
  'neither replaces a pipe nor waits for its reader (%s)',
  (which) => {
    const pipe = join(directory, 'pipe')
    execFileSync('mkfifo', [pipe])
    symlinkSync(pipe, join(directory, 'link'))
    const path = which === 'itself' ? pipe : join(directory, 'link')
    expect(() => writeFileAtomicSync(path, 'text')).toThrow(StateFileError)
    expect(statSync(path).isFIFO()).toBe(true)
    expect(readdirSync(directory)).toEqual(['link', 'pipe'])
  },
)

it('keeps the permissions of an existing file and applies the option to a new file', () => {
  const path = join(directory, 'file')
  writeFileAtomicSync(path, 'one', { mode: 0o600 })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  chmodSync(path, 0o640)
  writeFileAtomicSync(path, 'two')
  expect(statSync(path).mode & 0o777).toBe(0o640)
})

it('replaces what a symbolic link points to and keeps the link', () => {
  const target = join(directory, 'target')
  const link = join(directory, 'link')
  writeFileSync(target, 'old')
  symlinkSync('target', link)
  writeFileAtomicSync(link, 'new')
  expect(readlinkSync(link)).toBe('target')
  expect(readFileSync(target, 'utf8')).toBe('new')
})

it('leaves the old content and no temporary file if it cannot replace the file', () => {
  mkdirSync(join(directory, 'taken'))
  writeFileSync(join(directory, 'taken/inside'), 'x')
  expect(() => writeFileAtomicSync(join(directory, 'taken'), 'text')).toThrow(
    /EISDIR|ENOTEMPTY|EEXIST/,
  )
  expect(readdirSync(directory)).toEqual(['taken'])
})
