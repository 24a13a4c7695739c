import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bin } from '../command-line.ts'
import { canStartFakeClients, installFakeClient, startFakeClient } from './_client-process.ts'
import { makeSession } from './_session.ts'

const chain = {
  ship: { metadata: ['chain: |', '  build', '  publish gate guard="Bash(git push:*)"'] },
  auto: { metadata: ['chain: |', '  build gate'] },
  build: { run: 'echo built' },
  publish: {},
}

/** Runs the command line as an agent does that works in the session. */
async function agentIn(client: 'marks' | 'ancestor') {
  const session = makeSession(chain)
  await session.prompt('/ship')
  const { directory, home, env } = session
  const program = join(home, 'claude')
  symlinkSync(process.execPath, program)
  const cli = (...args: readonly string[]) => {
    const command = ['--no-warnings', bin, ...args]
    // The link has the name of the client, and starts the command line as a separate program.
    const script = `const { status, stderr } = require('node:child_process').spawnSync(${JSON.stringify(process.execPath)}, ${JSON.stringify(command)}, { encoding: 'utf8' }); process.stderr.write(stderr); process.exit(status)`
    const start = client === 'ancestor' ? [program, '-e', script] : [process.execPath, ...command]
    const marks = client === 'marks' ? { CLAUDECODE: '1' } : {}
    const [file = '', ...rest] = start
    const { status, stderr } = spawnSync(file, rest, {
      cwd: directory,
      env: { ...env, ...marks },
      encoding: 'utf8',
    })
    return { status, stderr }
  }
  const runId = (): string => {
    const state = join(home, '.local/state/skillrail')
    const files = readdirSync(state, { recursive: true, encoding: 'utf8' })
    return (
      files
        .find((file) => file.endsWith('.jsonl') && file.includes('runs/'))
        ?.replace(/^.*\/|\.jsonl$/g, '') ?? ''
    )
  }
  return { ...session, cli, runId }
}

describe.each(['marks', 'ancestor'] as const)('an agent that is recognised by its %s', (client) => {
  it('cannot approve or reject its own gate, or give itself a permission', async () => {
    const { cli, runId } = await agentIn(client)
    for (const args of [
      ['runs', 'approve', runId()],
      ['runs', 'reject', runId()],
      ['run', 'auto', '--yes-gates'],
      ['run', 'auto', '--trust-workspace'],
      ['run', 'auto', '--grant', 'network'],
      ['trust', '--yes'],
      ['trust', '--revoke'],
      ['runs', 'cancel', runId()],
      ['runs', 'prune', '--unfinished'],
      ['hooks', 'uninstall', 'claude'],
      ['chain', 'start', 'auto'],
    ]) {
      const { status, stderr } = cli(...args)
      expect({ args, status }).toEqual({ args, status: 4 })
      expect(stderr).toContain('Claude Code has started this process')
      expect(stderr).toContain('rail approve')
    }
  })

  it('may start the chain of its rail again', async () => {
    const { cli } = await agentIn(client)
    expect(cli('chain', 'start', 'ship')).toMatchObject({ status: 6 })
  })
})

it.skipIf(!canStartFakeClients)(
  'refuses an approval in a terminal that an agent opens, with and without its variables',
  async () => {
    const { runId, home, directory, env } = await agentIn('marks')
    const session = { home: join(home, 'client'), directory, env }
    mkdirSync(session.home)
    const client = await startFakeClient(session, installFakeClient(session))
    const approve = `'${process.execPath}' --no-warnings '${bin}' runs approve ${runId()}`
    for (const line of [
      `printf 'y\\n' | script -qec "${approve}" /dev/null`,
      `unset CLAUDECODE; printf 'y\\n' | script -qec "${approve}" /dev/null`,
    ]) {
      expect(await client.shell(line)).toContain('has started this process')
    }
  },
)

it('offers an agent no MCP tool that decides about a gate', async () => {
  const { directory, home, env } = makeSession(chain)
  const run = { cwd: directory, env: { ...env, HOME: home }, encoding: 'utf8' } as const
  const request = (id: number, method: string, params: object) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params })
  const clientInfo = { name: 'x', version: '1' }
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const input = [
    request(1, 'initialize', hello),
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    request(2, 'tools/list', {}),
    '',
  ].join('\n')
  const command = ['--no-warnings', bin, 'mcp', 'serve']
  const { stdout } = spawnSync(process.execPath, command, { ...run, input })
  const names = Array.from(stdout.matchAll(/"name":"([a-z_]+)"/g), ([, name]) => name)
  expect(names).toContain('chain_start')
  expect(names.filter((name) => /approve|reject|accept|trust/.test(name ?? ''))).toEqual([])
})

it('lets a test suite that an agent runs do everything in a state of its own', () => {
  const { directory, home, env } = makeSession(chain)
  const run = { cwd: directory, env: { ...env, CLAUDECODE: '1' }, encoding: 'utf8' } as const
  mkdirSync(join(home, 'x'))
  writeFileSync(join(home, 'x/y'), '')
  execFileSync(process.execPath, ['--no-warnings', bin, 'trust', '--yes'], run)
  expect(existsSync(join(home, '.local/state/skillrail/rails'))).toBe(false)
})
