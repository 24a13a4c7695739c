import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
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

it('executes a task, with the answer on stdout, and tools and usage on stderr', async () => {
  const { root, run } = await project(readsThenAnswers)
  writeFileSync(join(root, 'notes.md'), 'hello\n')
  const { code, stdout, stderr } = await run(['What do the notes say?', '--tools', 'read'])
  expect(stdout).toBe('The notes say hello.\n')
  expect(stderr).toContain('read {"file_path":"notes.md"}')
  expect(stderr).toContain('used: 2 requests, 20 tokens in, 4 out')
  expect(code).toBe(0)
  expect(JSON.stringify(server?.prompts()[1]?.body)).toContain('hello')
})

it('prints one JSON document with the whole usage', async () => {
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

it('waits for an approval with exit code 6, and the printed command continues with the call', async () => {
  const wish = { calls: [{ name: 'shell', input: { command: 'touch made' } }] }
  const { root, home, run } = await project([wish, 'I made it.'])
  const waits = await run(['Make a file.', '--tools', 'shell', '--json'])
  expect(waits.code).toBe(6)
  const report: unknown = JSON.parse(waits.stdout)
  expect(report).toMatchObject({
    status: 'waiting',
    waiting: [{ tool: 'shell', input: { command: 'touch made' }, reason: 'not read-only' }],
  })
  const { continueWith }: { continueWith: string } = JSON.parse(waits.stdout)
  expect(continueWith).toContain('--tools shell')
  const words = continueWith.split(' ').slice(1)
  const still = await runInProcess(words, { cwd: root, home })
  expect(still).toMatchObject({ code: 6, stdout: '' })
  expect(still.stderr).toContain(`Continue with: ${continueWith}`)
  expect(existsSync(join(root, 'made'))).toBe(false)
  const done = await runInProcess([...words, '--yes'], { cwd: root, home })
  expect(done).toMatchObject({ code: 0, stdout: 'I made it.\n' })
  expect(existsSync(join(root, 'made'))).toBe(true)
  expect(server?.prompts()).toHaveLength(2)
})

it('continues a conversation, lists it, and finds it by the beginning of its ID', async () => {
  const { root, home, run } = await project(['Hello Ada.', 'You are Ada.', 'Still Ada.'])
  const none = await run(['Who?', '--continue'])
  expect(none).toMatchObject({ code: 3 })
  expect(none.stderr).toContain('There is no conversation latest of this project.')
  await run(['My name is Ada.'])
  expect(await run(['Who am I?', '--continue'])).toMatchObject({ stdout: 'You are Ada.\n' })
  const { stdout } = await runInProcess(['agent', 'list', '--json'], { cwd: root, home })
  const { conversations }: { conversations: { id: string }[] } = JSON.parse(stdout)
  expect(conversations).toMatchObject([
    { title: 'My name is Ada.', status: 'completed', usage: { requests: 2 } },
  ])
  const id = conversations[0]?.id ?? ''
  await run(['And now?', '--resume', id.slice(0, 6)])
  expect(JSON.stringify(server?.prompts()[2]?.body)).toContain('My name is Ada.')
  expect((await run(['--continue'])).stderr).toContain('there is nothing to continue')
  expect((await run([])).stderr).toContain('no task is given')
})

it('ends with 5 when its tokens and those of its subagents are used up', async () => {
  const { run } = await project([
    { calls: [{ name: 'list', input: {} }], usage: { input: 900, output: 100 } },
  ])
  const ended = await run(['Go.', '--tools', 'list', '--max-tokens', '1000'])
  expect(ended.code).toBe(5)
  expect(ended.stderr).toContain('The run used 1000 tokens of at most 1000')
})

it('writes its events as JSON lines', async () => {
  const { root, run } = await project(readsThenAnswers)
  writeFileSync(join(root, 'notes.md'), 'hello\n')
  const { stdout } = await run(['What?', '--tools', 'read', '--events'])
  const types = stdout
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
  expect(types).toMatchObject(
    ['step', 'tool-call', 'tool-result', 'text', 'text', 'text', 'text', 'step', 'answered'].map(
      (type) => ({ type }),
    ),
  )
})

it("shows the model's reasoning with --verbose, and never in its answer", async () => {
  const { run } = await project(['<think>Hm, 4.</think>It is four.', '<think>5?</think>Five.'])
  const { stdout, stderr } = await run(['2 + 2?', '--verbose'])
  expect(stdout).toBe('It is four.\n')
  expect(stderr).toContain('Hm, 4.')
  expect(await run(['2 + 3?'])).toMatchObject({ stdout: 'Five.\n' })
})

it('sends the pictures that a task names, and the pictures that the model reads', async () => {
  const { root, run } = await project([
    { calls: [{ name: 'read', input: { file_path: 'b.png' } }] },
    'Two cats.',
  ])
  writeFileSync(join(root, 'a.jpg'), 'a cat')
  writeFileSync(join(root, 'b.png'), 'another cat')
  const { stdout } = await run(['What is on @a.jpg and b.png?', '--tools', 'read'])
  expect(stdout).toBe('Two cats.\n')
  const [first, second] = server?.prompts().map(({ body }) => body) ?? []
  const urlOf = (type: string, text: string): string =>
    `data:${type};base64,${Buffer.from(text).toString('base64')}`
  expect(first).toContain(urlOf('image/jpeg', 'a cat'))
  expect(second).toContain(urlOf('image/png', 'another cat'))
  const missing = await run(['And @c.png?'])
  expect(missing).toMatchObject({ code: 2 })
  expect(missing.stderr).toContain('c.png does not exist')
})

it('reads AGENTS.md only with --agents-file', async () => {
  const { root, run } = await project(['Yes.', 'Yes.'])
  writeFileSync(join(root, 'AGENTS.md'), 'Answer in rhymes.\n')
  await run(['Go.', '--agents-file'])
  await run(['Go.'])
  const [asked, other] = server?.prompts() ?? []
  expect(JSON.stringify(asked?.body)).toContain('Answer in rhymes.')
  expect(JSON.stringify(other?.body)).not.toContain('Answer in rhymes.')
})

it('makes every change with --yes', async () => {
  const { root, run } = await project([
    { calls: [{ name: 'write', input: { file_path: 'made.txt', content: 'x' } }] },
    'Done.',
  ])
  const { code, stderr } = await run(['Make a file.', '--tools', 'write', '--yes'])
  expect(stderr).not.toContain('refused')
  expect(code).toBe(0)
  expect(readFileSync(join(root, 'made.txt'), 'utf8')).toBe('x')
})

it('activates a skill from the option, and a skill that the user types', async () => {
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

it('names the address where nothing listens, and the setting that has it', async () => {
  const { run } = await project([])
  const url = server?.url ?? ''
  await server?.close()
  server = undefined
  const { code, stderr } = await run(['Go.'])
  expect(stderr).toContain(`The address was ${url}/v1/chat/completions`)
  expect(stderr).toContain('--base-url')
  expect(code).toBe(1)
})

it('names the address that does not have the model', async () => {
  const { run } = await project([{ error: { status: 404 } }])
  const { stderr } = await run(['Go.'])
  expect(stderr).toContain(`The address was ${server?.url}/v1/chat/completions`)
})

it('runs as many subagents at once as --concurrency or the setting says', async () => {
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
  [['agent', 'Go.', '--model', 'mistral:x'], 3, 'npm install ai@7 @ai-sdk/mistral'],
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
    ['agent', 'delegate', 'a', '-', '--model', 'ollama:x', '--context', '-'],
    2,
    'the task - and --context - cannot be used together',
  ],
  [
    ['agent', 'delegate', 'a', 'Go.', '--model', 'ollama:x', '--tools', 'Reed'],
    2,
    'Did you mean read?',
  ],
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
