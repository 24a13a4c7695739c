import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const source = fileURLToPath(new URL('../../../src', import.meta.url))

/** Rooms that could reach a server, in files outside the part that is the connection itself. */
const rooms = ['tools', 'workflow', 'agent', 'mcp', 'cli', 'testing']

function filesWith(pattern: RegExp): string[] {
  return rooms
    .flatMap((room) => globSync(`${room}/**/*.ts`, { cwd: source }))
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.startsWith('tools/server/'))
    .filter((file) => pattern.test(readFileSync(join(source, file), 'utf8')))
    .toSorted()
}

it('calls the tools of servers in only one folder', () => {
  expect(filesWith(/\b(?:server|connection|client|toolServer)\.call\(|\)\s*\.call\(/)).toEqual([
    'tools/call/call-tool.ts',
  ])
})

it('lets only the tools folder name a connection', () => {
  const files = filesWith(/\bToolServer\b/)
  expect(files.filter((file) => !file.startsWith('tools/'))).toEqual([])
})
