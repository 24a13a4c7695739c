import { mkdirSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agentFilesIn } from '../../src/trust/agent-files.ts'
import { upTo } from '../../src/core/folders.ts'
import { temporaryDirectory, writeFiles } from './_project.ts'

function found(directory: string): string[] {
  return agentFilesIn(directory).files.map((path) => relative(directory, path))
}

describe('the search for files that define subagents', () => {
  it('finds Markdown files in code-point order, files of a folder before files of its subfolders', () => {
    const directory = temporaryDirectory()
    const texts = ['b.md', 'a.MD', 'notes.txt', 'c.md.orig', 'md', 'a/z.md', 'a/b/y.md', 'B/x.md']
    writeFiles(directory, Object.fromEntries(texts.map((path) => [path, ''])))
    expect(found(directory)).toEqual(['a.MD', 'b.md', 'B/x.md', 'a/z.md', 'a/b/y.md'])
  })

  it('follows links to files, but not links to folders', () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { 'real/a.md': '', 'here/b.md': '' })
    symlinkSync('../real/a.md', join(directory, 'here/linked.md'))
    symlinkSync('../real', join(directory, 'here/folder'))
    expect(found(join(directory, 'here'))).toEqual(['b.md', 'linked.md'])
  })

  it('goes four folders deep', () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { '1/2/3/4/a.md': '', '1/2/3/4/5/b.md': '' })
    expect(found(directory)).toEqual(['1/2/3/4/a.md'])
  })

  it('stops after 1,000 files and reports where the rest was left out', () => {
    const directory = temporaryDirectory()
    const many = Array.from({ length: 1000 }, (_, index) => [`${index}.md`, ''])
    writeFiles(directory, Object.fromEntries(many))
    expect(agentFilesIn(directory)).toMatchObject({ files: { length: 1000 }, problems: [] })
    writeFiles(directory, { 'more.md': '' })
    const message = 'there are more than 1000 files; the rest is not read'
    expect(agentFilesIn(directory)).toMatchObject({
      files: { length: 1000 },
      problems: [{ path: directory, message }],
    })
  })

  it.each([
    ['in a missing directory', 'missing'],
    ['in a file', 'file'],
    ['below a file', 'file/agents'],
  ])('finds nothing %s, without a problem', (_where, path) => {
    const directory = temporaryDirectory()
    writeFiles(directory, { file: '' })
    expect(agentFilesIn(join(directory, path))).toEqual({ files: [], problems: [] })
  })

  it('reports a directory that cannot be read', () => {
    const directory = temporaryDirectory()
    symlinkSync('loop', join(directory, 'loop'))
    const path = join(directory, 'loop')
    expect(agentFilesIn(path)).toEqual({
      files: [],
      problems: [{ path, message: 'the directory cannot be read: ELOOP' }],
    })
  })

  it('finds files beside a folder whose name ends like a file', () => {
    const directory = temporaryDirectory()
    mkdirSync(join(directory, 'folder.md'))
    writeFiles(directory, { 'folder.md/a.md': '', 'b.md': '' })
    expect(found(directory)).toEqual(['b.md', 'folder.md/a.md'])
  })
})

it.each([
  ['/w/packages/web', '/w', ['/w/packages/web', '/w/packages', '/w']],
  ['/w', '/w', ['/w']],
  ['/w/a', '/elsewhere', ['/w/a', '/w', '/']],
])('upTo goes from %s up to %s through %j', (from, root, directories) => {
  expect(upTo(from, root)).toEqual(directories)
})
