import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ModelServer, startModelServer } from '../../model-server/server.ts'
import { type ScriptedProject, scriptedProject, textResult } from '../call/_scripted.ts'

const text = { type: 'string' }
const request = 'post deploy done to C012345'
const params = { channel_id: 'C012345', text: 'deploy done' }
const model = ['--model', 'openai-compatible:small']

let project: ScriptedProject
let server: ModelServer
let input: object = params

beforeAll(async () => {
  server = await startModelServer(() => ({
    calls: [{ name: 'slack__slack_post_message', input }],
  }))
  project = scriptedProject()
  const inputSchema = {
    type: 'object',
    properties: { channel_id: text, text },
    required: ['channel_id', 'text'],
  }
  const description = 'Post a new message to a Slack channel'
  const tool = { description, inputSchema, result: textResult('ok') }
  project.configure({ slack: project.server('slack', { slack_post_message: tool }) })
  await project.run(['tools', 'refresh'])
})

afterAll(() => server.close())

async function ask(...args: string[]) {
  const env = { SKILLRAIL_AGENT_BASE_URL: `${server.url}/v1` }
  const before = project.calls().length
  const result = await project.run(['tools', 'do', ...args], env)
  return { ...result, calls: project.calls().length - before }
}

it('exits with 3 without a model, and reports what it read and what it did not use', async () => {
  const { code, stderr, calls } = await ask(request, '--yes')
  expect([code, calls, server.prompts().length]).toEqual([3, 0, 0])
  expect(stderr).toContain('Tool: slack__slack_post_message')
  expect(stderr).toContain('Not placed: "deploy"')
  expect(stderr).toContain('Candidates:\n  slack__slack_post_message needs channel_id, text')
  expect(stderr).toContain('skillrail tools call slack__slack_post_message')
})

it('makes one call to a model, and prints the tool call and who chose it', async () => {
  input = params
  const { code, stdout, calls } = await ask(request, '--yes', ...model)
  expect([code, calls, server.prompts().length]).toEqual([0, 1, 1])
  const callText = `slack__slack_post_message ${JSON.stringify(params)}`
  expect(stdout).toContain(`Called (by model openai-compatible:small): ${callText}`)
})

it('calls no tool if the model drops a value', async () => {
  input = { ...params, text: 'done' }
  const { code, stdout, calls } = await ask(request, '--yes', '--json', ...model)
  expect([code, calls]).toEqual([3, 0])
  expect(JSON.parse(stdout)).toMatchObject({
    decidedBy: 'model openai-compatible:small',
    unplaced: ['deploy'],
    error: { code: 'request-unclear' },
  })
})

it('reports that a model is not available', async () => {
  const env = { SKILLRAIL_AGENT_BASE_URL: 'http://127.0.0.1:1/v1' }
  const { code, stderr } = await project.run(['tools', 'do', request, ...model], env)
  expect(code).toBe(1)
  expect(stderr).toContain('The model openai-compatible:small cannot be asked')
})
