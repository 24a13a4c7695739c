import { describe, expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { readTraces } from '../../src/hooks/trace.ts'
import { makeSession, patient } from './_session.ts'

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
    const session = makeSession(release, 'claude', patient)
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
    expect(await session.bash('git push')).toMatch(/step `publish`.* which waits for the approval/)
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

it('says at a gate which steps succeeded on files that have changed since', async () => {
  const waiting = async (writesBefore: boolean) => {
    const session = makeSession(release)
    if (writesBefore) session.write('done.txt', 'x')
    await session.prompt('/release')
    session.write('done.txt', 'x')
    return (await session.stop())?.systemMessage
  }
  expect(await waiting(false)).toContain('FILES CHANGED since these steps ran: lint.')
  const unchanged = await waiting(true)
  expect(unchanged).toContain('waits for your approval of publish')
  expect(unchanged).not.toContain('FILES CHANGED')
})

describe('the log of the hook', () => {
  it('has each answer of a rail with its run, and no text of it', async () => {
    const session = makeSession(release)
    await session.prompt('/release 1.2')
    await session.bash('git push origin main')
    await session.stop('I am done.')
    session.write('done.txt', 'x')
    await session.stop('Now it is done.')
    const { home, env, directory } = session
    const { traces } = readTraces(systemRuntime({ cwd: directory, home, env }), 100)
    const runs = new Set(traces.map(({ rail }) => rail?.run))
    expect(traces.map(({ rail }) => rail?.answer)).toEqual(['context', 'deny', 'block', 'tell'])
    expect(runs.size).toBe(1)
    expect([...runs][0]).toMatch(/^\w{14}$/)
    expect(traces[0]?.rail?.characters).toBeGreaterThan(100)
    expect(JSON.stringify(traces)).not.toContain('Write done.txt')
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
    expect((await report('--step', 'publish', '--status', 'success')).code).toBe(1)
    expect((await report('--step', 'build', '--status', 'success')).stdout).toContain(
      'End your turn now',
    )
    expect(await session.stop()).toMatchObject({ decision: 'block' })
    session.write('built', '')
    expect((await session.stop())?.reason).toContain('PUBLISH IT.')

    const question = ['--status', 'question', '--result', 'Which branch?']
    expect((await report('--step', 'publish', ...question)).code).toBe(0)
    const answer = await session.stop()
    expect(answer?.decision).toBeUndefined()
    expect(answer?.systemMessage).toContain('Which branch?')
    await session.prompt('The branch main.')
    expect(await session.stop()).toMatchObject({ decision: 'block' })

    expect((await report('--step', 'publish', '--status', 'failure', '--error', 'no')).code).toBe(0)
    expect((await session.stop())?.systemMessage).toContain('has ended: failure')
  })
})

describe('a guard behind a nested chain', () => {
  const nested = { metadata: ['chain: |', '  compile', '  push guard="Bash(git push:*)"'] }
  const skills = (options: string, build: object) => ({
    ship: { metadata: ['chain: |', `  build${options}`, '  publish guard="Bash(git tag:*)"'] },
    build: { ...nested, ...build },
    compile: {},
    push: {},
    publish: {},
  })

  /** Ends both steps of the nested chain with the agent's word. */
  async function atPublish(options: string, build: object) {
    const session = makeSession(skills(options, build))
    await session.prompt('/ship')
    await session.stop()
    await session.stop()
    const isPushAllowed = (await session.bash('git push')) === undefined
    await session.stop()
    await session.stop()
    return { session, isPushAllowed }
  }

  it('opens after its success, and inside of it at its own step', async () => {
    const { session, isPushAllowed } = await atPublish('', {})
    expect(isPushAllowed).toBe(true)
    expect(await session.bash('git push')).toContain('belongs to the step `build/push`')
    expect(await session.bash('git tag v1')).toBeUndefined()
  })

  it('stays closed after its failure, which only its own check saw', async () => {
    const { session, isPushAllowed } = await atPublish('', { verify: 'exit 1' })
    expect(isPushAllowed).toBe(true)
    expect(session.standing()).toBe('working')
    expect(await session.bash('git tag v1')).toContain('belongs to the step `publish`')
  })

  it('opens after a failure that the chain allows', async () => {
    const { session } = await atPublish(' allow-failure', { verify: 'exit 1' })
    expect(await session.bash('git tag v1')).toBeUndefined()
  })
})

it('counts failed checks in plain words', async () => {
  const session = makeSession({
    ship: { metadata: ['chain: |', '  build check=false max-blocks=2'] },
    build: {},
  })
  await session.prompt('/ship')
  expect((await session.stop())?.reason).toContain('1 more time after that')
  expect((await session.stop())?.reason).toContain('for the last time')
  expect((await session.stop())?.systemMessage).toContain('failed 3 times')

  const strict = makeSession({
    ship: { metadata: ['chain: |', '  build check=false max-blocks=0'] },
    build: {},
  })
  await strict.prompt('/ship')
  expect((await strict.stop())?.systemMessage).toContain('failed 1 time (')
})
