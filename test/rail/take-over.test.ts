import { rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { readPayload } from '../../src/hooks/prompt.ts'
import type { Sender, SenderReader } from '../../src/rail/sender.ts'
import { readRails } from '../../src/rail/session.ts'
import { takeOver } from '../../src/rail/take-over.ts'
import { firstProcess, makeSession } from './_session.ts'

const skills = {
  ship: {
    metadata: ['chain: |', '  work check="test -f done.txt"', '  publish guard="Bash(git push:*)"'],
  },
  work: { body: 'WORK ON IT.' },
  publish: { body: 'PUBLISH IT.' },
}
const next = { kind: 'client', process: { pid: 2000, startedAt: 'noon' } } satisfies Sender

/** A chain whose client has been closed, and a new session in another process. */
async function afterClosing() {
  const session = makeSession(skills)
  await session.prompt('/ship')
  session.end(firstProcess.pid)
  session.sendAs(next)
  session.use('s2')
  return session
}

it('continues a chain in a new session, once its client was closed', async () => {
  const session = await afterClosing()
  const answer = await session.prompt('rail resume')
  expect(answer?.hookSpecificOutput?.additionalContext).toContain('WORK ON IT.')
  expect(await session.bash('git push')).toContain('belongs to the step')
  const failed = await session.stop()
  expect(failed?.reason).toContain('is not done')
  session.write('done.txt', '')
  expect((await session.stop())?.reason).toContain('PUBLISH IT.')
  // The earlier session has nothing left, as another process of the client shows.
  session.sendAs({ kind: 'client', process: { pid: 3000, startedAt: 'one' } })
  session.use('s1')
  expect(await session.bash('git push')).toBeUndefined()
})

it('continues a chain in another session of the same process', async () => {
  const session = makeSession(skills)
  await session.prompt('/ship')
  session.use('s2')
  const answer = await session.prompt('/rail resume')
  expect(answer?.hookSpecificOutput?.additionalContext).toContain('WORK ON IT.')
})

it.each([
  ['a process beside the one in which the chain runs', next],
  ['an agent', { kind: 'agent', why: 'an agent has started it' }],
  ['a process that nobody can tell', { kind: 'unknown' }],
] as const)('lets %s take over no chain', async (_, sender) => {
  const session = makeSession(skills)
  await session.prompt('/ship')
  if (sender.kind !== 'client') session.end(firstProcess.pid)
  session.sendAs(sender)
  session.use('s2')
  const answer = await session.prompt('rail resume')
  expect(answer?.systemMessage).toContain('No chain of this project can continue')
  session.use('s1')
  expect(await session.bash('git push')).toContain('belongs to the step')
})

it('names the chains if there are several, and says nothing without one', async () => {
  const session = makeSession(skills)
  expect(await session.prompt('rail resume')).toBeUndefined()
  await session.prompt('/ship')
  session.use('s3')
  await session.prompt('/ship')
  session.end(firstProcess.pid)
  session.sendAs(next)
  session.use('s2')
  expect((await session.prompt('rail resume'))?.systemMessage).toContain('Several chains')
})

it('stops a chain whose run was deleted, and does not continue it', async () => {
  const session = await afterClosing()
  const runtime = systemRuntime({ cwd: session.directory, home: session.home, env: session.env })
  const [gone] = readRails(runtime)
  if (gone?.kind !== 'rail') throw new Error('there is no rail')
  rmSync(gone.rail.journal ?? '')
  expect(await session.prompt('rail resume')).toBeUndefined()
  expect(readRails(runtime)).toMatchObject([{ kind: 'rail', rail: { session: 's1' } }])
  // Beside it, another chain is the only one that can continue.
  session.use('s3')
  await session.prompt('/ship')
  session.end(next.process.pid)
  session.sendAs({ kind: 'client', process: { pid: 3000, startedAt: 'one' } })
  session.use('s4')
  const answer = await session.prompt('rail resume')
  expect(answer?.hookSpecificOutput?.additionalContext).toContain('WORK ON IT.')
  session.use('s1')
  expect(await session.bash('git push')).toContain('belongs to the step')
  await session.prompt('rail stop')
  // The same process has left the session of the other chain for this one.
  expect(await session.bash('git push')).toContain('its session has ended')
  session.sendAs({ kind: 'client', process: { pid: 4000, startedAt: 'two' } })
  expect(await session.bash('git push')).toBeUndefined()
})

it('keeps a rail that two hooks move into the same session', async () => {
  const session = makeSession(skills)
  await session.prompt('/ship')
  const runtime = systemRuntime({ cwd: session.directory, home: session.home, env: session.env })
  const senders: SenderReader = {
    senderOf: () => ({ kind: 'client', process: firstProcess }),
    isRunning: () => true,
    hasTerminal: () => true,
  }
  const reading = readPayload('{"prompt":"rail resume"}')
  if (!reading.ok) throw new Error(reading.message)
  const { payload } = reading
  const event = { platform: 'claude', runtime, session: 's2', turn: 't', payload } as const
  const move = () => takeOver(event, 'resume', senders)
  expect(move()).toMatchObject({ rail: { session: 's2' } })
  expect(move()).toBeUndefined()
  expect(readRails(runtime)).toMatchObject([{ kind: 'rail', rail: { session: 's2' } }])
})
