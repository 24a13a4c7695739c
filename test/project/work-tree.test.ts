import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordedTree, treeOfCommit } from '../../src/project/work-tree.ts'
import { Git } from '../../src/project/git.ts'
import { makeRepository, type Repository } from './_repository.ts'

let repository: Repository
beforeEach(() => {
  repository = makeRepository()
  repository.write('a.txt', 'a\n')
  repository.commit()
})
afterEach(() => repository.remove())

const runtime = () => ({
  env: { PATH: process.env['PATH'], HOME: repository.home },
  platform: process.platform,
  cwd: repository.directory,
})
const recorded = () => recordedTree(repository.directory, runtime())

function treeOf(commit: string): string {
  const git = Git.in(repository.directory, runtime())
  if (!git) throw new Error('no git')
  return treeOfCommit(git, commit)
}

function treeNow(): string {
  const tree = recorded()
  if (tree === undefined || 'problem' in tree) throw new Error(tree?.problem ?? 'none')
  return tree.tree
}

describe('the tree at the end of a run', () => {
  it('is the one that a commit of all files has', () => {
    repository.write('.gitignore', 'ignored\n')
    repository.write('ignored', 'x')
    repository.write('new/b.txt', 'b\n')
    repository.write('a.txt', 'changed\n')
    const tree = recorded()
    expect(tree).toMatchObject({
      commit: repository.git('rev-parse', 'HEAD'),
      uncommitted: { count: 3, paths: ['.gitignore', 'a.txt', 'new/b.txt'] },
    })
    expect(treeNow()).toBe(treeOf(repository.commit()))
    expect(recorded()).toMatchObject({ uncommitted: { count: 0, paths: [] } })
  })

  it('leaves the repository as it is', () => {
    const state = () => [
      repository.git('count-objects', '-v'),
      readFileSync(join(repository.directory, '.git/index')).toString('base64'),
      repository.git('status', '--porcelain'),
    ]
    repository.write('b.txt', 'b\n')
    const before = state()
    recorded()
    expect(state()).toEqual(before)
  })

  it('does not count proofs and their signatures, and nothing else in their folder', () => {
    const before = treeNow()
    repository.write('.skillrail/proofs/0a.json', '{}')
    repository.write('.skillrail/proofs/0a.json.sig', 'x')
    expect(treeNow()).toBe(before)
    expect(treeOf(repository.commit())).toBe(before)
    for (const path of ['proofs/run.sh', 'proofs/below/0a.json', 'proofs2/0a.json']) {
      repository.write(`.skillrail/${path}`, 'x')
      expect(treeNow()).not.toBe(before)
      execFileSync('rm', ['-r', join(repository.directory, '.skillrail', path)])
    }
    symlinkSync('../../a.txt', join(repository.directory, '.skillrail/proofs/0b.json'))
    expect(treeNow()).not.toBe(before)
  })

  it.each(['--assume-unchanged', '--skip-worktree'])(
    'has a change that Git was told not to see with %s',
    (mark) => {
      const before = treeNow()
      repository.git('update-index', mark, 'a.txt')
      repository.write('a.txt', 'changed\n')
      expect(repository.git('status', '--porcelain')).toBe('')
      expect(treeNow()).not.toBe(before)
    },
  )

  it.each([
    [
      'a filter',
      'filter.x.clean',
      '*.txt filter=x\n',
      { problem: 'the configuration of the repository names a program: filter.x.clean' },
    ],
    ['a monitor', 'core.fsmonitor', '# none\n', { tree: expect.any(String) }],
  ])('starts no program that the repository names as %s', (_, key, attributes, tree) => {
    const mark = join(repository.home, 'started')
    const program = join(repository.home, 'program.sh')
    writeFileSync(program, `#!/bin/sh\ntouch ${mark}\ncat\n`, { mode: 0o755 })
    repository.write('.gitattributes', attributes)
    repository.write('a.txt', 'changed\n')
    repository.git('config', key, program)
    expect(recorded()).toMatchObject(tree)
    expect(existsSync(mark)).toBe(false)
  })

  it('starts no hook of the repository', () => {
    const mark = join(repository.home, 'started')
    const hook = join(repository.directory, '.git/hooks/post-index-change')
    writeFileSync(hook, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
    repository.write('a.txt', 'changed\n')
    treeNow()
    expect(existsSync(mark)).toBe(false)
    expect(readdirSync(repository.directory)).toContain('a.txt')
  })

  it('is unknown outside of a repository, and says why in a broken one', () => {
    expect(recordedTree(repository.home, runtime())).toBeUndefined()
    writeFileSync(join(repository.directory, '.git/HEAD'), '')
    expect(recorded()).toHaveProperty('problem')
  })
})
