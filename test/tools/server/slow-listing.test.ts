import { afterEach, expect, it } from 'vitest'
import { openServers, type ServerPool } from '../../../src/tools/server/pool.ts'
import type { ServerDefinition } from '../../../src/tools/config/model.ts'
import { definition, emptyRuntime } from './_servers.ts'

const answerInitialize = `
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (method !== 'initialize') return
  const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})`

function silent(more: Partial<ServerDefinition>): ServerDefinition {
  const args = ['-e', answerInitialize]
  return definition('silent', { kind: 'stdio', command: process.execPath, args, env: {} }, more)
}

let pool: ServerPool
afterEach(async () => {
  await pool.close()
})

it('explains the timeout when a server lists no tools', async () => {
  pool = openServers([silent({ callTimeoutMs: 1000 })], { runtime: emptyRuntime() })
  const { failures } = await pool.list()
  expect(failures).toMatchObject([
    { server: 'silent', message: 'The server silent runs and did not list its tools within 1 s' },
  ])
})

it('waits for a server at most as long as its caller', async () => {
  pool = openServers([silent({})], { runtime: emptyRuntime() })
  const { failures } = await pool.list({ patienceMs: () => 50 })
  expect(failures).toMatchObject([
    { message: 'The server silent gave no answer within 0.05 s and was not waited for' },
  ])
})

it.each([
  ['http', 'http://127.0.0.1:44999/mcp', 'nothing answers there (ECONNREFUSED)'],
  ['sse', 'http://127.0.0.1:44999/sse', 'ECONNREFUSED'],
] as const)('reports over %s that no server answers there', async (kind, url, why) => {
  pool = openServers([definition('down', { kind, url, headers: {} })], { runtime: emptyRuntime() })
  const { failures } = await pool.list()
  expect(failures[0]?.message).toContain(why)
})
