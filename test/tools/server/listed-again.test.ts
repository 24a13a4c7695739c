import { expect, it, onTestFinished } from 'vitest'
import { openServers } from '../../../src/tools/server/pool.ts'
import { definition, emptyRuntime } from './_servers.ts'

/** Lists its only tool with the number of the request; the first answer follows a notification, if there is one. */
const numberedServer = (notification: string): string => `
let count = 0
const write = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  const capabilities = { tools: { listChanged: true } }
  const serverInfo = { name: 's', version: '1' }
  if (method === 'initialize') write({ id, result: { protocolVersion: '2025-06-18', capabilities, serverInfo } })
  if (method !== 'tools/list') return
  count++
  if (count === 1 && ${JSON.stringify(notification)} !== '') write({ method: ${JSON.stringify(notification)} })
  const tool = { name: 'count', description: String(count), inputSchema: { type: 'object' } }
  write({ id, result: { tools: [tool] } })
})`

async function twoLists(notification: string): Promise<(string | undefined)[]> {
  const args = ['-e', numberedServer(notification)]
  const transport = { kind: 'stdio', command: process.execPath, args, env: {} } as const
  const pool = openServers([definition('numbered', transport)], { runtime: emptyRuntime() })
  onTestFinished(async () => await pool.close())
  const server = await pool.get('numbered')
  const described = async () => (await server.list({ reuse: true })).tools[0]?.description
  return [await described(), await described()]
}

it('uses the list of a running server again', async () => {
  expect(await twoLists('')).toEqual(['1', '1'])
})

it('asks again after a list that changed while it was read', async () => {
  expect(await twoLists('notifications/tools/list_changed')).toEqual(['1', '2'])
})
