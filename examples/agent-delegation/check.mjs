// Two delegations at once and one after them, against a server on 127.0.0.1 that speaks the protocol
// of OpenAI; one of the models fails. What the server counts is what the agent has booked.
import assert from 'node:assert/strict'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { lastUserText, readRequest, toolResults } from '../../test/model-server/read-request.ts'
import { startModelServer } from '../../test/model-server/server.ts'
import { lead, report } from './agent.mjs'

const usage = { input: 50, output: 5 }
const server = await startModelServer((request) => {
  const task = lastUserText(request)
  if (task.startsWith('Sum up')) return { text: `In short: ${task.match(/\d+ orders/)[0]}.`, usage }
  const [day] = task.match(/monday|tuesday/)
  const [orders] = toolResults(request)
  if (orders === undefined) return { calls: [{ name: 'read_orders', input: { day } }], usage }
  if (day === 'tuesday') return { error: { status: 400, message: 'No more today.' } }
  return { text: `${JSON.parse(orders).length} orders on ${day}`, usage }
})
const provider = createOpenAICompatible({
  name: 'local',
  baseURL: `${server.url}/v1`,
  includeUsage: true,
})
const agent = lead(provider('small'), { monday: ['a', 'b', 'c'], tuesday: ['d'] })

assert.equal(await report(agent, ['monday', 'tuesday']), 'In short: 3 orders.')

const [analysing, , writing] = [0, 1, server.prompts().length - 1].map((index) =>
  readRequest(server.prompts()[index]),
)
assert.deepEqual([analysing.tools, writing.tools], [['read_orders'], []])
assert.match(JSON.stringify(writing.messages), /unknown: .*No more today/)
const { total, byAgent } = agent.usage
const { input, output, answers } = server.counted()
assert.deepEqual([total.inputTokens, total.outputTokens, total.requests], [input, output, answers])
assert.deepEqual([byAgent.analyst.requests, byAgent.writer.requests], [3, 1])
await agent.close()
await server.close()
