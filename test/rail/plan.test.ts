import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeSession } from './_session.ts'

const ship = {
  ship: {
    metadata: [
      'chain: |',
      '  write check="npm test"',
      '  publish gate guard="Bash(git push:*) mcp__hub__merge"',
    ],
  },
  write: {},
  publish: {},
}

function plans(skills: Parameters<typeof makeSession>[0] = ship) {
  const session = makeSession(skills)
  const plan = (...options: readonly string[]) => {
    const { status, stdout } = session.cli('chain', 'plan', 'ship', '--json', ...options)
    const { steps, diagnostics, client } = JSON.parse(stdout)
    const codes = diagnostics.map(({ code }: { code: string }) => code)
    return { status, steps, codes, diagnostics, client }
  }
  return { ...session, plan }
}

describe('the plan of a chain that has steps without a script', () => {
  it('is an error while no client can execute them, and names the command that would change it', () => {
    const { plan } = plans()
    const { status, codes, diagnostics } = plan()
    expect(status).toBe(3)
    expect(codes).toEqual(['no-executor', 'no-executor', 'guard-not-enforced'])
    expect(diagnostics[0].hint).toContain('skillrail hooks install.')
    expect(plan('--client', 'qwen').diagnostics[0].hint).toContain('skillrail hooks install qwen')
  })

  it('is not an error once a client has the hook, while run still refuses', () => {
    const { plan, cli } = plans()
    expect(cli('hooks', 'install', 'codex').status).toBe(0)
    const { status, codes, diagnostics, steps } = plan()
    expect([status, codes]).toEqual([0, ['rail-executes']])
    expect(diagnostics[0].message).toContain('$ship')
    expect(steps).toMatchObject([{ executor: 'driven' }, { executor: 'driven' }])
    expect(cli('run', 'ship').status).toBe(3)
    expect(cli('run', 'ship', '--dry-run').status).toBe(3)
    expect(plan('--client', 'claude').status).toBe(3)
    expect(plan('--via', 'claude').codes).not.toContain('rail-executes')
  })

  it('is an error again with an old registration, and with disabled rails', () => {
    const { plan, cli, home, env } = plans()
    cli('hooks', 'install', 'claude')
    expect(plan().status).toBe(0)
    Object.assign(env, { SKILLRAIL_RAIL_START: 'never' })
    expect(plan()).toMatchObject({ status: 3 })
    expect(plan().diagnostics[0].hint).toContain('rail.start')
    Object.assign(env, { SKILLRAIL_RAIL_START: 'invoked' })
    const file = join(home, '.claude/settings.json')
    const { hooks, ...rest } = JSON.parse(readFileSync(file, 'utf8'))
    const { Stop: _stop, ...before } = hooks
    writeFileSync(file, JSON.stringify({ ...rest, hooks: before }))
    expect(plan()).toMatchObject({ status: 3 })
    const status = cli('hooks', 'status', 'claude')
    expect(status.status).toBe(1)
    expect(status.stdout).toContain('its registration has no Stop. Run: skillrail hooks install')
  })
})

describe('the plan for one client', () => {
  it('lists what the client enforces and what it cannot do', () => {
    const { plan, cli } = plans()
    const { client } = plan('--client', 'copilot')
    expect(client).toMatchObject({ client: 'copilot', rail: { state: 'absent' } })
    expect(client.enforced.join('\n')).toContain(
      'Until publish, git push and calls of mcp__hub__merge are denied.',
    )
    expect(client.enforced.join('\n')).toContain('write is done only if npm test succeeds.')
    const abouts = client.limits.map(({ about }: { about: string }) => about)
    expect(abouts).toEqual(['turns', 'checks', 'lines', 'compaction', 'subagents'])
    const { stdout } = cli('chain', 'plan', 'ship', '--client', 'copilot')
    expect(stdout).toContain('Copilot CLI: no chain runs as a rail')
    expect(stdout).toContain('A turn has at most 7 steps')
  })

  it('promises nothing for a client that does not report the end of a turn', () => {
    const { plan, cli } = plans()
    cli('hooks', 'install', 'cursor', 'claude')
    const { status, client, diagnostics } = plan('--client', 'cursor')
    expect(status).toBe(3)
    expect(client).toMatchObject({ rail: { state: 'unsupported' }, enforced: [] })
    expect(diagnostics[0].hint).toContain('chain start')
    expect(cli('chain', 'plan', 'ship', '--client', 'vim').status).toBe(2)
  })
})

it('starts no rail in a client that does not report the end of a turn, and names the commands instead', async () => {
  const { as, prompt, send } = makeSession(ship)
  as('cursor')
  const answer = await send({ hook_event_name: 'beforeSubmitPrompt', prompt: '/ship' })
  expect(JSON.stringify(answer)).toContain('skillrail chain start ship')
  as('claude')
  expect(await prompt('rail status')).toBeUndefined()
})

it('hooks install names the chains that run as rails, as each client invokes them', () => {
  const { cli } = makeSession(ship)
  const { stderr, stdout } = cli('hooks', 'install', 'claude', 'codex')
  expect(stderr + stdout).toContain('run as rails when you call them: /ship, $ship')
})
