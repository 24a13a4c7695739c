import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { installedHash } from '../../src/trust/installed-lock.ts'
import { temporaryDirectory } from './_project.ts'

const mebibyte = 1024 * 1024

function skill(files: Record<string, string>, directories: readonly string[] = []): string {
  const root = temporaryDirectory()
  for (const name of directories) mkdirSync(join(root, name), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  return root
}

it.each([
  ['files', ['a', 'b', 'c', 'd'], []],
  ['directories without a file', [], ['a/b/c/d']],
  ['both', ['x', 'a/y'], ['a', 'b']],
])('counts %s, and stops at the limit', (_, files, directories) => {
  const directory = skill(Object.fromEntries(files.map((name) => [name, ''])), directories)
  const limited = (entries: number): unknown => installedHash(directory, { entries, bytes: 10 })
  expect(limited(4)).toMatchObject({ ok: true })
  expect(limited(3)).toEqual({ ok: false, problem: 'has more than 3 entries' })
})

it('counts nothing below the directories that have no part in the hash', () => {
  const directory = skill({}, ['.git/a/b', 'node_modules/a/b'])
  expect(installedHash(directory, { entries: 2, bytes: 10 })).toMatchObject({ ok: true })
})

it('reads no more than its limit of bytes', () => {
  const directory = skill({ a: 'x', b: '' })
  truncateSync(join(directory, 'b'), 2 * mebibyte - 1)
  const limited = (bytes: number): unknown => installedHash(directory, { entries: 10, bytes })
  expect(limited(2 * mebibyte)).toMatchObject({ ok: true })
  truncateSync(join(directory, 'b'), 2 * mebibyte)
  expect(limited(2 * mebibyte)).toEqual({ ok: false, problem: 'has more than 2 MiB' })
})

it('reads no file that is larger than one of a skill may be', () => {
  const directory = skill({ 'SKILL.md': 'x', huge: '' })
  truncateSync(join(directory, 'huge'), 64 * mebibyte + 1)
  expect(installedHash(directory)).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/^huge .*64 MiB/),
  })
})
