import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../src/core/errors.ts'
import { findSkillFiles, walkLimits, type WalkOptions } from '../../src/library/walk.ts'
import { fixture } from './_fixture.ts'

interface Found {
  paths: string[]
  diagnostics: Diagnostic[]
}

function find(root: string, options: WalkOptions = {}): Found {
  const diagnostics: Diagnostic[] = []
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic)
  const files = [...findSkillFiles(root, { report, ...options })]
  return { paths: files.map(({ path }) => relative(root, path)), diagnostics }
}

it('finds skills shallowest first, then in code-point order', () => {
  const { root, skill } = fixture()
  for (const name of ['b', 'a', 'Z', 'group/x', '10', '9', 'ä', '\u{1f600}', '\uffee']) {
    skill(`s/${name}`)
  }
  expect(find(join(root, 's')).paths.map((path) => path.replace('/SKILL.md', ''))).toEqual([
    '10',
    '9',
    'Z',
    'a',
    'b',
    'ä',
    '\uffee',
    '\u{1f600}',
    'group/x',
  ])
})

it('prefers SKILL.md to skill.md', () => {
  const { root, write } = fixture()
  write({ 's/a/skill.md': '', 's/b/SKILL.md': '', 's/b/skill.md': '' })
  expect(find(join(root, 's')).paths).toEqual(['a/skill.md', 'b/SKILL.md'])
})

it('accepts a skill or a SKILL.md as the root', () => {
  const { root, skill } = fixture()
  skill('s/a')
  expect(find(join(root, 's/a')).paths).toEqual(['SKILL.md'])
  expect([...findSkillFiles(join(root, 's/a/SKILL.md'))].map(({ directory }) => directory)).toEqual(
    [join(root, 's/a')],
  )
})

it('searches inside a skill, but not in its folders of resources', () => {
  const { root, skill } = fixture()
  for (const path of ['', '/steps/b', '/scripts/c', '/references/d', '/assets/e'])
    skill(`s/a${path}`)
  expect(find(join(root, 's')).paths).toEqual(['a/SKILL.md', 'a/steps/b/SKILL.md'])
})

it('skips .git and node_modules everywhere, but no other hidden directory', () => {
  const { root, skill } = fixture()
  for (const path of ['.git/a', 'x/node_modules/b', '.claude/skills/c']) skill(`s/${path}`)
  expect(find(join(root, 's')).paths).toEqual(['.claude/skills/c/SKILL.md'])
})

describe('limits', () => {
  it('stop six levels below a standard location, and nowhere below an explicit one', () => {
    const { root, skill } = fixture()
    skill('s/1/2/3/4/5/6')
    skill('s/1/2/3/4/5/x/7')
    expect(find(join(root, 's'), { limits: walkLimits }).paths).toEqual(['1/2/3/4/5/6/SKILL.md'])
    expect(find(join(root, 's')).paths).toHaveLength(2)
  })

  it('count only directories without a skill, and report that the search stopped', () => {
    const { root, skill } = fixture()
    for (const name of ['a', 'b', 'c', 'd', 'e']) skill(`s/${name}`)
    for (const name of ['v', 'w', 'x', 'y']) mkdirSync(join(root, 's', name))
    skill('s/y/late')
    const few = find(join(root, 's'), { limits: { depth: 6, directories: 3 } })
    expect(few.paths).toHaveLength(5)
    expect(few.diagnostics.map(({ code }) => code)).toEqual(['search-limit'])
    const enough = find(join(root, 's'), { limits: { depth: 6, directories: 4 } })
    expect(enough.paths).toHaveLength(6)
    expect(enough.diagnostics).toEqual([])
  })
})

describe('links', () => {
  it('are followed to directories, each real directory once', () => {
    const { root, skill } = fixture()
    skill('elsewhere/a')
    skill('s/b')
    symlinkSync(join(root, 'elsewhere/a'), join(root, 's/a'))
    symlinkSync(join(root, 's/b'), join(root, 's/again'))
    symlinkSync(join(root, 'elsewhere'), join(root, 's/z'))
    expect(find(join(root, 's')).paths).toEqual(['b/SKILL.md', 'a/SKILL.md'])
  })

  it('end if they lead in a circle', () => {
    const { root, skill } = fixture()
    skill('s/a')
    symlinkSync(join(root, 's'), join(root, 's/a/up'))
    symlinkSync('.', join(root, 's/self'))
    symlinkSync('loop-2', join(root, 's/loop-1'))
    symlinkSync('loop-1', join(root, 's/loop-2'))
    const { paths, diagnostics } = find(join(root, 's'))
    expect(paths).toEqual(['a/SKILL.md'])
    expect(diagnostics.map(({ code }) => code)).toEqual(['link-broken', 'link-broken'])
  })

  it('are reported if they lead nowhere', () => {
    const { root, skill } = fixture()
    skill('s/a')
    symlinkSync('gone', join(root, 's/link'))
    const { paths, diagnostics } = find(join(root, 's'))
    expect(paths).toEqual(['a/SKILL.md'])
    expect(diagnostics).toMatchObject([{ code: 'link-broken', path: join(root, 's/link') }])
  })
})

describe('the search beside an unusable entry', () => {
  it('reports a directory called SKILL.md', () => {
    const { root, skill } = fixture()
    skill('s/good')
    mkdirSync(join(root, 's/bad/SKILL.md'), { recursive: true })
    const { paths, diagnostics } = find(join(root, 's'))
    expect(paths).toEqual(['good/SKILL.md'])
    expect(diagnostics).toMatchObject([
      { code: 'file-not-regular', path: join(root, 's/bad/SKILL.md'), severity: 'error' },
    ])
    expect(diagnostics[0]?.message).toBe('SKILL.md is a directory; it must be a regular file')
  })

  it.skipIf(process.platform === 'win32')('reports a named pipe', () => {
    const { root, skill } = fixture()
    skill('s/good')
    mkdirSync(join(root, 's/bad'))
    execFileSync('mkfifo', [join(root, 's/bad/SKILL.md')])
    const { paths, diagnostics } = find(join(root, 's'))
    expect(paths).toEqual(['good/SKILL.md'])
    expect(diagnostics).toMatchObject([{ code: 'file-not-regular' }])
  })

  it('reports a file whose name has another case', () => {
    const { root, write, skill } = fixture()
    skill('s/good')
    write({ 's/bad/Skill.md': '' })
    const { paths, diagnostics } = find(join(root, 's'))
    expect(paths).toEqual(['good/SKILL.md'])
    expect(diagnostics).toMatchObject([{ code: 'skill-file-case', hint: 'Rename it to SKILL.md.' }])
  })

  it('reports a root that does not exist', () => {
    const { root } = fixture()
    const { paths, diagnostics } = find(join(root, 'gone'))
    expect(paths).toEqual([])
    expect(diagnostics).toMatchObject([{ code: 'directory-missing' }])
  })
})
