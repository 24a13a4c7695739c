import { existsSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  makeDirectory,
  makePrivateDirectory,
  writeFileAtomicSync,
} from '../../src/core/write-files.ts'

const place = (): string => mkdtempSync(join(tmpdir(), 'skillrail-directory-'))

it('creates missing directories, and leaves existing ones unchanged', () => {
  const root = place()
  makeDirectory(join(root, 'a'), 0o711)
  makeDirectory(join(root, 'a', 'b', '..', 'c'), 0o700)
  makeDirectory(join(root, 'a', 'c'))
  const modes = ['a', 'a/c'].map((name) => statSync(join(root, name)).mode & 0o777)
  expect([...modes, existsSync(join(root, 'a', 'b'))]).toEqual([0o711, 0o700, false])
})

it('follows links to directories', () => {
  const root = place()
  makeDirectory(join(root, 'there'))
  symlinkSync('there', join(root, 'link'))
  makeDirectory(join(root, 'link', 'below'))
  expect(existsSync(join(root, 'there', 'below'))).toBe(true)
})

it.each([
  ['a file', 'file', 'EEXIST'],
  ['below a file', 'file/a/b', 'ENOTDIR'],
  ['a link to nothing', 'nowhere', 'EEXIST'],
])('reports why a directory cannot be created: %s', (_what, path, code) => {
  const root = place()
  writeFileSync(join(root, 'file'), '')
  symlinkSync('none', join(root, 'nowhere'))
  expect(() => makeDirectory(join(root, path))).toThrow(code)
})

it.runIf(existsSync('/proc/self'))('ends in a place where nothing can be created', () => {
  expect(() => makeDirectory('/proc/none/below')).toThrow('ENOENT')
  expect(() => makePrivateDirectory('/proc/none/below')).toThrow('ENOENT')
  expect(() => writeFileAtomicSync('/proc/none/below', '')).toThrow('ENOENT')
})
