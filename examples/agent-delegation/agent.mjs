import { Agent, tool } from 'skillrail/agent'

/** An agent that leads two subagents: one reads orders, one writes texts and can do nothing else. */
export function lead(model, orders) {
  const readOrders = tool({
    name: 'read_orders',
    description: 'The orders of a day.',
    readOnly: true,
    input: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
    execute: ({ day }) => orders[day] ?? [],
  })
  return new Agent({
    model,
    discover: false,
    tools: [readOrders],
    subagents: [
      {
        name: 'analyst',
        description: 'Answers questions about orders.',
        tools: ['read_orders'],
        systemPrompt: 'You answer with numbers.',
        maxTurns: 5,
      },
      {
        name: 'writer',
        description: 'Writes short texts.',
        systemPrompt: 'You write one sentence.',
      },
    ],
  })
}

/** Both work at once; whatever happens to one of them is in its result. */
export async function report(agent, days) {
  const handles = await Promise.all(
    days.map((day) => agent.delegateAsync('analyst', `How many orders were there on ${day}?`)),
  )
  const results = await Promise.all(handles.map((handle) => handle.result()))
  const facts = results.map(({ success, output, error }) =>
    success ? output : `unknown: ${error}`,
  )
  const { output } = await agent.delegate('writer', 'Sum up the days.', {
    context: facts.join('\n'),
    timeoutMs: 60_000,
  })
  return output
}
