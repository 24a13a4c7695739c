import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lockHolder } from '../../src/core/file-lock.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import type { Platform } from '../../src/hooks/adapters.ts'
import { readRails } from '../../src/rail/session.ts'
import {
  makeRelease,
  railFile,
  railOf,
  release,
  type Session,
  told,
  turnsUntilEnd,
} from './_release.ts'
import { makeSession, patient, type SkillText } from './_session.ts'

/** The same chain with a script as its first step. */
const withScript = {
  ...release,
  release: {
    ...release.release,
    metadata: [
      'chain: |',
      '  lint',
      '  implement check="test -f done.txt"',
      '  publish gate guard="Bash(git push:*)"',
    ],
  },
  lint: { run: 'echo linted' },
}

describe('a chain that needs longer to start than a prompt can wait', () => {
  it('allows the agent no command until its guards are loaded', async () => {
    const session = makeSession(withScript, 'claude', { ...patient, prompt: 1 })
    await session.prompt('/release 1.2')
    expect(await session.bash('git push')).toContain('still starting')
    expect(await session.call('mcp__forge__publish', {})).toContain('still starting')
    expect(await session.call('Read', { file_path: 'a.ts' })).toBeUndefined()
    const timing = { timeout: 30_000, interval: 20 }
    await expect.poll(() => session.bash('git push'), timing).toContain('belongs to the step')
    await expect.poll(() => session.bash('ls'), timing).toBeUndefined()
  })

  it('denies nothing once it has failed to start', async () => {
    const skills = { release: { metadata: ['chain: [missing]'] } }
    const session = makeSession(skills, 'claude', { ...patient, prompt: 1 })
    await session.prompt('/release')
    expect(await session.bash('ls')).toContain('still starting')
    const timing = { timeout: 30_000, interval: 20 }
    await expect.poll(() => session.bash('git push'), timing).toBeUndefined()
  })
})

describe('a chain whose scripts run longer than a prompt can wait', () => {
  it('hands out the first step at the end of the turn, and checks it at the end of the next one', async () => {
    const slow = { ...withScript, lint: { run: 'sleep 0.5' } }
    const session = makeSession(slow, 'claude', { ...patient, prompt: 10 })
    const started = await session.prompt('/release 1.2')
    expect(started?.hookSpecificOutput?.additionalContext).toContain('executes its scripts')
    const runtime = systemRuntime({ cwd: session.directory, home: session.home, env: session.env })
    const pending = () => readRails(runtime).some((one) => one.kind === 'rail' && one.rail.pending)
    await expect.poll(pending, { timeout: 30_000 }).toBe(true)
    const handed = await session.stop()
    expect(handed?.reason).toContain('Do only this step now: `implement`')
    const early = await session.stop('I am done.')
    expect(early?.reason).toContain('test -f done.txt')
  })
})

describe('a check that takes longer than the hook can wait', () => {
  /** Each check appends a line to a file outside of the project, and waits for a file there. */
  function makeSlow(
    result: string,
    chain: SkillText = release.release,
    client: Platform = 'claude',
  ): Session {
    const skills = { ...release, release: chain }
    const session = makeSession(skills, client, { ...patient, turnEnd: 300 })
    const lines = ['echo ran >> ../ran.txt', 'while ! test -f ../go; do sleep 0.05; done', result]
    session.write('check.sh', `${lines.join('\n')}\n`)
    return session
  }
  const go = (session: Session): void => session.write('../go', '')
  const checks = (session: Session): number => session.read('../ran.txt').split('\n').length - 1

  const soon = { timeout: 30_000, interval: 20 }

  async function untilChecking(session: Session): Promise<void> {
    await expect.poll(() => existsSync(join(session.directory, '../ran.txt')), soon).toBe(true)
    expect(railOf(session).standing).toBe('checking')
  }

  async function untilChecked(session: Session): Promise<void> {
    await expect.poll(() => railOf(session).standing, soon).toBe('checked')
  }

  it('lets the turn end, and the next prompt receives its result', async () => {
    const session = makeSlow('echo not yet; exit 1')
    await session.prompt('/release')
    const stopped = await session.stop()
    expect(stopped?.decision).toBeUndefined()
    expect(stopped?.systemMessage).toContain('still checks')
    await untilChecking(session)
    expect(await session.stop()).toBeUndefined()
    expect(told(await session.prompt('Is it done?'))).toContain('still runs')
    expect(await session.stop()).toBeUndefined()
    go(session)
    await untilChecked(session)
    expect(told(await session.prompt('And now?'))).toContain('not yet')
    expect(railOf(session)).toMatchObject({ standing: 'working', step: { failedChecks: 1 } })
    expect(checks(session)).toBe(1)
  })

  it('records nothing before an event uses its result, and then reports the end of the chain', async () => {
    const session = makeSlow('exit 0', {
      metadata: ['chain: |', '  implement check="sh check.sh"'],
    })
    await session.prompt('/release')
    const runId = session.runId()
    await session.stop()
    go(session)
    await untilChecked(session)
    expect((await session.cli('runs', 'show', runId, '--json')).stdout).not.toContain('verified')
    const ending = await session.prompt('And now?')
    expect(ending?.systemMessage).toContain('The chain release has ended: success')
    expect((await session.cli('runs', 'show', runId, '--json')).stdout).toContain('verified')
    expect(await session.prompt('Thanks.')).toBeUndefined()
    expect(await session.bash('ls')).toBeUndefined()
  })

  it('runs again if the working tree changed after it', async () => {
    const session = makeSlow('! test -f broken.txt')
    await session.prompt('/release')
    await session.stop()
    go(session)
    await untilChecked(session)
    session.write('broken.txt', 'x')
    expect(told(await session.prompt('And now?'))).toContain('is not done')
    expect(checks(session)).toBe(2)
  })

  it('runs again if the working tree changed while it ran', async () => {
    const session = makeSlow('! test -f broken.txt')
    await session.prompt('/release')
    await session.stop()
    await untilChecking(session)
    session.write('other.txt', 'x')
    go(session)
    await untilChecked(session)
    expect(checks(session)).toBe(2)
    expect(told(await session.prompt('And now?'))).toContain('waits for your approval')
  })

  it('runs only once more if it changes the working tree itself', async () => {
    const session = makeSlow('date +%N > stamp.txt')
    await session.prompt('/release')
    await session.stop()
    go(session)
    await untilChecked(session)
    expect(checks(session)).toBe(2)
    expect(told(await session.prompt('And now?'))).toContain('waits for your approval')
    expect(checks(session)).toBe(2)
  })

  it.each([
    ['rail pause', 'paused', 'paused'],
    ['rail retry', 'Do only this step now', 'working'],
    ['rail accept implement it hangs', 'accepted', 'approval'],
  ])('is ended by %s, without a result', async (word, answer, standing) => {
    // Claude Code confirms a permission when the turn ends.
    const session = makeSlow('exit 1', release.release, 'codex')
    await session.prompt('/release')
    await session.stop()
    await untilChecking(session)
    expect(told(await session.prompt(word))).toContain(answer)
    go(session)
    expect(railOf(session).standing).toBe(standing)
    expect(checks(session)).toBe(1)
    expect(railOf(session).step?.verdict).toBeUndefined()
    expect(await session.bash('git push')).toContain('belongs to the step')
  })

  it('fails when the time limit of its step is over', async () => {
    const chain = { metadata: ['chain: |', '  implement check="sh check.sh" timeout=1'] }
    const session = makeSlow('exit 0', chain)
    await session.prompt('/release')
    await session.stop()
    await untilChecked(session)
    expect(told(await session.prompt('And now?'))).toContain('longer than 1 s')
  })

  it('has no result if its process is killed', async () => {
    const session = makeSlow('exit 0')
    await session.prompt('/release')
    await session.stop()
    await untilChecking(session)
    const lock = JSON.parse(readFileSync(`${railFile(session)}.lock`, 'utf8'))
    process.kill(lock.pid, 'SIGKILL')
    await expect.poll(() => lockHolder(railFile(session)), soon).toBeUndefined()
    expect(told(await session.prompt('And now?'))).toContain('current step is `implement`')
    await session.stop()
    go(session)
    await untilChecked(session)
    expect(checks(session)).toBe(2)
    expect(told(await session.prompt('And now?'))).toContain('waits for your approval')
  })
})

describe.each(['claude', 'pi'] as const)('a rail of %s whose processes die', (client) => {
  it('ends the turn after at most one attempt', async () => {
    const session = makeRelease(client, patient)
    await session.prompt(client === 'pi' ? '/skill:release' : '/release')
    expect(existsSync(railFile(session))).toBe(true)
    Object.assign(session.env, { NODE_OPTIONS: '--import=/missing.mjs' })
    expect(await turnsUntilEnd(session)).toBeLessThanOrEqual(1)
    expect(await turnsUntilEnd(session)).toBe(0)
  })
})
