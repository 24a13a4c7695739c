import { Agent, tool } from 'skillrail/agent'

/** An agent that reviews texts with a skill of this folder. Any model of the AI SDK will do. */
export function reviewer(model, { approver, onEvent } = {}) {
  const directory = new URL('skills', import.meta.url).pathname
  const agent = new Agent({
    model,
    instructions: 'You help to publish texts.',
    skills: [`${directory}/reviewing-text`],
    tools: [publish],
    discover: false,
    approver,
    onEvent,
  })
  // A tool of the program that is there only while the skill is active.
  agent.skillManager.registerTool('reviewing-text', {
    name: 'count',
    description: 'Counts words.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    execute: ({ text }) => ({ words: text.split(/\s+/).length }),
  })
  return agent
}

const publish = tool({
  name: 'publish',
  description: 'Publishes a text.',
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  needsApproval: true,
  execute: ({ text }) => `published ${text.length} characters`,
})
