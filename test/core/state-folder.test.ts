import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { integer, object, text } from '../../src/core/shapes.ts'
import { readStateFile, readStateFolder } from '../../src/core/state-folder.ts'

const schema = object({ name: text, size: integer })
const whole = '{"name":"a","size":1}'
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'state-folder-'))
})

describe('a state folder', () => {
  it('has no files if it does not exist', () => {
    expect(readStateFolder(join(folder, 'missing'), schema)).toEqual([])
  })

  it('is one unreadable file with its own path if it cannot be listed', () => {
    const path = join(folder, 'a file')
    writeFileSync(path, whole)
    expect(readStateFolder(path, schema)).toMatchObject([{ kind: 'unreadable', path }])
  })

  it('contains only the files that end in .json', () => {
    const path = join(folder, 'a.json')
    writeFileSync(path, whole)
    writeFileSync(join(folder, 'a.json.lock'), '')
    const value = { name: 'a', size: 1 }
    expect(readStateFolder(folder, schema)).toEqual([{ kind: 'read', path, value }])
  })

  it.each([
    ['a value of a wrong type', '{"name":"a","size":"1"}'],
    ['a missing value', '{"name":"a"}'],
    ['only half of its text', whole.slice(0, 12)],
    ['no text', ''],
  ])('reports a file with %s as unreadable, and reads the others', (_what, content) => {
    const path = join(folder, 'b.json')
    writeFileSync(join(folder, 'a.json'), whole)
    writeFileSync(path, content)
    const files = readStateFolder(folder, schema)
    expect(files.map(({ kind }) => kind).toSorted()).toEqual(['read', 'unreadable'])
    expect(files).toContainEqual(expect.objectContaining({ kind: 'unreadable', path }))
    expect(readStateFile(path, schema)).toMatchObject({ kind: 'unreadable', path })
  })

  it('reports a folder in the place of a file as unreadable', () => {
    const path = join(folder, 'a.json')
    mkdirSync(path)
    expect(readStateFolder(folder, schema)).toMatchObject([{ kind: 'unreadable', path }])
  })
})

it('reads no file that does not exist', () => {
  expect(readStateFile(join(folder, 'a.json'), schema)).toBeUndefined()
})
