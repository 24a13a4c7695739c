import { expect, it } from 'vitest'
import { failClosed } from '../../../src/agent/mcp-tools/workflow-gate.ts'
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
])('a call that a workflow means by %s is refused while a server cannot be used', (_, triggers) => {
  const workflows = [workflow(triggers)]
  expect(() => failClosed(call, workflows, failures, [])).toThrow(
    "Workflow 'look' must run first and cannot: it needs inspect_schema, and schema cannot be used",
  )
  expect(() => failClosed(call, workflows, [], [])).not.toThrow()
})
