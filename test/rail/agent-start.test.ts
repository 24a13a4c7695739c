import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Platform } from '../../src/hooks/adapters.ts'
import { readPayload } from '../../src/hooks/prompt.ts'
import { readStartCall } from '../../src/rail/agent-start.ts'
import { connect } from '../mcp/_project.ts'
import { type HookJson, makeSession } from './_session.ts'

const ship = {
  ship: {
    metadata: [
      'chain: |',
      '  implement check="test -f done.txt"',
      '  publish gate guard="Bash(git push:*)"',
    ],
  },
  implement: { body: 'Write done.txt for $ARGUMENTS.' },
  publish: { body: 'Push the branch.' },
  other: { metadata: ['chain: |', '  implement'] },
  mine: { top: ['disable-model-invocation: true'], metadata: ['chain: |', '  implement'] },
  button: { top: ['disable-model-invocation: true'], body: 'Press it.' },
  pressing: { metadata: ['chain: |', '  implement', '  button'] },
  broken: { metadata: ['chain: [missing]'] },
}

type Session = ReturnType<typeof makeSession>

function denialIn(answer: HookJson | undefined): string | undefined {
  const { permissionDecision, permissionDecisionReason, decision, reason } = {
    ...answer,
    ...answer?.hookSpecificOutput,
  }
  return [permissionDecision, decision].includes('deny')
    ? (permissionDecisionReason ?? reason)
    : undefined
}

/** The names of the runs in the state of the session. */
function runsOf({ home }: Session): string[] {
  const state = join(home, '.local/state/skillrail')
  return readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /runs\/[^/]+\.jsonl$/.test(file),
  )
}

describe('a chain that the agent starts in its shell', () => {
  it('starts as a rail, with its check and its guards, in place of the command', async () => {
    const session = makeSession(ship)
    const denied = await session.bash('npx skillrail chain start ship "the wood"')
    expect(denied).toContain('Do only this step now: `implement` (1 of 2)')
    expect(denied).toContain('Write done.txt for the wood.')
    expect(runsOf(session)).toHaveLength(1)
    expect(await session.bash('git push')).toContain('belongs to the step `publish`')
    expect(await session.stop('All done.')).toMatchObject({ decision: 'block' })
    session.write('done.txt', 'x')
    expect((await session.stop())?.systemMessage).toContain('waits for your approval of publish')
    const second = await session.bash('skillrail chain start other')
    expect(second).toContain('The chain `ship` is still open in this session')
    expect(runsOf(session)).toHaveLength(1)
  })

  it('does not start where it may not, and the message says what helps', async () => {
    const session = makeSession(ship)
    expect(await session.bash('skillrail chain start mine')).toContain('Only the user starts')
    expect(await session.bash('skillrail chain start pressing')).toContain(
      'sets disable-model-invocation',
    )
    expect(await session.bash('skillrail chain start broken')).toContain('did not start as a rail')
    expect(session.standing()).toBe('')
  })

  it('leaves the guards of a chain that did not start, until the user decides', async () => {
    const session = makeSession(ship)
    Object.assign(session.env, { SKILLRAIL_WORKSPACE_TRUST: 'ask' })
    const refused = await session.bash('skillrail chain start ship')
    expect(refused).toContain('skillrail trust')
    expect(refused).toContain('type "rail stop"')
    expect(await session.bash('git push')).toContain('which did not start')
    expect(await session.bash('skillrail chain start ship')).toContain('Only the user starts')
    await session.prompt('rail stop')
    expect(await session.bash('git push')).toBeUndefined()
  })

  it('starts as a run of the stepper with `rail.start` "never", and for a subagent', async () => {
    const session = makeSession(ship)
    const command = 'skillrail chain start ship'
    const agent = { agent_id: 'a1' }
    expect(await session.call('Bash', { command }, agent)).toBeUndefined()
    session.write('../home/.config/skillrail/config.json', '{ "rail": { "start": "never" } }')
    expect(await session.bash(command)).toBeUndefined()
    expect(await session.bash(`${command} | head`)).toBeUndefined()
    expect(session.standing()).toBe('')
  })
})

it.each([
  ['claude', { tool_name: 'mcp__rails__chain_start' }],
  ['codex', { tool_name: 'mcp__rails__chain_start' }],
  ['copilot', { tool_name: 'rails-chain_start', hook_event_name: 'preToolUse' }],
  ['gemini', { tool_name: 'mcp_rails_chain_start', hook_event_name: 'BeforeTool' }],
  ['opencode', { tool_name: 'rails_chain_start' }],
  ['qwen', { tool_name: 'mcp__rails__chain_start' }],
] as const satisfies readonly (readonly [Platform, object])[])(
  'starts a chain as a rail where the agent of %s calls the MCP tool',
  async (client, call) => {
    const session = makeSession(ship, client)
    const input = { skill: 'ship', arguments: ['the', 'wood'] }
    const about = { hook_event_name: 'PreToolUse', tool_input: input, tool_use_id: 'x', ...call }
    expect(denialIn(await session.send(about))).toContain('Write done.txt for the wood.')
    expect(session.standing()).toBe('working')
    expect(await session.stop()).toMatchObject({ decision: 'block' })
  },
)

it('ends a step of a rail only after its check, whatever the agent calls', async () => {
  const session = makeSession(ship)
  await session.prompt('/ship')
  const run = session.runId()
  const next = await session.cli('chain', 'next', run)
  expect(next).toMatchObject({ code: 0 })
  expect(next.stdout).toContain('after the check of the step')
  expect(next.stdout).not.toContain('Write done.txt')
  const server = await connect({ project: session.directory, home: session.home })
  const report = { run, step: 'implement', status: 'success' }
  expect(await server.text('chain_report', report)).toContain('End your turn now')
  expect(await server.text('chain_next', { run })).toContain('Its current step is `implement`')
  expect(await server.text('chain_report', { ...report, step: 'publish' })).toContain(
    'waits for no report',
  )
  await server.client.close()
  const blocked = await session.stop()
  expect(blocked).toMatchObject({ decision: 'block' })
  expect(blocked?.reason).toContain('test -f done.txt')
  expect(await session.bash('git push')).toContain('belongs to the step')
})

describe('a call that starts a chain', () => {
  const readLine = (command: string) => {
    const input = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command } }
    const reading = readPayload(JSON.stringify(input))
    return reading.ok ? readStartCall(reading.payload) : undefined
  }

  it.each([
    ['skillrail chain start ship', { skill: 'ship', words: [] }],
    ['npx skillrail chain start ship 1.2', { skill: 'ship', words: ['1.2'] }],
    ['npx --yes skillrail chain start ship "a b" -- -c', { skill: 'ship', words: ['a b', '-c'] }],
    ['./node_modules/.bin/skillrail chain start ship --json 2>&1', { skill: 'ship', words: [] }],
    ['skillrail chain start --require-verified ship', { skill: 'ship', requireVerified: true }],
  ])('is read from %s', (line, expected) => {
    expect(readLine(line)).toMatchObject({ kind: 'start', ...expected })
  })

  it.each([
    'cd x && skillrail chain start ship',
    'skillrail chain start ship | head',
    'skillrail chain start $NAME',
    'A=1 skillrail chain start ship',
    'sh -c "skillrail chain start ship"',
    'skillrail -C x chain start ship',
    'skillrail chain start ship --unsafe-no-sandbox',
  ])('has to be written otherwise than %s', (line) => {
    expect(readLine(line)).toMatchObject({ kind: 'unclear' })
  })

  it.each([
    'skillrail chain start --help',
    'skillrail chain start',
    'skillrail chain status ship',
    'git commit -m "skillrail chain start ship"',
    'echo skillrail chain start ship',
    'cat <<EOF\nskillrail chain start ship\nEOF',
  ])('is not %s', (line) => {
    expect(readLine(line)).toBeUndefined()
  })

  it('is read with any arguments, as the shell passes them', () => {
    const isUsual = (text: string): boolean => !text.includes('\0') && !/^(?:--help|-h)$/.test(text)
    const word = fc.string({ minLength: 1, maxLength: 12 }).filter(isUsual)
    const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
    const given = fc.array(word, { maxLength: 4 })
    fc.assert(
      fc.property(given, (words) => {
        const line = `skillrail chain start ship -- ${words.map(quoted).join(' ')}`
        expect(readLine(line)).toMatchObject({ kind: 'start', skill: 'ship', words })
      }),
      { seed: 30, numRuns: 200 },
    )
  })
})
