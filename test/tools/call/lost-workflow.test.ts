import { expect, it } from 'vitest'
import { refuseWithoutServers } from '../../../src/tools/call/gate.ts'
import type { WorkflowDefinition } from '../../../src/tools/workflow/model.ts'

const inputSchema = { type: 'object' as const }
const call = {
  tool: {
    id: 'db__execute_query',
    server: 'db',
    name: 'execute_query',
    description: 'Runs a query.',
    inputSchema,
    category: 'database',
  },
  params: {},
  instance: '1',
  signal: new AbortController().signal,
}
const failures = [{ server: 'schema', message: 'there is no such program' }]

function workflow(triggers: WorkflowDefinition['triggers']): WorkflowDefinition {
  return {
    name: 'look',
    description: 'Looks first.',
    path: 'workflows.json',
    enabled: true,
    mode: 'enforce',
    triggers,
    prerequisites: [{ step: 1, tool: 'inspect_schema', description: 'Looks.', required: true }],
  }
}

it.each([
  ['its tool', { tools: ['execute_query'] }],
  ['the category of its tool', { category: 'database' }],
])('refuses a call that a workflow means by %s while a server is not available', (_, triggers) => {
  const workflows = [workflow(triggers)]
  expect(() => refuseWithoutServers(call, workflows, failures, [])).toThrow(
    "Workflow 'look' must run first and cannot: it needs inspect_schema, and schema cannot be used",
  )
  expect(() => refuseWithoutServers(call, workflows, [], [])).not.toThrow()
})
