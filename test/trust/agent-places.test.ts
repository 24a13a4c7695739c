import { mkdirSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agentFilesIn, upTo } from '../../src/trust/project-files.ts'
import { temporaryDirectory, writeFiles } from './_project.ts'

function found(directory: string): string[] {
  return agentFilesIn(directory).files.map((path) => relative(directory, path))
}

describe('the files that define subagents in a directory', () => {
  it('are its Markdown files in one order, those of a folder before those of folders in it', () => {
    const directory = temporaryDirectory()
    const texts = ['b.md', 'a.MD', 'notes.txt', 'c.md.orig', 'md', 'a/z.md', 'a/b/y.md', 'B/x.md']
    writeFiles(directory, Object.fromEntries(texts.map((path) => [path, ''])))
    expect(found(directory)).toEqual(['a.MD', 'b.md', 'B/x.md', 'a/z.md', 'a/b/y.md'])
  })

  it('may be links, but no link to a folder is followed', () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { 'real/a.md': '', 'here/b.md': '' })
    symlinkSync('../real/a.md', join(directory, 'here/linked.md'))
    symlinkSync('../real', join(directory, 'here/folder'))
    expect(found(join(directory, 'here'))).toEqual(['b.md', 'linked.md'])
  })

  it('lie at most four folders deep', () => {
    const directory = temporaryDirectory()
    writeFiles(directory, { '1/2/3/4/a.md': '', '1/2/3/4/5/b.md': '' })
    expect(found(directory)).toEqual(['1/2/3/4/a.md'])
  })

  it('are at most 1,000, and it is said where the rest was left out', () => {
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
    ['where there is no such directory', 'missing'],
    ['where a file has its name', 'file'],
    ['below a file', 'file/agents'],
  ])('are none %s, which is not a problem', (_where, path) => {
    const directory = temporaryDirectory()
    writeFiles(directory, { file: '' })
    expect(agentFilesIn(join(directory, path))).toEqual({ files: [], problems: [] })
  })

  it('are none in a directory that cannot be read, which is said', () => {
    const directory = temporaryDirectory()
    symlinkSync('loop', join(directory, 'loop'))
    const path = join(directory, 'loop')
    expect(agentFilesIn(path)).toEqual({
      files: [],
      problems: [{ path, message: 'the directory cannot be read: ELOOP' }],
    })
  })

  it('are found beside a folder that has the name of a file', () => {
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
])('from %s up to %s lie %j', (from, root, directories) => {
  expect(upTo(from, root)).toEqual(directories)
})
