import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { installHook } from '../../src/hooks/install.ts'
import type { Platform } from '../../src/hooks/adapters.ts'
import { makeFixture } from './_fixture.ts'

const isBuilt = existsSync(new URL('../../dist/hook/hook.cjs', import.meta.url))

/** As the client says it: one moment for every hook of one prompt. */
const payloads: [Platform, (turn: number) => Record<string, unknown>][] = [
  ['gemini', (turn) => ({ session_id: 's', timestamp: `2026-01-01T00:00:00.00${turn}Z` })],
  ['qwen', (turn) => ({ session_id: 's', timestamp: `2026-01-01T00:00:00.00${turn}Z` })],
  ['copilot', (turn) => ({ sessionId: 's', timestamp: 1_795_311_125_263 + turn })],
  ['claude', (turn) => ({ session_id: 's', prompt_id: `p${turn}` })],
  ['opencode', (turn) => ({ session_id: 's', turn_id: `m${turn}` })],
]

it.skipIf(!isBuilt).each(payloads)(
  'injects once for %s if the hook is registered twice, and again for the next equal prompt (needs the build)',
  async (platform, payload) => {
    const { runtime, home, project, skill, write } = makeFixture()
    skill('saw', [['^/saw', 'a.md']])
    write('.agents/skills/saw/a.md', 'FLOW')
    await installHook(runtime, platform, { scope: 'user' })
    const launcher = join(home, '.local/share/skillrail/hook/skillrail-hook')
    const call = (turn: number): Promise<string> => {
      const input = { prompt: '/saw x', cwd: project, ...payload(turn) }
      return run(launcher, platform, home, JSON.stringify(input))
    }
    for (const turn of [1, 2, 3]) {
      const answers = await Promise.all([call(turn), call(turn), call(turn)])
      expect(answers.filter((answer) => answer.includes('FLOW'))).toHaveLength(1)
      expect(answers.filter((answer) => answer === '')).toHaveLength(2)
    }
  },
)

it('answers every time if the client sends neither turn nor time', async () => {
  const { ask, skill, write } = makeFixture()
  skill('saw', [['^/saw', 'a.md']])
  write('.agents/skills/saw/a.md', 'FLOW')
  for (const _ of [1, 2]) expect((await ask('gemini', '/saw')).stdout).toContain('FLOW')
})

it('answers with the parts of only one registration if two have different numbers of parts', async () => {
  const { ask, skill, write } = makeFixture()
  skill('saw', [['^/saw', 'a.md']])
  write('.agents/skills/saw/a.md', 'line\n'.repeat(2400))
  const payload = { prompt_id: 'p' }
  const asked = [
    [1, 2],
    [1, 1],
    [2, 2],
  ] as const
  const answers: string[] = []
  for (const [number, of] of asked) {
    answers.push((await ask('claude', '/saw', { payload, part: { number, of } })).stdout)
  }
  expect(answers.map((answer) => /part (\d of \d)/.exec(answer)?.[1])).toEqual([
    '1 of 2',
    undefined,
    '2 of 2',
  ])
})

it('injects a reference once per session, however often the hook is registered', async () => {
  const { ask, skill, write } = makeFixture()
  skill('saw', [['^/saw', 'a.md']])
  write('.agents/skills/saw/a.md', 'FLOW')
  const env = { SKILLRAIL_HOOKS_REPEAT: 'session' }
  const seen: boolean[] = []
  for (const timestamp of ['1', '1', '2']) {
    const { stdout } = await ask('gemini', '/saw\nmore lines', { env, payload: { timestamp } })
    seen.push(stdout.includes('FLOW'))
  }
  expect(seen).toEqual([true, false, false])
})

async function run(file: string, platform: string, home: string, input: string): Promise<string> {
  const env = { HOME: home, PATH: '/usr/bin:/bin' }
  const child = spawn(file, [platform], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  child.stdin.end(input)
  await new Promise((resolve) => child.on('close', resolve))
  return output
}
