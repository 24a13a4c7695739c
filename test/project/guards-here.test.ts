import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfiguration } from '../../src/core/configuration.ts'
import type { Runtime } from '../../src/core/runtime.ts'
import { installHook } from '../../src/hooks/install.ts'
import { platforms } from '../../src/hooks/adapters.ts'
import { guardsHere } from '../../src/project/guards-here.ts'
import { makeFixture } from '../hooks/_fixture.ts'
import { runInProcess } from '../run-in-process.ts'

const isBuilt = existsSync(new URL('../../dist/hook/hook.cjs', import.meta.url))

/** A project that wants to deny `terraform apply`, and a home without a client. */
function makeProject() {
  const fixture = makeFixture()
  const { home, project, write } = fixture
  const skill = (name: string, more: string) =>
    write(
      `project/.claude/skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: Does ${name}. Use when asked for ${name}.\n${more}---\nDo.\n`,
    )
  skill('apply', '')
  skill(
    'infra',
    'metadata:\n  chain: |\n    apply gate guard="Bash(terraform apply:*)"\n  guards: always\n',
  )
  const bin = join(home, 'bin')
  mkdirSync(bin)
  const runtime: Runtime = { ...fixture.runtime, env: { HOME: home, PATH: bin } }
  const run = (...args: readonly string[]) =>
    runInProcess(args, { cwd: project, home, env: { PATH: bin } })
  const trust = async () => expect((await run('trust', '--yes')).code).toBe(0)
  const guards = () => guardsHere({ runtime, settings: loadConfiguration(runtime).settings })
  return { ...fixture, runtime, run, trust, guards }
}

describe('guards that always apply', () => {
  it('are reported as wanted by the project until they are accepted', async () => {
    const { run, guards, trust } = makeProject()
    expect(guards().wanted).toEqual([{ chain: 'infra', calls: ['terraform apply'], isOwn: false }])
    for (const words of [['doctor'], ['hooks', 'status'], []]) {
      const { code, stdout } = await run(...words)
      expect(stdout).toMatch(/wants to deny terraform apply.*not accepted/)
      expect(stdout).toContain('skillrail trust')
      expect(code).toBe(1)
    }
    await trust()
    expect(guards().wanted).toEqual([])
  })

  it('are never called denied where no client enforces them', async () => {
    const { run, guards, trust } = makeProject()
    await trust()
    expect(guards().enforcement).toMatchObject({ by: [], unconfirmed: [] })
    for (const words of [['doctor'], ['hooks', 'status'], []]) {
      const { code, stdout } = await run(...words)
      expect(stdout).toMatch(/terraform apply.*declared, enforced by no client here/)
      expect(code).toBe(1)
    }
    expect((await run('trust', '--dry-run')).stderr).toContain('enforced by no client here')
  })

  it.skipIf(!isBuilt).each(platforms)(
    'are enforced by %s with its hook, and not without the launcher (needs the build)',
    async (platform) => {
      const { runtime, home, guards, trust } = makeProject()
      await trust()
      await installHook(runtime, platform, { scope: 'user' })
      const { by, unconfirmed, notBy } = guards().enforcement
      expect([...by, ...unconfirmed]).toHaveLength(1)
      expect(notBy).toEqual([])
      rmSync(join(home, '.local/share/skillrail'), { recursive: true })
      expect(guards().enforcement).toMatchObject({ by: [], unconfirmed: [] })
      expect(guards().enforcement.advice).toContain('skillrail hooks install')
    },
  )

  it.skipIf(!isBuilt)(
    'are declared only if the client switches hooks off, and each command names the switch (needs the build)',
    async () => {
      const { runtime, run, trust, write } = makeProject()
      await trust()
      await installHook(runtime, 'claude', { scope: 'user' })
      expect((await run('doctor')).code).toBe(0)
      expect((await run('hooks', 'status')).stdout).toContain('denied by Claude Code')
      write('project/.claude/settings.local.json', '{"disableAllHooks": true}')
      const doctor = await run('doctor')
      expect(doctor.code).toBe(1)
      expect(doctor.stdout).toMatch(
        /declared, enforced by no client here\n.*Remove disableAllHooks/,
      )
      const plan = await run('chain', 'plan', 'infra')
      const text = plan.stdout + plan.stderr
      expect(text).toContain('guard-not-enforced')
      expect(text).toContain('Remove disableAllHooks')
      expect(text).not.toContain('hooks install')
    },
  )

  it.skipIf(!isBuilt)(
    'are not enforced on a branch without the hook of the project (needs the build)',
    async () => {
      const { runtime, home, project, guards, trust } = makeProject()
      await trust()
      await installHook(runtime, 'claude', { scope: 'project' })
      expect(guards().enforcement.unconfirmed).toEqual(['Claude Code'])
      rmSync(join(project, '.claude/settings.json'))
      mkdirSync(join(home, '.claude'), { recursive: true })
      expect(guards().enforcement).toMatchObject({
        by: [],
        unconfirmed: [],
        notBy: ['Claude Code'],
      })
    },
  )
})
