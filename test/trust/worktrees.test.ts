import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runInProcess } from '../run-in-process.ts'
import { temporaryDirectory, writeFiles } from './_project.ts'

function makeRepository() {
  const base = temporaryDirectory()
  const main = join(base, 'main')
  const home = join(base, 'home')
  mkdirSync(home)
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
      cwd: main,
      env: { PATH: process.env['PATH'], HOME: home },
      stdio: 'ignore',
    })
  writeFiles(main, {
    '.skillrail/skills/build/SKILL.md':
      '---\nname: build\ndescription: Builds. Use for builds.\n---\n',
    '.skillrail/skills/build/scripts/run.sh': '#!/bin/sh\ntrue\n',
  })
  chmodSync(join(main, '.skillrail/skills/build/scripts/run.sh'), 0o755)
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  const trust = async (cwd: string, ...words: string[]) => {
    const { code, stdout } = await runInProcess(['trust', ...words], { cwd, home })
    return { code, stdout }
  }
  const addTree = (name: string): string => {
    git('worktree', 'add', '-q', join(base, name))
    return join(base, name)
  }
  const sameAs = async (cwd: string): Promise<string | undefined> =>
    JSON.parse((await trust(cwd, '--dry-run', '--json')).stdout).sameAs
  return { base, main, home, trust, addTree, sameAs }
}

describe('a linked working tree of a trusted repository', () => {
  it('is not trusted by itself, and is offered with one question if its content is the same', async () => {
    const { main, home, trust, addTree, sameAs } = makeRepository()
    await trust(main, '--yes', '--pin')
    const tree = addTree('tree')
    const listed = await runInProcess(['list', '--json'], { cwd: tree, home })
    expect(JSON.parse(listed.stdout).skills).toMatchObject([{ name: 'build', trust: 'untrusted' }])
    expect(await sameAs(tree)).toBe(main)
    expect((await trust(tree, '--dry-run')).stdout).not.toContain('run.sh')
    const accepted = JSON.parse((await trust(tree, '--yes', '--json')).stdout)
    expect(accepted).toMatchObject({ accepted: true, pinned: true, sameAs: main })
    const after = await runInProcess(['list', '--json'], { cwd: tree, home })
    expect(JSON.parse(after.stdout).skills).toMatchObject([{ name: 'build', trust: 'trusted' }])
  })

  it.each([
    ['a script', 'scripts/run.sh', '#!/bin/sh\nfalse\n'],
    ['a new file', 'scripts/lib.sh', 'true\n'],
  ])('is reviewed as a whole if %s differs', async (_what, path, text) => {
    const { main, trust, addTree, sameAs } = makeRepository()
    await trust(main, '--yes')
    const tree = addTree('tree')
    writeFileSync(join(tree, '.skillrail/skills/build', path), text, { mode: 0o755 })
    expect(await sameAs(tree)).toBeUndefined()
    expect((await trust(tree, '--dry-run')).stdout).toContain('run.sh')
  })

  it('makes the main tree and another linked tree as easy to trust', async () => {
    const { main, trust, addTree, sameAs } = makeRepository()
    const tree = addTree('tree')
    await trust(tree, '--yes')
    expect(await sameAs(main)).toBe(tree)
    expect(await sameAs(addTree('other'))).toBe(tree)
  })

  it('is not recognised by a `.git` file alone', async () => {
    const { base, main, trust, addTree, sameAs } = makeRepository()
    await trust(main, '--yes')
    const tree = addTree('tree')
    cpSync(tree, join(base, 'forged'), { recursive: true })
    expect(await sameAs(join(base, 'forged'))).toBeUndefined()
  })

  it('is not offered after the trust was revoked', async () => {
    const { main, trust, addTree, sameAs } = makeRepository()
    await trust(main, '--yes')
    const tree = addTree('tree')
    await trust(main, '--revoke')
    expect(await sameAs(tree)).toBeUndefined()
  })
})
