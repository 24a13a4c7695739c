import type { JsonObject } from '../../../src/core/json.ts'
import { expect, it } from 'vitest'
import { unnamedPath } from '../../../src/tools/call/consent.ts'

const secret = '/home/u/.bashrc'

it.each<[JsonObject]>([
  [{ path: secret }],
  [{ filePath: secret }],
  [{ file_name: secret }],
  [{ paths: [secret] }],
  [{ directories: [secret] }],
  [{ paths: ['notes.md', secret] }],
  [{ files: [{ path: 'notes.md' }, { path: secret, content: 'x' }] }],
  [{ files: { [secret]: 'x' } }],
  [{ options: { output: { outputFile: secret } } }],
  [{ outputFile: secret }],
  [{ outputDir: secret }],
  [{ 'output-file': secret }],
  [{ saveTo: secret }],
  [{ save_as: secret }],
  [{ destination: secret }],
])('recognises the path that the request does not name in %j', (params) => {
  expect(unnamedPath(params, 'write the notes to notes.md')).toBe(secret)
  expect(unnamedPath(params, `write notes.md and ${secret}`)).toBeUndefined()
})

it('recognises the address of a file under any name, and reads the path as its name', () => {
  const params = { where: 'file:///home/u/.bashrc' }
  expect(unnamedPath(params, 'write the notes')).toBe('file:///home/u/.bashrc')
  expect(unnamedPath(params, `write to ${secret}`)).toBeUndefined()
  expect(unnamedPath({ where: 'FILE:///etc/x' }, 'write the notes')).toBe('FILE:///etc/x')
})

it.each<[JsonObject]>([
  [{ content: 'see /etc/hosts' }],
  [{ target: 'button-7' }],
  [{ profile: 'a/b' }],
  [{ url: 'https://example.org/x' }],
  [{ files: [{ content: 'a/b' }] }],
  [{ count: 3, deep: null }],
])('does not read other values as a path: %j', (params) => {
  expect(unnamedPath(params, 'do it')).toBeUndefined()
})
