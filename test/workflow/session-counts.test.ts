import { expect, it } from 'vitest'
import { listSessions, openSession } from '../../src/tools/workflow/session.ts'
import { settings, temporaryProject, testRuntime, record } from './helpers.ts'

const hour = 3_600_000

it('counts a prerequisite for each scope that it ran for, in every place', async () => {
  const options = { project: temporaryProject(), runtime: testRuntime(), settings }
  const session = openSession(options)
  await record(session, 'safe', 'list_tables', { database: 'shop' }, 'one')
  await record(session, 'safe', 'list_tables', { database: 'archive' }, 'two')
  await record(session, 'safe', 'list_databases', {}, 'three')
  expect((await session.read()).state.completed).toHaveLength(3)
  expect(await listSessions(options)).toMatchObject([{ id: 'default', completed: 3 }])
})

it('begins when it was cleared, and not with the first call of the remaining log', async () => {
  const runtime = testRuntime()
  const session = openSession({ project: temporaryProject(), runtime, settings })
  await session.log({ tool: 'a__b', durationMs: 1, outcome: 'success', size: 0 })
  runtime.clock.now += hour
  await record(session, 'safe', 'list_tables', {}, 'one')
  const begun = (await session.read()).recordedStart ?? ''
  runtime.clock.now += hour
  expect(await session.clear()).toBe(true)
  const after = await session.read()
  expect(after.state.completed).toEqual([])
  expect(Date.parse(after.recordedStart ?? '')).toBe(Date.parse(begun) + hour)
  expect(await session.clear({ log: true })).toBe(true)
  expect((await session.read()).recordedStart).toBeUndefined()
})
