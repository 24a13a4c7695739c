import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commandsIn } from './_command.ts'
import { log, makeProject, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
  skills({
    // Waits only the first time.
    build: { run: 'echo build >> log; [ -e again ] || { touch again; sleep 60; }' },
    lint: log('lint'),
    deploy: log('deploy'),
  })
})
afterEach(() => project.remove())

const { command, skills, runIdOf } = commandsIn(() => project)

/** A run that was killed while its first step was running. */
async function killedRun(lines: readonly string[], ...options: string[]): Promise<string> {
  project.write('main', { metadata: ['chain: |', ...lines.map((line) => `  ${line}`)] })
  const started = project.start(['run', 'main', ...options])
  while (!existsSync(join(project.directory, 'again'))) await sleep(20)
  started.kill('SIGKILL')
  await started.ended
  return await runIdOf()
}

describe('gates that the caller of a run approved in advance', () => {
  it.each([[['build', 'deploy gate']], [['build', 'lint gate & deploy gate']]])(
    'stay approved when the run is resumed after a kill: %j',
    async (lines) => {
      const run = await killedRun(lines, '--yes-gates')
      expect((await command(`runs resume ${run}`)).code).toBe(0)
      expect(project.log()).toContain('deploy')
      const { json } = await command(`runs show ${run} --json`)
      expect(json).toMatchObject({ yesGates: true, status: 'success' })
      expect(json).toHaveProperty('approvals.0.by', 'caller')
    },
  )

  it('need an approval in the runs that retry and fork begin', async () => {
    const run = await killedRun(['build', 'deploy gate'], '--yes-gates')
    expect((await command(`runs retry ${run}`)).code).toBe(6)
    expect((await command(`runs fork ${run} --from build`)).code).toBe(6)
    expect(project.log()).not.toContain('deploy')
  })

  it('need an approval in a changed plan', async () => {
    const run = await killedRun(['build', 'deploy gate'], '--yes-gates')
    project.write('deploy', log('deploy-other'))
    expect((await command(`runs resume ${run} --force`)).code).toBe(6)
    expect(project.log()).not.toContain('deploy-other')
  })

  it('stay closed on a resume without an approval', async () => {
    const run = await killedRun(['build', 'deploy gate'])
    expect((await command(`runs resume ${run}`)).code).toBe(6)
  })
})
