// The server of this folder with a model that follows a script: a page asks, approves, and sees the
// answer, and nothing of the skill's text.
import assert from 'node:assert/strict'
import { DefaultChatTransport, readUIMessageStream, simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { chatAgent, startChat } from './server.mjs'

export function scriptedModel() {
  return new MockLanguageModelV4({
    doStream: [
      call('skill', { name: 'release-notes', arguments: '2.1' }),
      call('skill_tool', { skill: 'release-notes', tool: 'changes', input: {} }),
      says('2.1: orders can be cancelled.'),
    ],
  })
}

if (import.meta.filename === process.argv[1]) await check()

async function check() {
  const model = scriptedModel()
  const { server, url } = await startChat(await chatAgent(model))
  const transport = new DefaultChatTransport({ api: `${url}/api/chat` })
  const question = { id: '1', role: 'user', parts: [{ type: 'text', text: 'What is new in 2.1?' }] }
  let answer = await send(transport, [question])
  const waiting = answer.parts.find(({ state }) => state === 'approval-requested')
  assert.equal(waiting.type, 'tool-skill_tool')
  waiting.state = 'approval-responded'
  waiting.approval.approved = true
  answer = await send(transport, [question, answer])
  assert.equal(answer.parts.at(-1).text, '2.1: orders can be cancelled.')
  assert.match(JSON.stringify(model.doStreamCalls[1]), /Write the notes of version 2.1/)
  assert.match(JSON.stringify(model.doStreamCalls[2]), /Orders can be cancelled/)
  assert.doesNotMatch(JSON.stringify(answer), /Write the notes/)
  server.close()
}

async function send(transport, messages) {
  const last = messages.at(-1)
  const options = { chatId: 'c', messageId: last.id, trigger: 'submit-message', messages }
  const stream = await transport.sendMessages(options)
  let answer
  const message = last.role === 'assistant' ? last : undefined
  for await (const grown of readUIMessageStream({ stream, message })) answer = grown
  return answer
}

function call(toolName, input) {
  const part = { type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) }
  return streamed('tool-calls', [part])
}

function says(text) {
  const id = '1'
  const parts = [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: text },
  ]
  return streamed('stop', [...parts, { type: 'text-end', id }])
}

function streamed(reason, parts) {
  const usage = { inputTokens: { total: 10 }, outputTokens: { total: 2 } }
  const finish = { type: 'finish', finishReason: { unified: reason, raw: undefined }, usage }
  const chunks = [{ type: 'stream-start', warnings: [] }, ...parts, finish]
  return { stream: simulateReadableStream({ chunks }) }
}
