import fc from 'fast-check'
import { expect, it } from 'vitest'
import { makeSession } from './_session.ts'

const chain = {
  ship: {
    metadata: ['chain: |', '  implement check="false"', '  publish guard="Bash(git push:*)"'],
  },
  implement: {},
  publish: {},
}

/** Values that no client sends in these fields. */
const wrong = fc.oneof(
  fc.constant(undefined),
  fc.jsonValue({ maxDepth: 2 }).filter((value) => typeof value !== 'string' || value === ''),
)

it('denies a guarded call if fields of its event are missing or have another type', async () => {
  const session = makeSession(chain)
  await session.prompt('/ship')
  const event = {
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'git push' },
    session_id: 's1',
    tool_use_id: 'c1',
    transcript_path: '/t',
    permission_mode: 'default',
    cwd: session.directory,
  }
  const isDenied = async (changed: object): Promise<boolean> => {
    const answer = await session.send({ ...event, ...changed })
    return answer?.hookSpecificOutput?.permissionDecision === 'deny'
  }
  expect(await isDenied({})).toBe(true)
  expect(await isDenied({ tool_input: { command: 'git status' } })).toBe(false)
  // Without a session, the working directory says to which rails the call belongs.
  const fields = fc.constantFrom(
    'hook_event_name',
    'tool_name',
    'session_id',
    'tool_use_id',
    'transcript_path',
    'permission_mode',
  )
  const changes = fc.dictionary(fields, wrong, { minKeys: 1 })
  await fc.assert(fc.asyncProperty(changes, isDenied), { numRuns: 150 })
  await fc.assert(
    fc.asyncProperty(wrong, async (cwd) => await isDenied({ cwd })),
    { numRuns: 20 },
  )
})

it('denies a guarded command in whatever form its call has', async () => {
  const session = makeSession(chain)
  await session.prompt('/ship')
  for (const tool_input of [
    { command: ['git', 'push'] },
    { command: ['bash', '-lc', 'git push'] },
    { command: { line: 'git push' } },
    { cmd: 'git push' },
    'git push',
    '{"command":"git push"}',
    '{"command":["git","push"]}',
  ]) {
    const event = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input }
    const answer = await session.send(event)
    expect({ tool_input, answer: answer?.hookSpecificOutput }).toMatchObject({
      answer: { permissionDecision: 'deny' },
    })
  }
})

it('denies a guarded call whose input is too deep for JSON', async () => {
  const session = makeSession(chain)
  await session.prompt('/ship')
  const deep = `${'['.repeat(50_000)}"git push"${']'.repeat(50_000)}`
  const event = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: 'INPUT' }
  const answer = await session.sendText(
    JSON.stringify({ session_id: 's1', cwd: session.directory, ...event }).replace(
      '"INPUT"',
      `{"command":${deep}}`,
    ),
  )
  expect(answer?.hookSpecificOutput?.permissionDecision).toBe('deny')
})

it('lets a step with any list of tools be reported', async () => {
  const session = makeSession({
    ship: { metadata: ['chain: |', '  implement tools="Read"', '  publish guard="mcp__other"'] },
    implement: {},
    publish: {},
  })
  await session.prompt('/ship')
  const report = { run: session.runId(), step: 'implement', status: 'success' }
  expect(await session.call('mcp__skillrail__chain_report', report)).toBe(undefined)
  expect(await session.call('mcp__skillrail__chain_start', report)).toContain('allows only')
  expect(await session.call('mcp__other__chain_report', report)).toContain('belongs to the step')
  const line = `skillrail chain report ${report.run} --step implement --status success`
  expect(await session.bash(line)).toBe(undefined)
  for (const changed of [`NODE_OPTIONS=--require=./x.cjs ${line}`, `${line} > src/app.ts`]) {
    expect(await session.bash(changed)).toContain('allows only')
  }
})

it('denies a guarded command in a tool of the client that no list has', async () => {
  const session = makeSession(chain)
  await session.prompt('/ship')
  const isDenied = async (tool_name: string, tool_input: object): Promise<boolean> => {
    const answer = await session.send({ hook_event_name: 'PreToolUse', tool_name, tool_input })
    return answer?.hookSpecificOutput?.permissionDecision === 'deny'
  }
  for (const [tool, input] of [
    ['Monitor', { command: 'git push', description: 'x' }],
    ['PowerShell', { command: 'git push origin main' }],
    ['Tmux', { cmd: ['git', 'push'] }],
    ['mcp__desktop__execute', { command: 'cd x && git push' }],
    ['REPL', { code: 'import os; os.system("git push")' }],
  ] as const) {
    expect([tool, await isDenied(tool, input)]).toEqual([tool, true])
  }
  expect(await isDenied('Monitor', { command: 'npm test' })).toBe(false)
  expect(await isDenied('mcp__notes__add', { text: 'git push' })).toBe(false)
})
