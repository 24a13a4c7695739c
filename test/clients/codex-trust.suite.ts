import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { codexTrust } from '../../src/hooks/codex-trust.ts'
import { hooksStatus } from '../../src/hooks/status.ts'
import { installHook } from '../../src/hooks/install.ts'
import { makeWorld } from '../hooks/_world.ts'
import { installClients } from './cache.ts'

const patient = 60_000
let client = ''
beforeAll(() => {
  client = installClients(['codex'], { latest: false }).get('codex')?.program ?? ''
})

it('Codex is asked before and after the user has trusted the hook', async () => {
  const { runtime, project, home } = makeWorld()
  writeFileSync(join(project, '.git/HEAD'), 'ref: refs/heads/main\n')
  const env = { HOME: home, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` }
  const ask = (): ReturnType<typeof codexTrust> =>
    codexTrust(client, { cwd: project, env, timeoutMs: patient })
  expect(await ask()).toEqual({ user: 'unknown', project: 'unknown' })
  for (const scope of ['user', 'project'] as const) await installHook(runtime, 'codex', { scope })
  expect(await ask()).toEqual({ user: 'untrusted', project: 'unknown' })
  const configuration = join(home, '.codex/config.toml')
  mkdirSync(dirname(configuration), { recursive: true })
  writeFileSync(configuration, `[projects."${project}"]\ntrust_level = "trusted"\n`)
  expect(await ask()).toEqual({ user: 'untrusted', project: 'untrusted' })
  const status = await hooksStatus(
    { ...runtime, env },
    { findProgram: (name) => (name === 'codex' ? client : undefined), patienceMs: patient },
  )
  const codex = status.platforms.find(({ platform }) => platform === 'codex')
  expect(codex).toMatchObject({
    folder: { state: 'trusted' },
    trust: { user: 'untrusted', project: 'untrusted' },
    runs: { user: { answer: 'no' }, project: { answer: 'no' } },
    steps: ['Start codex, type /hooks and trust the hook of skillrail.'],
  })
  expect(readFileSync(configuration, 'utf8')).not.toContain('hooks.state')
})
