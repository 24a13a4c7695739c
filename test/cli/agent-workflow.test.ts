import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { serverProject } from '../fixtures/server-project.ts'
import { toolResults } from '../model-server/read-request.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'

let server: ModelServer | undefined

afterEach(async () => {
  await server?.close()
  server = undefined
})

/** An agent that writes a file, in a project with a server and these workflows. */
async function write(
  workflows: string,
  flags: readonly string[],
  tools = 'write',
): Promise<{
  result: CliResult
  told: string
  written: boolean
  reached: readonly string[]
  started: boolean
}> {
  server = await startModelServer([
    { calls: [{ name: 'write', input: { file_path: 'made.txt', content: 'x' } }] },
    'Finished.',
  ])
  const project = serverProject()
  const { root, home } = project
  project.configure({ things: project.things })
  project.workflows(workflows)
  const model = ['--model', 'openai-compatible:test', '--base-url', `${server.url}/v1`]
  const result = await runInProcess(
    ['agent', 'Write it.', ...model, '--tools', tools, '--yes', ...flags],
    { cwd: root, home },
  )
  const last = server.prompts().at(-1)
  return {
    result,
    told: last === undefined ? '' : (toolResults(last).at(-1) ?? ''),
    written: existsSync(join(root, 'made.txt')),
    reached: project.calls(),
    started: project.started().length > 0,
  }
}

const look = JSON.stringify({
  look: {
    description: 'Looks first.',
    mode: 'enforce',
    triggers: { tools: ['write'] },
    prerequisites: [{ step: 1, tool: 'list_things', description: 'The things.', required: true }],
  },
})

it('a workflow that names a built-in tool applies to the tool without any server', async () => {
  const { result, written, reached, started } = await write(look, ['--trust-workspace'])
  expect(result.stderr).toContain("Workflow 'look' triggered")
  expect(reached[0]).toMatch(/^list_things/)
  expect(started).toBe(true)
  expect(written).toBe(true)
  expect(result.code).toBe(0)
})

it('a step with another built-in tool must be called by the agent itself', async () => {
  const workflows = look.replace('list_things', 'Read')
  const { told, written, result } = await write(workflows, ['--trust-workspace'], 'read,write')
  expect(told).toMatch(/^Error: Workflow 'look' failed at step 1 \(Read\): /)
  expect(told).toContain('Call read first, then this again.')
  expect(result.stderr).not.toContain('not enforced')
  expect(written).toBe(false)
})

it('a workflow of an untrusted project blocks the call, and starts nothing', async () => {
  const { told, written, started } = await write(look, [])
  expect(told).toMatch(/^Error: Workflow 'look' must run first and may not: /)
  expect(told).toContain('skillrail trust')
  expect(written).toBe(false)
  expect(started).toBe(false)
})

it('no tool is called while a file of workflows cannot be read', async () => {
  const { told, written, started } = await write('{ "look": ', ['--trust-workspace'])
  expect(told).toMatch(/^Error: nothing is called, because a workflow of this project/)
  expect(written).toBe(false)
  expect(started).toBe(false)
})
