import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
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
  const plan = async (...options: readonly string[]) => {
    const { code, stdout } = await session.cli('chain', 'plan', 'ship', '--json', ...options)
    const { steps, diagnostics, client } = JSON.parse(stdout)
    const codes = diagnostics.map(({ code }: { code: string }) => code)
    return { code, steps, codes, diagnostics, client }
  }
  return { ...session, plan }
}

describe('the plan of a chain that has steps without a script', () => {
  it('is an error while no client can execute them, and names the command that would change it', async () => {
    const { plan } = plans()
    const { code, codes, diagnostics } = await plan()
    expect(code).toBe(3)
    expect(codes).toEqual(['no-executor', 'no-executor', 'guard-not-enforced'])
    expect(diagnostics[0].hint).toContain('skillrail hooks install.')
    expect((await plan('--client', 'qwen')).diagnostics[0].hint).toContain(
      'skillrail hooks install qwen',
    )
  })

  it('is refused by run with the same command, printed once', async () => {
    const { cli } = plans()
    const { code, stderr } = await cli('run', 'ship')
    expect(code).toBe(3)
    expect(stderr).toContain('nothing executes the step publish: its skill has no script')
    expect(stderr.match(/skillrail hooks install\./g)).toHaveLength(1)
  })

  it('is not an error once a client has the hook, while run still refuses', async () => {
    const { plan, cli } = plans()
    expect((await cli('hooks', 'install', 'claude')).code).toBe(0)
    const { code, codes, diagnostics, steps } = await plan()
    expect([code, codes]).toEqual([0, ['rail-executes']])
    expect(diagnostics[0].message).toContain('/ship')
    expect(steps).toMatchObject([{ executor: 'driven' }, { executor: 'driven' }])
    expect((await cli('run', 'ship')).code).toBe(3)
    expect((await cli('run', 'ship', '--dry-run')).code).toBe(3)
    expect((await plan('--client', 'codex')).code).toBe(3)
    expect((await plan('--via', 'claude')).codes).not.toContain('rail-executes')
  })

  it('is an error again with an old registration, and with disabled rails', async () => {
    const { plan, cli, home, env } = plans()
    await cli('hooks', 'install', 'claude')
    expect((await plan()).code).toBe(0)
    Object.assign(env, { SKILLRAIL_RAIL_START: 'never' })
    expect(await plan()).toMatchObject({ code: 3 })
    expect((await plan()).diagnostics[0].hint).toContain('rail.start')
    Object.assign(env, { SKILLRAIL_RAIL_START: 'invoked' })
    const file = join(home, '.claude/settings.json')
    const { hooks, ...rest } = JSON.parse(readFileSync(file, 'utf8'))
    const { Stop: _stop, ...before } = hooks
    writeFileSync(file, JSON.stringify({ ...rest, hooks: before }))
    expect(await plan()).toMatchObject({ code: 3 })
    const status = await cli('hooks', 'status', 'claude')
    expect(status.code).toBe(1)
    expect(status.stdout).toContain('its registration has no Stop. Run: skillrail hooks install')
  })
})

describe('the plan for one client', () => {
  it('lists what the client enforces and what it cannot do', async () => {
    const { plan, cli } = plans()
    const { client } = await plan('--client', 'copilot')
    expect(client).toMatchObject({ client: 'copilot', rail: { state: 'absent' } })
    expect(client.enforced.join('\n')).toContain(
      'Until publish, git push and calls of mcp__hub__merge are denied.',
    )
    expect(client.enforced.join('\n')).toContain('write is done only if npm test succeeds.')
    const abouts = client.limits.map(({ about }: { about: string }) => about)
    expect(abouts).toEqual(['turns', 'checks', 'lines', 'subagents'])
    const { stdout } = await cli('chain', 'plan', 'ship', '--client', 'copilot')
    expect(stdout).toContain('Copilot CLI: no chain runs as a rail')
    expect(stdout).toContain('A turn has at most 7 steps')
  })

  it('promises nothing for a client that does not report the end of a turn', async () => {
    const { plan, cli } = plans()
    await cli('hooks', 'install', 'cursor', 'claude')
    const { code, client, diagnostics } = await plan('--client', 'cursor')
    expect(code).toBe(3)
    expect(client).toMatchObject({ rail: { state: 'unsupported' }, enforced: [] })
    expect(diagnostics[0].hint).toContain('chain start')
    expect((await cli('chain', 'plan', 'ship', '--client', 'vim')).code).toBe(2)
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

it('is an error while the clients with the hook do not read the chain, and names them', async () => {
  const { cli, plan, directory } = plans()
  await cli('hooks', 'install', 'codex')
  const { code, diagnostics } = await plan()
  expect(code).toBe(3)
  expect(diagnostics[0].hint).toContain('do not: Codex.')
  mkdirSync(join(directory, '.agents'))
  symlinkSync('../.claude/skills', join(directory, '.agents/skills'))
  expect(await plan()).toMatchObject({ code: 0, codes: ['rail-executes'] })
})

it('hooks install names a chain for the clients that read it, and says what makes the others read it', async () => {
  const { cli, directory } = makeSession(ship)
  const { stderr } = await cli('hooks', 'install', 'claude', 'codex')
  expect(stderr).toContain('Start a chain: /ship in Claude Code\n')
  const fix = 'mkdir -p .agents && ln -s ../.claude/skills .agents/skills'
  expect(stderr).toContain(
    `Codex cannot start ship: it does not read .claude/skills. So that it does: ${fix}\n`,
  )
  execFileSync('sh', ['-c', fix], { cwd: directory })
  const again = await cli('hooks', 'install', 'claude', 'codex')
  expect(again.stderr).toContain('Start a chain: /ship in Claude Code; $ship in Codex\n')
  expect(again.stderr).not.toContain('cannot start')
  expect((await cli()).stderr).toContain('Start a chain: /ship in Claude Code; $ship in Codex\n')
})

it('hooks status says that chains run as rails in Codex only once it trusts the hook', async () => {
  const { cli } = makeSession(ship)
  await cli('hooks', 'install', 'claude', 'codex')
  const { stdout } = await cli('hooks', 'status', 'claude', 'codex')
  expect(stdout).toContain('chains run as rails once Codex trusts the hook')
  expect(stdout).toContain('Claude Code: chains run as rails\n')
})

describe('a chain in a folder that a client does not read', () => {
  const guarded = {
    ship: { metadata: [...ship.ship.metadata, 'guards: always'] },
    write: {},
    publish: {},
  }

  it('is not said to start by its name, neither in the plan nor in a denial', async () => {
    const session = makeSession(guarded)
    const { cli, as, directory } = session
    await cli('hooks', 'install', 'claude', 'codex')
    await cli('trust', '--yes')
    const { stdout, code } = await cli('chain', 'plan', 'ship', '--client', 'codex')
    expect(code).toBe(3)
    expect(stdout).toContain('Codex: it does not read .claude/skills, so there is no $ship;')
    expect(stdout).toContain('skillrail chain start ship')
    expect(stdout).not.toContain('$ship starts the chain')
    expect(stdout).not.toContain('chains run as rails')
    as('codex')
    expect(await session.bash('git push')).toMatch(
      /Start `(npx )?skillrail chain start ship` first/,
    )
    as('claude')
    expect(await session.bash('git push')).toContain('Start `/ship` first')
    mkdirSync(join(directory, '.agents'))
    symlinkSync('../.claude/skills', join(directory, '.agents/skills'))
    as('codex')
    expect(await session.bash('git push')).toContain('Start `$ship` first')
    const again = await cli('chain', 'plan', 'ship', '--client', 'codex')
    expect(again.code).toBe(0)
    expect(again.stdout).toContain('$ship starts the chain')
  })
})
