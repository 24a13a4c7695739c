import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json.ts'
import { filesOf, missingUploads } from '../../../src/tools/call/upload-paths.ts'
import { scriptedProject } from './_scripted.ts'

const directory = mkdtempSync(join(tmpdir(), 'upload-'))
mkdirSync(join(directory, 'in'))
const picture = join(directory, 'in', 'x.png')
writeFileSync(picture, '')

const text = { type: 'string' }
const texts = { type: 'array', items: text }

function missing(name: string, properties: JsonObject, params: JsonObject) {
  const inputSchema = { type: 'object', properties }
  const tool = { id: `s__${name}`, server: 's', name, description: '', inputSchema }
  return missingUploads(tool, params, [join(directory, 'in'), directory]).map(({ path }) => path)
}

describe('a path to upload that does not exist', () => {
  it.each<[string, string, JsonObject, JsonObject]>([
    ['in a list', 'upload_file', { filePaths: texts }, { filePaths: [picture, '/nope/x.png'] }],
    ['alone', 'upload_file', { filePath: text }, { filePath: '/nope/x.png' }],
    [
      'of a parameter that says it',
      'send',
      { file: { ...text, description: 'The file to upload' } },
      { file: '/nope/x.png' },
    ],
    [
      'behind a reference',
      'file_upload',
      { paths: { type: 'array', items: { $ref: '#/properties/one' } }, one: text },
      { paths: ['/nope/x.png'] },
    ],
    [
      'or one of several texts',
      'uploadFiles',
      { paths: { anyOf: [text, texts] } },
      { paths: '/nope/x.png' },
    ],
  ])('is recognised %s', (_, name, properties, params) => {
    expect(missing(name, properties, params)).toEqual(['/nope/x.png'])
  })

  it.each<[string, string, JsonObject, JsonObject]>([
    ['a file that is there', 'upload_file', { path: text }, { path: picture }],
    ['one below the directory of the server', 'upload_file', { path: text }, { path: 'x.png' }],
    ['one below the project', 'upload_file', { path: text }, { path: 'in/x.png' }],
    ['its file address', 'upload_file', { path: text }, { path: pathToFileURL(picture).href }],
    ['an address', 'upload_file', { file: text }, { file: 'https://example.com/x.png' }],
    ['what only the server completes', 'upload_file', { path: text }, { path: '~/x.png' }],
    ['a text that is no path', 'upload_file', { content: text }, { content: '/nope/x.png' }],
    ['a path to write', 'take_screenshot', { filePath: text }, { filePath: '/nope/x.png' }],
    ['no path at all', 'upload_file', { filePaths: texts }, {}],
  ])('is not recognised %s', (_, name, properties, params) => {
    expect(missing(name, properties, params)).toEqual([])
  })
})

it('is not checked for a server that does not read the files of this machine', () => {
  const stdio = (command: string) => ({ kind: 'stdio' as const, command, args: [], env: {} })
  expect(filesOf({ kind: 'http', url: 'https://example.com', headers: {} }, '/p')).toBeUndefined()
  expect(filesOf(stdio('/usr/bin/docker'), '/p')).toBeUndefined()
  expect(filesOf(stdio('node'), '/p')).toEqual(['/p'])
  expect(filesOf({ ...stdio('npx'), cwd: '/q' }, '/p')).toEqual(['/q', '/p'])
})

it('stops a call, a batch and a plan before the server is asked', { timeout: 60_000 }, async () => {
  const inputSchema = { type: 'object', properties: { filePaths: texts }, required: ['filePaths'] }
  const project = scriptedProject({ upload_file: { inputSchema } })
  const params = '{"filePaths":["/nope/x.png"]}'
  const called = await project.run(['tools', 'call', 'things__upload_file', params])
  expect(called).toMatchObject({ code: 2, stderr: expect.stringContaining('/nope/x.png') })
  const batch = `BATCH: [{"tool": "things__upload_file", "params": ${params}}]`
  expect(await project.run(['tools', 'batch', batch])).toMatchObject({ code: 1 })
  expect(await project.run(['tools', 'batch', batch, '--dry-run'])).toMatchObject({ code: 2 })
  expect(project.calls()).toEqual([])
  const there = JSON.stringify({ filePaths: [picture] })
  expect((await project.run(['tools', 'call', 'things__upload_file', there])).code).toBe(0)
  expect(project.calls()).toHaveLength(1)
})
