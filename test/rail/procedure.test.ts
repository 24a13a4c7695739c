import { describe, expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { readRails } from '../../src/rail/session.ts'
import { makeSession } from './_session.ts'

const release = {
  release: {
    metadata: [
      'chain: |',
      '  lint',
      '  implement check="test -f done.txt"',
      '  publish gate guard="Bash(git push:*)"',
    ],
    body: 'The overview.',
  },
  lint: { run: 'echo linted' },
  implement: { body: 'Write done.txt.' },
  publish: { body: 'Push the branch.' },
}

describe('a chain that a user invokes in a client', () => {
  it('is executed step by step, with its check, its gate and its guard', async () => {
    const session = makeSession(release)
    const started = await session.prompt('/release 1.2')
    const context = started?.hookSpecificOutput?.additionalContext ?? ''
    expect(context).toContain('Do only this step now: `implement`')
    expect(context).toContain('Write done.txt.')
    expect(context).not.toContain('Push the branch.')

    expect(await session.bash('git push origin main')).toContain('belongs to the step `publish`')
    expect(await session.bash('ls')).toBeUndefined()

    const early = await session.stop('I am done.')
    expect(early).toMatchObject({ decision: 'block' })
    expect(early?.reason).toContain('test -f done.txt')

    session.write('done.txt', 'x')
    const waiting = await session.stop('Now it is done.')
    expect(waiting?.decision).toBeUndefined()
    expect(waiting?.systemMessage).toContain('waits for your approval of publish')
    expect(await session.bash('git push')).toContain('belongs to the step')
    expect(await session.stop()).toBeUndefined()

    const approved = await session.prompt('rail approve')
    expect(approved?.hookSpecificOutput?.additionalContext).toContain('Push the branch.')
    expect(await session.bash('git push')).toBeUndefined()

    const report = await session.stop('Pushed.')
    expect(report?.reason).toContain('Is the step `publish`')
    const ended = await session.stop('It is pushed.')
    expect(ended?.systemMessage).toContain('has ended: success')
    expect(await session.bash('git push')).toBeUndefined()
  })
})

describe('a chain that needs longer to start than a prompt can wait', () => {
  it('allows the agent no command until its guards are loaded', async () => {
    const session = makeSession(release, 'claude', { prompt: 1, turnEnd: 60_000 })
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
    const session = makeSession(skills, 'claude', { prompt: 1, turnEnd: 60_000 })
    await session.prompt('/release')
    expect(await session.bash('ls')).toContain('still starting')
    const timing = { timeout: 30_000, interval: 20 }
    await expect.poll(() => session.bash('git push'), timing).toBeUndefined()
  })
})

describe('a chain whose scripts run longer than a prompt can wait', () => {
  it('hands out the first step at the end of the turn, and checks it at the end of the next one', async () => {
    const slow = { ...release, lint: { run: 'sleep 0.5' } }
    const session = makeSession(slow, 'claude', { prompt: 10, turnEnd: 60_000 })
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

describe('a check whose files the agent changed', () => {
  it('names the files in the record, and when the step is done', async () => {
    const session = makeSession({
      ship: { metadata: ['chain: |', '  implement check="npm test"', '  publish gate'] },
      implement: {},
      publish: {},
    })
    const manifest = (test: string) => JSON.stringify({ name: 'x', scripts: { test } })
    session.write('package.json', manifest('exit 1'))
    await session.prompt('/ship')
    expect(await session.stop()).toMatchObject({ decision: 'block' })
    session.write('package.json', manifest('exit 0'))
    const waiting = await session.stop()
    expect(waiting?.systemMessage).toContain(
      'files that changed since the chain started: package.json',
    )
  })
})

describe('a report of the agent', () => {
  it('is used at the end of the turn, when the check decides', async () => {
    const session = makeSession({
      ship: { metadata: ['chain: |', '  build check="test -f built"', '  publish'] },
      build: {},
      publish: { body: 'PUBLISH IT.' },
    })
    await session.prompt('/ship')
    const report = (...more: string[]) => session.cli('chain', 'report', session.runId(), ...more)
    expect(report('--step', 'publish', '--status', 'success').status).toBe(1)
    expect(report('--step', 'build', '--status', 'success').stdout).toContain('End your turn now')
    expect(await session.stop()).toMatchObject({ decision: 'block' })
    session.write('built', '')
    expect((await session.stop())?.reason).toContain('PUBLISH IT.')

    const question = ['--status', 'question', '--result', 'Which branch?']
    expect(report('--step', 'publish', ...question).status).toBe(0)
    const answer = await session.stop()
    expect(answer?.decision).toBeUndefined()
    expect(answer?.systemMessage).toContain('Which branch?')
    await session.prompt('The branch main.')
    expect(await session.stop()).toMatchObject({ decision: 'block' })

    expect(report('--step', 'publish', '--status', 'failure', '--error', 'no').status).toBe(0)
    expect((await session.stop())?.systemMessage).toContain('has ended: failure')
  })
})
