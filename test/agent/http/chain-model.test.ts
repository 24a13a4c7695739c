import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CommandAnswer, type CommandFixture, runCommand } from '../../chain/_command.ts'
import { makeProject, type TestProject } from '../../chain/_project.ts'
import { lastUserText, readRequest, toolResults } from '../../model-server/read-request.ts'
import { type ModelServer, type Script, startModelServer } from '../../model-server/server.ts'

let project: TestProject
let server: ModelServer
beforeEach(() => {
  project = makeProject({
    main: { metadata: ['chain: [prepare, review]', 'pass_state: true'] },
    prepare: { run: 'echo "{\\"status\\": \\"success\\", \\"result\\": \\"42 files\\"}"' },
    review: { body: 'REVIEW THE FILES named $ARGUMENTS.' },
  })
})
afterEach(async () => {
  await server?.close()
  project.remove()
})

const report = (status: string, more: object = {}): string =>
  JSON.stringify({ status, result: 'seven findings', errors: [], metrics: [], ...more })

async function run(
  script: Script,
  options: readonly string[] = [],
  fixture: CommandFixture = {},
): Promise<CommandAnswer> {
  server = await startModelServer(script)
  const model = ['--model', 'openai-compatible:small', '--base-url', `${server.url}/v1`]
  const words = ['run', 'main', ...model, '--json', ...options, 'src/a.ts']
  return await runCommand('run', words, project, fixture)
}

const steps = ({ json }: CommandAnswer): unknown => json.attempts[0]?.steps

describe('a model as the executor of a step', () => {
  it('reads the skill, its arguments and the state, and its report is the result', async () => {
    const answer = await run([
      {
        text: report('success', { metrics: [{ name: 'findings', value: 7 }] }),
        usage: { input: 400, output: 30 },
      },
    ])
    expect(answer.code).toBe(0)
    expect(steps(answer)).toMatchObject([
      { step: 'prepare', evidence: 'exit-code' },
      {
        step: 'review',
        status: 'success',
        result: 'seven findings',
        evidence: 'self-reported',
        metrics: { findings: 7, input_tokens: 400, output_tokens: 30, model_calls: 1 },
      },
    ])
    const [request] = server.prompts()
    if (request === undefined) throw new Error('the model was not asked')
    const told = lastUserText(request)
    expect(told).toContain('<skill_content name="review">')
    expect(told).toContain('REVIEW THE FILES named src/a.ts.')
    expect(told).toContain('"result":"42 files"')
    expect(readRequest(request)).toMatchObject({ model: 'small', tools: [] })
    const journal = readFileSync(join(project.runs, `${answer.json.runId}.jsonl`), 'utf8')
    expect(journal).toContain('"model":"openai-compatible:small"')
    expect(journal).toMatch(/"promptDigest":"sha256:[0-9a-f]{64}"/)
  })

  it('gets the schema of the report through the API and in words', async () => {
    const answer = await run([{ text: report('success') }])
    expect(answer.code).toBe(0)
    const [request] = server.prompts()
    expect(JSON.parse(request?.body ?? '')).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    })
    expect(request?.body).toContain('It must match this JSON Schema')
  })

  it.each([
    [400, "'response_format.type' must be 'text'"],
    [422, 'failed to parse grammar'],
  ])('gets the schema in words alone if the server refuses it with %i', async (status, message) => {
    const answer = await run(({ body }) =>
      body.includes('response_format')
        ? { error: { status, message } }
        : { text: report('success') },
    )
    expect(steps(answer)).toMatchObject([{}, { status: 'success', result: 'seven findings' }])
    expect(server.prompts().at(-1)?.body).not.toContain('response_format')
  })

  it('is not called again after any other refusal, which is reported', async () => {
    const answer = await run([{ error: { status: 400, message: 'no such thing' } }])
    expect(server.prompts()).toHaveLength(1)
    expect(JSON.stringify(steps(answer))).toContain(
      'The model call failed (HTTP 400): no such thing',
    )
  })

  it('reads the references that the triggers of the skill inject', async () => {
    const directory = join(project.directory, '.skillrail/skills/review')
    mkdirSync(join(directory, 'references'))
    writeFileSync(join(directory, 'references/strict.md'), 'THE STRICT RULES')
    writeFileSync(
      join(directory, 'SKILL.md'),
      '---\nname: review\ndescription: Reviews. Use when testing.\ntriggers:\n  - match: "^/review src"\n    inject: references/strict.md\n---\nReview.\n',
    )
    await run([report('success')])
    expect(server.prompts().map(lastUserText)[0]).toContain('THE STRICT RULES')
  })

  it('fails the step with the errors that it reports', async () => {
    const errors = [{ code: 'tests-failed', message: 'two tests fail' }]
    const answer = await run([report('critical', { errors })])
    expect(answer.code).toBe(1)
    expect(steps(answer)).toMatchObject([{}, { status: 'critical', errors }])
  })

  it('is asked again for a report that does not match the schema, and fails without one', async () => {
    const usage = { input: 100, output: 5 }
    const answer = await run([{ text: 'All done, everything is perfect.', usage }])
    expect(steps(answer)).toMatchObject([
      {},
      {
        status: 'failure',
        errors: [{ code: 'output-missing' }],
        metrics: { input_tokens: 300, output_tokens: 15, model_calls: 3 },
      },
    ])
    await server.close()
    const second = await run(['Done.', report('success')])
    expect(second.code).toBe(0)
  })

  it('fails the step if the model cannot be called', async () => {
    const answer = await run([{ error: { status: 400, message: 'No such model.' } }])
    expect(steps(answer)).toMatchObject([
      {},
      { status: 'failure', errors: [{ code: 'model-failed' }] },
    ])
    expect(JSON.stringify(steps(answer))).toContain('No such model.')
  })

  it('is stopped when the step reaches its time limit', async () => {
    project.write('main', {
      metadata: ['chain: [prepare, review]', 'timeout: 1'],
    })
    const answer = await run([{ silent: true }])
    expect(steps(answer)).toMatchObject([{}, { status: 'failure', errors: [{ code: 'timeout' }] }])
  })

  it('uses the tools of its step, and only calls that its skill approves', async () => {
    writeFileSync(
      join(project.directory, '.skillrail/skills/review/SKILL.md'),
      '---\nname: review\ndescription: Reviews. Use when testing.\nallowed-tools: Read Bash(echo:*)\n---\nReview.\n',
    )
    writeFileSync(join(project.directory, 'notes.txt'), 'the notes')
    const answer = await run(
      [
        {
          calls: [
            { name: 'read', input: { file_path: 'notes.txt' } },
            { name: 'shell', input: { command: 'echo allowed' } },
            { name: 'shell', input: { command: 'rm notes.txt' } },
            { name: 'write', input: { file_path: 'x.txt', content: 'x' } },
          ],
        },
        report('success'),
      ],
      ['--tools', 'all'],
    )
    expect(answer.code).toBe(0)
    const [first, second] = server.prompts()
    if (first === undefined || second === undefined) throw new Error('two calls were expected')
    expect(readRequest(first).tools).toEqual(['read', 'list', 'search', 'write', 'edit', 'shell'])
    const [read, echo, remove, write] = toolResults(second)
    expect(read).toContain('the notes')
    expect(echo).toContain('allowed')
    expect(remove).toMatch(/^Error: shell was refused/)
    expect(write).toMatch(/^Error: write was refused/)
    expect(readFileSync(join(project.directory, 'notes.txt'), 'utf8')).toBe('the notes')
  })
})

it('a model runs the scripts of its skill without being given other tools', async () => {
  project.write('review', { body: 'Run scripts/count first.' })
  const script = join(project.directory, '.skillrail/skills/review/scripts/count')
  mkdirSync(join(script, '..'), { recursive: true })
  writeFileSync(script, '#!/bin/sh\necho "counted $1"\n', { mode: 0o755 })
  const answer = await run([
    { calls: [{ name: 'review__count', input: { arguments: ['files'] } }] },
    report('success'),
  ])
  expect(answer.code).toBe(0)
  const [, second] = server.prompts()
  if (second === undefined) throw new Error('two calls were expected')
  expect(readRequest(second).tools).toEqual(['review__count'])
  expect(toolResults(second)[0]).toContain('counted files')
})

describe('a plan for a model', () => {
  const plan = async (line: string): Promise<CommandAnswer> =>
    runCommand('chain plan', ['chain', 'plan', 'main', ...line.split(' ')], project)

  it('names the model, and the parts of the skill that have no effect', async () => {
    writeFileSync(
      join(project.directory, '.skillrail/skills/review/SKILL.md'),
      '---\nname: review\ndescription: Reviews. Use when testing.\nallowed-tools: Read\nmodel: opus\n---\nReview.\n',
    )
    const { json } = await plan('--model ollama:small --json')
    expect(json.steps).toMatchObject([
      { executor: 'script' },
      { executor: 'model', model: 'ollama:small', notHonoured: ['allowed-tools', 'model'] },
    ])
    const { lines } = await plan('--model ollama:small --tools read')
    expect(lines.join('\n')).toMatch(/review\s+ollama:small.*without model$/m)
  })

  it.each([
    ['small', 'wrong-use', '--model small: the provider is missing'],
    ['ollama:small --via claude', 'wrong-use', '--via and --model cannot be used together'],
    [
      'ollama:small --tools Reed',
      'tool-unknown',
      'There is no built-in tool called Reed. Did you mean read?',
    ],
  ])('--model %s is refused', async (words, code, message) => {
    const { error } = await plan(`--model ${words}`)
    expect(error).toMatchObject({ code, message, exitCode: 2 })
  })

  it.each([
    ['chain plan main --tools read', '--tools requires --model'],
    ['run main --tools read --via claude', '--tools requires --model'],
    ['run main --base-url http://127.0.0.1:9/v1', '--base-url requires --model'],
    [
      'run main --model ollama:small --engine restate --base-url http://127.0.0.1:9/v1',
      '--engine restate and --base-url cannot be used together',
    ],
  ])('refuses options without a meaning: %s', async (line, message) => {
    const { code, stderr } = await project.cli(line.split(' '))
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })

  it('is refused for an untrusted skill', async () => {
    const words = ['run', 'main', '--model', 'ollama:small', '--json']
    const { code, error } = await runCommand('run', words, project, { workspaceTrust: 'ask' })
    expect(code).toBe(4)
    expect(error?.code).toMatch(/trust/)
  })
})

describe('the command line', () => {
  it('runs an instruction skill with a model on the loopback, and resumes and retries with it', async () => {
    server = await startModelServer([
      { error: { status: 400, message: 'Not loaded yet.' } },
      report('success'),
    ])
    const url = `${server.url}/v1`
    const model = ['--model', 'openai-compatible:x', '--base-url', url]
    const failed = await project.cli(['run', 'review', ...model, '--json', 'src'])
    expect(failed.code).toBe(1)
    const { runId } = JSON.parse(failed.stdout)
    const again = await project.cli(['runs', 'retry', runId, '--json'])
    expect(JSON.parse(again.stdout)).toMatchObject({
      status: 'success',
      attempts: [{ steps: [{ step: 'review', result: 'seven findings' }] }],
    })
    expect(server.prompts()).toHaveLength(2)
  })

  it('reports an unknown provider before anything runs', async () => {
    const { code, stderr } = await project.cli(['run', 'main', '--model', 'nobody:x'])
    expect(code).toBe(3)
    expect(stderr).toContain('Unknown model provider "nobody".')
    expect(project.log()).toEqual([])
  })
})
