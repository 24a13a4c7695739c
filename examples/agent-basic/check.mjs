// The agent of this folder with a model that follows a script: what the model is offered step by
// step, what it reads, and who approves.
import assert from 'node:assert/strict'
import { MockLanguageModelV4 } from 'ai/test'
import { reviewer } from './agent.mjs'

const model = new MockLanguageModelV4({
  doGenerate: [
    call('skill', { name: 'reviewing-text', arguments: 'beginners' }),
    call('reviewing-text__count', { text: 'Turn the key twice.' }),
    call('publish', { text: 'Turn the key twice.' }),
    says('Clear. 4 words. Published.'),
  ],
})
const asked = []
const agent = reviewer(model, {
  approver: async ({ tool, input }) => {
    asked.push([tool.name, input.text])
    return { approved: true }
  },
})
const { text, status, usage } = await agent.generate('Review and publish: Turn the key twice.')
await agent.close()

assert.deepEqual([status, text], ['completed', 'Clear. 4 words. Published.'])
assert.deepEqual(asked, [['publish', 'Turn the key twice.']])
assert.deepEqual(offered(0), ['publish', 'skill'])
assert.deepEqual(offered(1), ['publish', 'reviewing-text__count', 'skill'])
assert.match(read(1), /Review the text for beginners/)
assert.match(read(2), /"words":4/)
assert.equal(usage.requests, 4)
assert.equal(usage.inputTokens, 40)

function offered(step) {
  return model.doGenerateCalls[step].tools.map(({ name }) => name).toSorted()
}

/** What the model got from its tools before a step. */
function read(step) {
  const results = model.doGenerateCalls[step].prompt.filter(({ role }) => role === 'tool')
  return JSON.stringify(results.at(-1).content).replaceAll('\\"', '"')
}

function call(toolName, input) {
  const part = { type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) }
  return answer('tool-calls', part)
}

function says(text) {
  return answer('stop', { type: 'text', text })
}

function answer(reason, part) {
  return {
    content: [part],
    finishReason: { unified: reason, raw: undefined },
    usage: { inputTokens: { total: 10 }, outputTokens: { total: 2 } },
    warnings: [],
  }
}
