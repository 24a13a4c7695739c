// What a call through a pool of ours costs over the bare official client, on the same server over
// pipes, one call after the other in turns: the ratio of the time of whole rounds.
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { resolve } from 'node:path'
import { systemRuntime } from '../../src/core/runtime.ts'
import { openServers } from '../../src/tools/server/pool.ts'
import { median } from './_measure.mjs'

const rounds = 40
const calls = 100
const limit = 1.1
const server = resolve('test/fixtures/programs/mcp-server.mjs')
const transport = { command: process.execPath, args: [server, 'bench'], env: {} }

const client = new Client({ name: 'bench', version: '1' })
await client.connect(new StdioClientTransport({ ...transport, stderr: 'ignore' }))
const pool = openServers(
  [
    {
      name: 'bench',
      transport: { kind: 'stdio', ...transport },
      source: { client: 'cursor', path: server, scope: 'user' },
      startupTimeoutMs: 30_000,
      callTimeoutMs: 30_000,
      disabled: false,
      trusted: true,
      digest: 'sha256:0',
    },
  ],
  { runtime: systemRuntime() },
)
const ours = await pool.get('bench')
const parameters = { path: 'docs/guide.md', depth: 3, words: 'x'.repeat(200) }

const contenders = {
  bare: () => client.callTool({ name: 'echo', arguments: parameters }),
  pool: () => ours.call('echo', parameters),
}
const samples = { bare: [], pool: [] }
for (let round = -5; round < rounds; round++) {
  const order = round % 2 === 0 ? ['bare', 'pool'] : ['pool', 'bare']
  for (const name of order) {
    const begin = performance.now()
    for (let call = 0; call < calls; call++) await contenders[name]()
    if (round >= 0) samples[name].push((performance.now() - begin) / calls)
  }
}
await pool.close()
await client.close()
const ratio = median(samples.pool.map((ms, round) => ms / samples.bare[round]))
const verdict = ratio <= limit ? `at most ${limit}` : `OVER ${limit}`
const [bare, pooled] = [median(samples.bare), median(samples.pool)].map((ms) => ms.toFixed(3))
console.log(
  `a call: bare client ${bare} ms, pool ${pooled} ms, ratio ${ratio.toFixed(3)} (${verdict})`,
)
if (ratio > limit) process.exitCode = 1
