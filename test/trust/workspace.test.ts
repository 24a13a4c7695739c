import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findWorkspace } from '../../src/core/read-files.ts'
import { temporaryDirectory } from './_project.ts'

describe('findWorkspace', () => {
  it.each([
    ['the nearest directory with .git', ['p/.git', 'p/a/b'], 'p/a/b', 'p'],
    ['the directory itself without any', ['p/a'], 'p/a', 'p/a'],
    ['the inner one of two repositories', ['p/.git', 'p/v/.git', 'p/v/a'], 'p/v/a', 'p/v'],
    [
      'not a home that is kept in Git',
      ['home/.git', 'home/unpacked/a'],
      'home/unpacked/a',
      'home/unpacked/a',
    ],
    ['not a directory above the home', ['.git', 'home/a'], 'home/a', 'home/a'],
    ['the home where it was named', ['home/.git'], 'home', 'home'],
    [
      'a repository that lies in the home',
      ['home/.git', 'home/p/.git', 'home/p/a'],
      'home/p/a',
      'home/p',
    ],
  ])('finds %s', (_what, directories, start, expected) => {
    const root = temporaryDirectory()
    for (const directory of ['home', ...directories])
      mkdirSync(join(root, directory), { recursive: true })
    const home = join(root, 'home')
    expect(findWorkspace(join(root, start), { home })).toBe(join(root, expected))
  })

  it('finds the .git file of a worktree, and returns the real path', () => {
    const root = temporaryDirectory()
    mkdirSync(join(root, 'p/a'), { recursive: true })
    writeFileSync(join(root, 'p/.git'), 'gitdir: elsewhere\n')
    symlinkSync(join(root, 'p/a'), join(root, 'link'))
    expect(findWorkspace(join(root, 'link'), { home: '/nowhere' })).toBe(join(root, 'p'))
  })
})
