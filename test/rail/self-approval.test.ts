import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bin } from '../command-line.ts'
import { chain, decisions } from './_self-approval.ts'
import { makeSession } from './_session.ts'

describe('an agent that is recognised by its marks', () => {
  async function marked() {
    const session = makeSession(chain)
    await session.prompt('/ship')
    Object.assign(session.env, { CLAUDECODE: '1' })
    return session
  }

  it('cannot approve or reject its own gate, or give itself a permission', async () => {
    const { cli, runId } = await marked()
    for (const args of decisions(runId())) {
      const { code, stderr } = await cli(...args)
      expect({ args, code }).toEqual({ args, code: 4 })
      expect(stderr).toContain('Claude Code has started this process')
      expect(stderr).toContain('rail approve')
    }
  })

  it('may start the chain of its rail again', async () => {
    const { cli } = await marked()
    expect(await cli('chain', 'start', 'ship')).toMatchObject({ code: 6 })
  })
})

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
