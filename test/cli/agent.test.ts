import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type ModelServer, type Script, startModelServer } from '../model-server/server.ts'
import { until } from '../patience.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'

let server: ModelServer | undefined

afterEach(async () => {
  await server?.close()
  server = undefined
})

interface Place {
  root: string
  home: string
  run(args: readonly string[], env?: Record<string, string>): Promise<CliResult>
}

async function project(script: Script): Promise<Place> {
  const model = await startModelServer(script)
  server = model
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'agent-command-')))
  const [root, home] = [join(directory, 'project'), join(directory, 'home')]
  mkdirSync(join(root, '.git'), { recursive: true })
  mkdirSync(home)
  return {
    root,
    home,
    run: (args, env) =>
      runInProcess(
        ['agent', '--model', 'openai-compatible:test', '--base-url', `${model.url}/v1`, ...args],
        { cwd: root, home, env },
      ),
  }
}

const readsThenAnswers: Script = [
  { calls: [{ name: 'read', input: { file_path: 'notes.md' } }] },
  'The notes say hello.',
]

it('carries a task out: the answer on standard output, tools and usage on standard error', async () => {
  const { root, run } = await project(readsThenAnswers)
  writeFileSync(join(root, 'notes.md'), 'hello\n')
  const { code, stdout, stderr } = await run(['What do the notes say?', '--tools', 'read'])
  expect(stdout).toBe('The notes say hello.\n')
  expect(stderr).toContain('read {"file_path":"notes.md"}')
  expect(stderr).toContain('used: 2 requests, 20 tokens in, 4 out')
  expect(code).toBe(0)
  expect(JSON.stringify(server?.prompts()[1]?.body)).toContain('hello')
})

it('prints one JSON document with everything that was used', async () => {
  const { root, run } = await project(readsThenAnswers)
  writeFileSync(join(root, 'notes.md'), 'hello\n')
  const { code, stdout } = await run(['What do the notes say?', '--tools', 'Read', '--json'])
  const report: unknown = JSON.parse(stdout)
  const { input, output } = server?.counted() ?? {}
  expect(report).toMatchObject({
    status: 'completed',
    text: 'The notes say hello.',
    turns: 2,
    tools: [{ agent: 'main', tool: 'read', isError: false }],
    usage: { total: { inputTokens: input, outputTokens: output, requests: 2 } },
  })
  expect(code).toBe(0)
})

it('refuses what nobody can approve, and ends with 4', async () => {
  const script: Script = [
    { calls: [{ name: 'shell', input: { command: 'touch made' } }] },
    'I could not do it.',
    { calls: [{ name: 'shell', input: { command: 'touch made' } }] },
    'I could not do it.',
  ]
  const place = await project(script)
  const refused = await place.run(['Make a file.', '--tools', 'shell'])
  expect(refused).toMatchObject({ code: 4, stdout: 'I could not do it.\n' })
  expect(refused.stderr).toContain('not interactive: shell')
  const report: unknown = JSON.parse(
    (await place.run(['Make a file.', '--tools', 'shell', '--json'])).stdout,
  )
  expect(report).toMatchObject({ status: 'completed', refused: ['shell'] })
  expect(report).toHaveProperty('error', expect.stringContaining('not interactive: shell'))
  server?.clear()
})

it('does everything with --yes', async () => {
  const { root, run } = await project([
    { calls: [{ name: 'write', input: { file_path: 'made.txt', content: 'x' } }] },
    'Done.',
  ])
  const { code, stderr } = await run(['Make a file.', '--tools', 'write', '--yes'])
  expect(stderr).not.toContain('refused')
  expect(code).toBe(0)
  expect(readFileSync(join(root, 'made.txt'), 'utf8')).toBe('x')
})

it('activates a skill that is named, and one that is typed', async () => {
  const { root, run } = await project(['Hello Ada.'])
  const directory = join(root, '.skillrail', 'skills', 'greet')
  mkdirSync(directory, { recursive: true })
  const text = '---\nname: greet\ndescription: Greets people.\n---\nGreet $ARGUMENTS warmly.\n'
  writeFileSync(join(directory, 'SKILL.md'), text)
  await run(['/greet Ada'])
  expect(JSON.stringify(server?.prompts()[0]?.body)).toContain('Greet Ada warmly.')
  await run(['Say hello.', '--skill', 'greet'])
  expect(JSON.stringify(server?.prompts()[1]?.body)).toContain('skill_content')
  await run(['Say hello.', '--no-skills'])
  expect(JSON.stringify(server?.prompts()[2]?.body)).not.toContain('greet')
  expect(await run(['Go.', '--skill', 'missing'])).toMatchObject({ code: 3 })
})

it('ends with 5 when the turns are used up, after a summary', async () => {
  const { root, run } = await project((request, index) =>
    JSON.stringify(request.body).includes('Max turns exceeded')
      ? 'Half done.'
      : { calls: [{ name: 'read', input: { file_path: `notes-${index}.md` } }] },
  )
  writeFileSync(join(root, 'notes.md'), 'hello\n')
  const { code, stdout, stderr } = await run(['Read.', '--tools', 'read', '--max-turns', '2'])
  expect(stdout).toBe('Half done.\n')
  expect(stderr).toContain('Max turns exceeded')
  expect(stderr).toContain('--max-turns gives it more')
  expect(code).toBe(5)
})

it('ends with 1 when the model fails, and says how', async () => {
  const { run } = await project([{ error: { status: 400 } }])
  const { code, stderr } = await run(['Go.'])
  expect(stderr).toContain('The model call failed (HTTP 400)')
  expect(code).toBe(1)
})

it('names the address where nothing listens, and where it is set', async () => {
  const { run } = await project([])
  const url = server?.url ?? ''
  await server?.close()
  server = undefined
  const { code, stderr } = await run(['Go.'])
  expect(stderr).toContain(`nothing listens at ${url}/v1/chat/completions.`)
  expect(stderr).toContain('--base-url')
  expect(code).toBe(1)
})

it('names the address that knows no such model', async () => {
  const { run } = await project([{ error: { status: 404 } }])
  const { stderr } = await run(['Go.'])
  expect(stderr).toContain(`Asked was ${server?.url}/v1/chat/completions`)
})

it('lets as many subagents work at once as --concurrency or the setting says', async () => {
  let helpers = 0
  let awaited = 2
  const before = (): Promise<void> => until(() => helpers >= awaited)
  const { home, run } = await project((request) => {
    const told = JSON.stringify(request.body)
    if (told.includes('You help.')) {
      helpers += 1
      return { text: 'Helped.', before }
    }
    if (told.includes('Helped.')) return 'Done.'
    const call = { name: 'delegate', input: { agent: 'helper', task: 'Help.' } }
    return { calls: [call, { ...call, input: { ...call.input, task: 'Help again.' } }] }
  })
  mkdirSync(join(home, '.claude', 'agents'), { recursive: true })
  const text = '---\nname: helper\ndescription: Helps.\n---\nYou help.\n'
  writeFileSync(join(home, '.claude', 'agents', 'helper.md'), text)
  const order = (stderr: string): string[] => stderr.match(/(?<=\[helper\] )\w+/g) ?? []
  const both = await run(['Go.'])
  expect(order(both.stderr)).toEqual(['started', 'started', 'completed', 'completed'])
  awaited = 0
  const one = await run(['Go.', '--concurrency', '1'])
  expect(order(one.stderr)).toEqual(['started', 'completed', 'started', 'completed'])
  const set = await run(['Go.'], { SKILLRAIL_AGENT_CONCURRENCY: '1' })
  expect(order(set.stderr)).toEqual(order(one.stderr))
})

it.each([
  [['agent', 'Go.'], 2, 'no model is named'],
  [['agent', 'Go.', '--model', 'qwen3'], 2, 'does not say whose it is'],
  [['agent', 'Go.', '--model', 'antropic:x'], 3, 'Did you mean anthropic?'],
  [['agent', 'Go.', '--model', 'openai-compatible:x'], 2, 'needs its address'],
  [['agent', 'Go.', '--model', 'anthropic:x'], 2, 'Set ANTHROPIC_API_KEY'],
  [['agent', 'Go.', '--model', 'mistral:x'], 3, 'npm install @ai-sdk/mistral'],
  [['agent', 'Go.', '--model', 'ollama:x', '--max-turns', '0'], 2, '--max-turns is 0'],
  [['agent', 'Go.', '--model', 'ollama:x', '--tools', 'raed'], 2, 'Did you mean read?'],
  [['agent', ' ', '--model', 'ollama:x', '--tools', ''], 2, 'The task is empty'],
  [['agent', 'Go.', '--model', 'ollama:x', '--concurrency', 'x'], 2, '--concurrency is x'],
  [
    ['agent', 'Go.', '--model', 'ollama:x', '--no-skills', '--skill', 'x'],
    2,
    '--no-skills and --skill cannot be used together',
  ],
  [
    ['agent', 'Go.', '--model', 'ollama:x', '--concurrency', '2', '--no-skills'],
    2,
    '--no-skills and --concurrency cannot be used together',
  ],
  [
    ['agent', '-', '--model', 'ollama:x', '--instructions', '-'],
    2,
    'the task - and --instructions - cannot be used together',
  ],
  [
    ['agent', 'Go.', '--model', 'ollama:x', '--mcp', '--mcp-server', 'x'],
    2,
    '--mcp and --mcp-server cannot be used together',
  ],
  [
    ['delegate', 'a', '-', '--model', 'ollama:x', '--context', '-'],
    2,
    'the task - and --context - cannot be used together',
  ],
  [['delegate', 'a', 'Go.', '--model', 'ollama:x', '--tools', 'Reed'], 2, 'Did you mean read?'],
  [
    ['agent', 'Go.', '--model', 'ollama:x', '--base-url', 'localhost:1234'],
    2,
    'write http://localhost:1234',
  ],
  [['agent', 'Go.', '--model', 'ollama:x', '--base-url', 'ftp://a/v1'], 2, 'It looks like http://'],
])('refuses %j with %i', async (args, code, sentence) => {
  const home = mkdtempSync(join(tmpdir(), 'agent-command-'))
  const result = await runInProcess(args, { cwd: home, home })
  expect(result.stderr).toContain(sentence)
  expect(result).toMatchObject({ code, stdout: '' })
})
