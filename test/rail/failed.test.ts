import { describe, expect, it } from 'vitest'
import type { Platform } from '../../src/hooks/adapters.ts'
import type { Sender } from '../../src/rail/sender.ts'
import { ownIdentity } from '../../src/core/file-lock.ts'
import { runCommand } from '../chain/_command.ts'
import { firstProcess, makeSession } from './_session.ts'

const skills = {
  ship: {
    metadata: ['chain: |', '  work check="test -f done.txt"', '  publish guard="Bash(git push:*)"'],
  },
  small: { metadata: ['chain: [work]'] },
  work: { body: 'WORK ON IT.' },
  publish: { body: 'PUBLISH IT.' },
}
const own = ownIdentity()
const another: Sender = { kind: 'client', process: { pid: 2000, startedAt: 'noon' } }

/** A chain that has ended because the agent reported a failure. */
async function afterFailure(client?: Platform, sender?: Sender) {
  const session = makeSession(skills, client)
  if (sender) session.sendAs(sender)
  await session.prompt('/ship')
  const runId = session.runId()
  const about = ['--step', 'work', '--status', 'failure', '--error', 'x']
  await session.cli('chain', 'report', runId, ...about)
  for (let turn = 0; turn < 4 && session.standing() !== 'failed'; turn++) await session.stop()
  return { session, runId }
}

const tagged = 'belongs to the step `publish` of the chain `ship`, and stays denied after its end'

describe('a chain that ended without success', () => {
  it('still guards its calls, says so, and does not keep the agent going', async () => {
    const { session } = await afterFailure()
    expect(session.standing()).toBe('failed')
    expect(session.standingReason()).toContain('has ended: failure')
    expect(session.standingReason()).toContain('Its guards still deny git push')
    expect(await session.bash('git push')).toContain(tagged)
    expect(await session.bash('ls')).toBeUndefined()
    expect(await session.stop()).toBeUndefined()
    expect((await session.prompt('rail status'))?.systemMessage).toContain('rail stop')
    const prompt = await session.prompt('Push it now.')
    expect(prompt?.hookSpecificOutput?.additionalContext).toContain('still deny git push')
    expect((await session.cli('runs', 'list')).stdout).toContain('a new start or rail stop')
  })

  it('guards after a rejection, too', async () => {
    const session = makeSession({
      ...skills,
      ship: { metadata: ['chain: |', '  publish gate guard="Bash(git push:*)"'] },
    })
    await session.prompt('/ship')
    const rejected = await session.prompt('rail reject not tested')
    expect(rejected?.systemMessage).toContain('has ended: failure')
    expect(rejected?.systemMessage).toContain('/ship')
    expect(await session.bash('git push')).toContain(tagged)
  })

  it('leaves nothing if it had no guards', async () => {
    const session = makeSession({ small: { metadata: ['chain: |', '  work gate'] }, work: {} })
    await session.prompt('/small')
    await session.prompt('rail reject no')
    expect(session.standing()).toBe('')
  })

  it.each(['retry', 'resume', 'pause', 'approve', 'accept work x'])(
    'is not changed by `rail %s`',
    async (word) => {
      const { session } = await afterFailure()
      expect((await session.prompt(`rail ${word}`))?.systemMessage).toContain('no effect any more')
      expect(session.standing()).toBe('failed')
    },
  )

  it('lets go with `rail stop`, also at a terminal, and with `runs cancel` of a user', async () => {
    const { session } = await afterFailure()
    expect((await session.prompt('rail stop'))?.systemMessage).toContain('You stopped')
    expect(await session.bash('git push')).toBeUndefined()

    const second = await afterFailure()
    await runCommand('rail', ['stop'], second.session, { answer: 'y' })
    expect(await second.session.bash('git push')).toBeUndefined()

    const third = await afterFailure()
    expect((await third.session.cli('runs', 'cancel', third.runId)).code).toBe(0)
    expect(await third.session.bash('git push')).toBeUndefined()
  })
})

describe('the start of a chain after one that failed', () => {
  it('ends the guards if the user starts it, and a success ends everything', async () => {
    const { session } = await afterFailure()
    const started = await session.prompt('/ship')
    expect(started?.hookSpecificOutput?.additionalContext).toContain('WORK ON IT.')
    session.write('done.txt', '')
    await session.stop()
    expect(await session.bash('git push')).toBeUndefined()
    await session.stop()
    await session.stop()
    expect(session.standing()).toBe('')
  })

  it('may be another chain', async () => {
    const { session } = await afterFailure()
    await session.prompt('/small')
    expect(await session.bash('git push')).toBeUndefined()
  })

  it('ends no guard if the prompt came from a schedule, until a chain succeeds', async () => {
    const { session } = await afterFailure()
    await session.prompt('/small', { origin: 'scheduled' })
    expect(session.standing()).toBe('working')
    expect(await session.bash('git push')).toContain(tagged)
    await session.stop()
    await session.stop()
    expect(await session.bash('git push')).toBeUndefined()
  })

  it.each([
    ['another process', another, undefined],
    ['a process that nobody can tell', { kind: 'unknown' }, 'skillrail rail stop'],
    ['an agent', { kind: 'agent', why: 'an agent started it' }, undefined],
  ] as const)('is refused to %s', async (_, sender, hint) => {
    const { session } = await afterFailure()
    session.sendAs(sender)
    const tell = (await session.prompt('/small'))?.systemMessage
    expect(tell).toContain('does not start after `ship`')
    expect(tell).toContain(hint ?? '')
    expect(await session.bash('git push')).toContain(tagged)
  })

  it('is refused to the agent', async () => {
    const { session } = await afterFailure()
    expect(await session.bash('skillrail chain start small')).toContain('Only the user starts')
    await session.call('Skill', { skill: 'small' })
    expect(session.standing()).toBe('failed')
  })

  it.skipIf(own.startedAt === undefined)(
    'without a rail is refused to the agent while the client runs',
    async () => {
      const client: Sender = { kind: 'client', process: { ...own, startedAt: own.startedAt ?? '' } }
      const { session } = await afterFailure('claude', client)
      Object.assign(session.env, { CLAUDECODE: '1' })
      expect((await session.cli('chain', 'start', 'small')).code).toBe(4)
      const closed = await afterFailure()
      Object.assign(closed.session.env, { CLAUDECODE: '1' })
      expect((await closed.session.cli('chain', 'start', 'small')).code).not.toBe(4)
    },
  )

  it('keeps the guards if the chain cannot start', async () => {
    const { session } = await afterFailure()
    session.write(
      '.claude/skills/small/SKILL.md',
      '---\nname: small\nmetadata:\n  chain: [gone]\ndescription: x\n---\nx\n',
    )
    expect((await session.prompt('/small'))?.systemMessage).toContain('did not start')
    expect(session.standing()).toBe('failed')
    expect(await session.bash('git push')).toContain(tagged)
  })
})

describe('other sessions of the project', () => {
  it('in a client that does not name the parent of a session obey it while that client runs', async () => {
    const { session } = await afterFailure('opencode')
    session.use('s2')
    const pushes = () =>
      session.send({
        hook_event_name: 'PreToolUse',
        tool_name: 'bash',
        tool_input: { command: 'git push' },
      })
    expect(JSON.stringify(await pushes())).toContain('belongs to the step')
    session.end(firstProcess.pid)
    expect(JSON.stringify((await pushes()) ?? '')).not.toContain('belongs to the step')
  })

  it('do not continue it with `rail resume`', async () => {
    const { session } = await afterFailure()
    session.use('s2')
    expect(await session.prompt('rail resume')).toBeUndefined()
    expect((await session.prompt('rail stop'))?.systemMessage).toContain('You stopped')
    session.use('s1')
    expect(await session.bash('git push')).toBeUndefined()
  })
})
