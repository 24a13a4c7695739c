import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { toolProject, type ToolProject } from './_project.ts'
import { bin } from '../../command-line.ts'
import { until } from '../../patience.ts'

let shared: ToolProject
beforeAll(async () => {
  shared = toolProject()
  await shared.run(['tools', 'refresh'])
})

let before: number
beforeEach(() => {
  before = shared.calls().length
})

function newCalls(): string[] {
  return shared.calls().slice(before)
}

it('calls a tool with JSON, from an argument, a file or standard input', async () => {
  writeFileSync(join(shared.root, 'params.json'), '{"message": "file"}')
  const json = '{"message": "argument", "times": 2}'
  expect(await shared.run(['tools', 'call', 'things__get_echo', json])).toEqual({
    code: 0,
    stdout: 'Success: argument 2\n',
    stderr: '',
  })
  await shared.run(['tools', 'call', 'get_echo', '@params.json'])
  await shared.run(['tools', 'call', 'get_echo', '-'], '{"message": "input"}')
  expect(newCalls()).toEqual([
    'get_echo {"message":"argument","times":2}',
    'get_echo {"message":"file"}',
    'get_echo {"message":"input"}',
  ])
})

it('reads name=value pairs with the types of the tool’s schema', async () => {
  await shared.run(['tools', 'call', 'get_echo', 'message=7', 'times=2'])
  expect(newCalls()).toEqual(['get_echo {"message":"7","times":2}'])
})

it.each([
  [['get_echo', '{"message": '], 'the parameters are not JSON'],
  [['get_echo', '[1]x'], '[1]x is not name=value'],
  [['get_echo', '@missing.json'], 'missing.json'],
  [['get_echo', '{}', 'a=b'], 'not both'],
  [['get_echo', 'times=two'], 'Missing: message\nInvalid: times must be integer'],
  [['get_echo', '{}', '--timeout', 'soon'], '--timeout is soon'],
])('reports %o as a usage error', async (args, message) => {
  const { code, stderr } = await shared.run(['tools', 'call', ...args])
  expect(stderr).toContain(message)
  expect(code).toBe(2)
  expect(newCalls()).toEqual([])
})

it('suggests tools for one that does not exist', async () => {
  const { code, stderr } = await shared.run(['tools', 'call', 'things__get_eco'])
  expect(code).toBe(3)
  expect(stderr).toMatch(
    /Error: Tool not found: things__get_eco\nSuggestions: things__get_echo, \S+, \S+.*\nNext: confirm the intended tool or run skillrail tools refresh\.\n/,
  )
})

it('prints one document with --json, also for a failure', async () => {
  const args = ['tools', 'call', 'things__list_things', '{"count": 2}', '--json']
  expect(JSON.parse((await shared.run(args)).stdout)).toMatchObject({
    tool: 'things__list_things',
    params: { count: 2 },
    status: 'success',
    attempts: 1,
    result: [{ id: 0 }, { id: 1 }],
    summary: [
      'Success: 2 items',
      'IDs: [0, 1]',
      'Filter: count=2',
      'Next: request details of one of them.',
    ],
    files: [],
  })
  const failed = await shared.run(['tools', 'call', 'get_broken', '--json'])
  expect(failed.code).toBe(1)
  expect(JSON.parse(failed.stdout)).toMatchObject({
    error: { code: 'execution', message: 'out of order' },
    report: {
      tool: 'things__get_broken',
      attempts: 3,
      errors: ['Attempt 1: out of order', 'Attempt 2: out of order', 'Attempt 3: out of order'],
      suggestion: expect.any(String),
    },
  })
})

it('does not print a large result in the terminal unless the user requests all of it', async () => {
  const short = await shared.run(['tools', 'call', 'get_big', '{"megabytes": 5}'])
  const [saved = '', ...lines] = short.stdout.trimEnd().split('\n').toReversed()
  expect(lines.toReversed().join('\n')).toBe(
    'Result (large): 5,000,011 chars\nSummary: first line … (5,000,011 chars (2 lines))\nNext: --raw shows all of it.',
  )
  expect(readFileSync(saved.replace('Saved: ', ''), 'utf8')).toHaveLength(5_000_011)
  const raw = await shared.run(['tools', 'call', 'get_big', '--raw'])
  expect(raw.stdout).toHaveLength(1_000_012)
  const json = await shared.run(['tools', 'call', 'get_big', '{"megabytes": 5}', '--json'])
  const { result } = JSON.parse(json.stdout)
  expect(readFileSync(result.path, 'utf8')).toHaveLength(5_000_011)
})

it('does not repeat a call whose answer is too large', async () => {
  const { code, stderr } = await shared.run(['tools', 'call', 'get_big', '{"megabytes": 50}'])
  expect(code).toBe(1)
  expect(stderr).toContain('1) Ask for less')
  expect(newCalls()).toEqual(['get_big {"megabytes":50}'])
})

it('saves pictures to new files, in the named directory', async () => {
  const { stdout } = await shared.run(['tools', 'call', 'get_image', '--output', 'shots'])
  const path = /^Path: (.*)$/m.exec(stdout)?.[1] ?? ''
  expect(path).toContain(join(shared.root, 'shots', 'get_image-'))
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readFileSync(path).subarray(1, 4).toString()).toBe('PNG')
  const imageCall = await shared.run(['tools', 'call', 'get_image'])
  expect(imageCall.stdout).toContain(join(shared.root, '.skillrail', 'results', 'get_image-'))
})

it('shows control characters as text', async () => {
  expect((await shared.run(['tools', 'call', 'get_escape'])).stdout).toBe(
    'Success: \\x1b[2Jcleared\n',
  )
  const raw = await shared.run(['tools', 'call', 'get_escape', '--raw'])
  expect(raw.stdout).toBe('\\x1b[2Jcleared\n')
})

it('prints progress', async () => {
  const { stderr } = await shared.run(['tools', 'call', 'get_echo', 'message=x', '--verbose'])
  expect(stderr).toContain('things__get_echo 1/4 on the way')
})

it('runs a batch from an argument, a file and standard input', async () => {
  const batch = 'BATCH: [{"tool": "get_echo", "params": {"message": "a"}}, {"tool": "get_broken"}]'
  writeFileSync(join(shared.root, 'batch.json'), batch.slice(7))
  const results = [
    { tool: 'get_echo', status: 'success', result: 'a 1' },
    { tool: 'get_broken', status: 'error', error: 'out of order' },
  ]
  for (const [argument, stdin] of [[batch], ['@batch.json'], ['-', batch]]) {
    const answer = await shared.run(['tools', 'batch', argument ?? '', '--json'], stdin)
    expect(JSON.parse(answer.stdout)).toEqual(results)
    expect(answer.code).toBe(1)
  }
  const batchResult = await shared.run(['tools', 'batch'], batch)
  expect(batchResult.stdout).toBe('1. get_echo: a 1\n2. get_broken: Error: out of order\n')
  expect(batchResult.stderr).toContain('Partial success: 1 succeeded, 1 failed')
  expect(batchResult.stderr).toContain('✓ 1/2 get_echo')
})

it('rejects a batch of eleven and a chain of six as a whole', async () => {
  const members = (count: number): string =>
    JSON.stringify(Array.from({ length: count }, () => ({ tool: 'get_image' })))
  const batch = await shared.run(['tools', 'batch', members(11)])
  expect(batch).toMatchObject({ code: 2, stdout: '' })
  expect(batch.stderr).toContain('Batch size exceeds limit of 10 tools')
  const chain = await shared.run(['tools', 'chain', members(6), '--json'])
  expect(chain.code).toBe(2)
  expect(JSON.parse(chain.stdout)).toEqual({
    error: { code: 'chain-too-long', message: 'Chain length exceeds limit of 5 tools' },
  })
  expect(newCalls()).toEqual([])
})

it('runs a chain with references', async () => {
  const chain = JSON.stringify([
    { tool: 'list_things', params: { count: 2 }, output_as: 'things' },
    { tool: 'get_echo', params: { message: 'id $things[1].id', times: '$things[1].id' } },
    { tool: 'get_echo', params: { message: '$nobody' } },
    { tool: 'get_image' },
  ])
  const { code, stdout } = await shared.run(['tools', 'chain', chain, '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toEqual({
    completed: [
      { tool: 'list_things', result: [{ id: 0 }, { id: 1 }] },
      { tool: 'get_echo', result: 'id 1 1' },
    ],
    failed: { tool: 'get_echo', error: '$nobody is unknown; known here: $things' },
    skipped: ['get_image'],
  })
})

it('prints the calls of a dry run and makes none', async () => {
  const batch = '[{"tool": "create_thing", "params": {"name": "x"}}, {"tool": "get_image"}]'
  const { stdout } = await shared.run(['tools', 'batch', batch, '--dry-run'])
  expect(stdout).toBe(
    '1. things__create_thing {"name":"x"} (may change something)\n2. things__get_image {} (reads)\n',
  )
  const chain =
    '[{"tool": "get_image", "output_as": "a"}, {"tool": "get_echo", "params": {"message": "$b"}}]'
  const planned = await shared.run(['tools', 'chain', chain, '--dry-run'])
  expect(planned.stdout).toContain(
    '→ $a (reads)\n2. things__get_echo {"message":"$b"} (reads; $b is unknown here)',
  )
  await shared.run(['tools', 'do', 'get the image', '--dry-run'])
  expect(newCalls()).toEqual([])
})

it('reports the refusal of a schema before any call', async () => {
  const batch = '[{"tool": "get_echo", "params": {"mesage": "x"}}, {"tool": "get_image"}]'
  const planned = await shared.run(['tools', 'batch', batch, '--dry-run'])
  expect(planned).toMatchObject({
    code: 2,
    stdout:
      '1. things__get_echo {"mesage":"x"} (reads; Missing: message; Invalid: mesage is not a parameter (did you mean message?))\n2. things__get_image {} (reads)\n',
    stderr: '2 calls planned; nothing was called. 1 call cannot be made like this.\n',
  })
  const document = await shared.run(['tools', 'batch', batch, '--dry-run', '--json'])
  expect(JSON.parse(document.stdout).steps[0].problems[0]).toBe('Missing: message')
  const requestResult = await shared.run([
    'tools',
    'do',
    '--dry-run',
    'Use things__get_echo {"times": 1}',
  ])
  expect(requestResult).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('Missing: message'),
  })
  const called = await shared.run(['tools', 'batch', batch.replace('get_image', 'get_broken')])
  expect(called.code).toBe(1)
  expect(called.stdout).toContain('1. get_echo: Error: invalid parameters for things__get_echo')
  expect(called.stdout).toContain('\n   Complete it: skillrail tools call things__get_echo ')
  expect(called.stderr).toContain('Failure: 0 succeeded, 2 failed')
  expect(newCalls().every((call) => call.startsWith('get_broken'))).toBe(true)
})

it('prints the call to complete if a parameter is missing', async () => {
  const line = `skillrail tools call things__get_echo '{"times":2,"message":"<string>"}'`
  const called = await shared.run(['tools', 'call', 'get_echo', 'times=2'])
  expect(called).toMatchObject({ code: 2, stderr: expect.stringContaining(line) })
  const requestResult = await shared.run(['tools', 'do', 'things__create_thing'])
  const create = `Next: complete it: skillrail tools call things__create_thing '{"name":"<string>"}'`
  expect(requestResult).toMatchObject({ code: 3, stderr: expect.stringContaining(create) })
  expect(newCalls()).toEqual([])
})

it('reports another spelling of a name', async () => {
  const output = await shared.run(['tools', 'call', 'get-echo', 'message=x'])
  expect(output).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('There is no tool get-echo; things__get_echo was taken'),
  })
  const { stdout } = await shared.run(['tools', 'call', 'get-echo', 'message=x', '--json'])
  expect(JSON.parse(stdout).notes).toEqual([expect.stringContaining('things__get_echo was taken')])
})

it('calls a tool that only reads, and refuses others without an approval', async () => {
  const read = await shared.run(['tools', 'do', 'list', 'the', 'things'])
  expect(read).toMatchObject({ code: 0, stdout: expect.stringContaining('Success: 3 items') })
  const call = 'Use MetaMCP_things__create_thing {"name": "x"}'
  const refused = await shared.run(['tools', 'do', call])
  expect(refused).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('things__create_thing {"name":"x"} needs your approval.'),
  })
  expect(newCalls()).toEqual(['list_things {}'])
  const done = await shared.run(['tools', 'do', '--yes', call])
  expect(done).toMatchObject({
    code: 0,
    stdout: 'Called (by name): things__create_thing {"name":"x"}\nSuccess: created x\n',
  })
})

it('exits with 3 and the candidates if it is not certain', async () => {
  const { code, stdout } = await shared.run(['tools', 'do', '--json', 'get something from there'])
  expect(code).toBe(3)
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: 'request-unclear' },
    candidates: expect.any(Array),
  })
  expect(newCalls()).toEqual([])
})

it('cancels the call on Ctrl-C and ends with 130', async () => {
  expect(await interrupted(['call', 'get_slow'])).toMatchObject({ code: 130 })
})

const threeMembers =
  '[{"tool": "get_echo", "params": {"message": "a"}}, {"tool": "get_slow"}, {"tool": "get_image"}]'
const underWay = 'cancelled while it was under way; it may have acted'

it('shows the results of a batch and a chain until Ctrl-C', async () => {
  const batch = await interrupted(['batch', threeMembers])
  expect(batch.code).toBe(130)
  expect(batch.stdout).toBe(
    '1. get_echo: a 1\n2. get_slow: cancelled while it was under way; it may have acted\n3. get_image: cancelled before it was called\n',
  )
  const chain = await interrupted(['chain', threeMembers, '--json'])
  expect(chain.code).toBe(130)
  expect(JSON.parse(chain.stdout)).toEqual({
    completed: [{ tool: 'get_echo', result: 'a 1' }],
    cancelled: { tool: 'get_slow', error: underWay },
    skipped: ['get_image'],
  })
  expect(newCalls()).not.toContain('get_image {}')
})

/** Runs a command of `tools` and presses Ctrl-C when `get_slow` is called. */
async function interrupted(words: readonly string[]): Promise<{ code: unknown; stdout: string }> {
  const args = [
    '--disable-warning=ExperimentalWarning',
    bin,
    '--trust-workspace',
    'tools',
    ...words,
  ]
  before = shared.calls().length
  const child = spawn(process.execPath, args, {
    cwd: shared.root,
    env: { PATH: process.env['PATH'], HOME: shared.home },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let stdout = ''
  child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  const ended = new Promise((resolve) => child.on('close', resolve))
  await until(() => newCalls().includes('get_slow {}'))
  child.kill('SIGINT')
  const code = await ended
  await until(() => newCalls().includes('cancelled'))
  return { code, stdout }
}

it('cancels a call that takes too long', async () => {
  const { code, stderr } = await shared.run(['tools', 'call', 'get_slow', '--timeout', '0.2'])
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Timeout: things__get_slow after \d+ms$/m)
})

it('does not repeat a call if the server ended during it', async () => {
  const { code, stderr } = await shared.run(['tools', 'call', 'crash_now'])
  expect(code).toBe(1)
  expect(stderr).toContain('Delivery unknown: things__crash_now may have acted.')
  expect(newCalls()).toEqual(['crash_now {}'])
})

it('repeats no call if the settings contain no waits', async () => {
  mkdirSync(join(shared.root, '.skillrail'), { recursive: true })
  const path = join(shared.root, '.skillrail', 'config.json')
  writeFileSync(path, '{"tools": {"retryWaits": []}}')
  await shared.run(['tools', 'call', 'get_broken'], '', '')
  writeFileSync(path, '{}')
  expect(newCalls()).toEqual(['get_broken {}'])
})

const workflow = {
  careful: {
    enabled: true,
    description: 'Look before you create.',
    triggers: { tools: ['create_thing'] },
    prerequisites: [
      { step: 1, tool: 'list_things', description: 'Know the things', params: { count: 1 } },
    ],
    mode: 'enforce',
  },
}

it('neither runs nor skips a workflow of a project that nobody trusted', async () => {
  const path = join(shared.root, '.skillrail', 'workflows.json')
  mkdirSync(join(shared.root, '.skillrail'), { recursive: true })
  writeFileSync(path, JSON.stringify(workflow))
  const args = ['tools', 'call', 'create_thing', 'name=a', '--session', 'untrusted']
  const refused = await shared.runUntrusted(args)
  const free = await shared.runUntrusted(['tools', 'call', 'get_echo', 'message=b'])
  writeFileSync(path, '{}')
  expect(refused).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("Workflow 'careful' must run first and may not:"),
  })
  expect(refused.stderr).not.toContain('Running')
  expect(free.code).toBe(0)
  expect(newCalls()).toEqual(['get_echo {"message":"b"}'])
})

it.each(['.opencode/.agent-skill-session.json', '.skillrail/session.json'])(
  'runs the steps of a workflow even if %s of the project claims that they have run',
  async (name) => {
    const path = join(shared.root, '.skillrail', 'workflows.json')
    const at = new Date().toISOString()
    const completed = { careful: { list_things: { at, result: 'Found 3' } } }
    mkdirSync(dirname(join(shared.root, name)), { recursive: true })
    writeFileSync(path, JSON.stringify(workflow))
    writeFileSync(
      join(shared.root, name),
      JSON.stringify({ session_id: 'x', started_at: at, completed }),
    )
    const called = await shared.run(['tools', 'call', 'create_thing', 'name=a'])
    await shared.run(['tools', 'session', 'clear', '--log'])
    writeFileSync(path, '{}')
    rmSync(join(shared.root, '.opencode'), { recursive: true, force: true })
    expect(called.code).toBe(0)
    expect(newCalls()).toEqual(['list_things {"count":1}', 'create_thing {"name":"a"}'])
  },
)

it('calls no tool while a workflow cannot be read, since it may forbid the call', async () => {
  const path = join(shared.root, '.skillrail', 'workflows.json')
  mkdirSync(join(shared.root, '.skillrail'), { recursive: true })
  writeFileSync(path, `${JSON.stringify(workflow)},`)
  const refused = await shared.run(['tools', 'call', 'get_echo', 'message=b'])
  const listed = await shared.run(['tools', 'workflow', 'list'])
  writeFileSync(path, '{}')
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('cannot be read') })
  expect(listed).toMatchObject({ code: 1, stdout: '' })
  expect(newCalls()).toEqual([])
})

it.each([
  ['call', ['things__create_thing', 'name=a']],
  ['do', ['--yes', 'things__create_thing {"name": "a"}']],
  ['batch', ['[{"tool": "create_thing", "params": {"name": "a"}}]']],
  ['chain', ['[{"tool": "create_thing", "params": {"name": "a"}}]']],
])('checks the gate of workflows in tools %s', async (name, args) => {
  const path = join(shared.root, '.skillrail', 'workflows.json')
  mkdirSync(join(shared.root, '.skillrail'), { recursive: true })
  writeFileSync(path, JSON.stringify(workflow))
  const session = ['--session', `gate-${name}`]
  const first = await shared.run(['tools', name, ...args, ...session])
  expect(first.code).toBe(0)
  expect(first.stderr).toContain("Workflow 'careful' triggered. Running 1 prerequisite...")
  expect(first.stderr).toContain('✓ Step 1: list_things completed')
  await shared.run(['tools', name, ...args, ...session])
  const failing = structuredClone(workflow)
  failing.careful.prerequisites[0] = {
    step: 1,
    tool: 'get_broken',
    description: 'fails',
    params: { count: 1 },
  }
  writeFileSync(path, JSON.stringify(failing))
  const refused = await shared.run(['tools', name, ...args, ...session])
  writeFileSync(path, '{}')
  const output = name === 'batch' || name === 'chain' ? refused.stdout : refused.stderr
  expect(output).toContain("Workflow 'careful' failed at step 1 (get_broken):")
  expect(refused.code).toBe(1)
  const made = newCalls().filter((call) => !call.startsWith('get_broken'))
  expect(made).toEqual([
    'list_things {"count":1}',
    'create_thing {"name":"a"}',
    'create_thing {"name":"a"}',
  ])
})
