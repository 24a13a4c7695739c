import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { afterCall } from '../../src/tools/workflow/gate.ts'
import type { JsonObject } from '../../src/tools/workflow/model.ts'
import { openSession, type SessionStore } from '../../src/tools/workflow/session.ts'
import {
  call,
  settings,
  step,
  temporaryProject,
  testRuntime,
  tool,
  workflow,
  workflowsOf,
  isValid,
  record,
} from './helpers.ts'

const scope = { server: 's' }

function newSession(): SessionStore {
  return openSession({ project: temporaryProject(), runtime: testRuntime(), settings })
}

function looking(more: object = {}, ofWorkflow: object = {}): ReturnType<typeof workflowsOf> {
  const prerequisites = [step(1, 'look', more)]
  return workflowsOf(workflow('w', { prerequisites, ...ofWorkflow }))
}

describe('a call that a user made', () => {
  it.each([
    ['that succeeded', {}, 'found', true],
    ['that succeeded without a word', {}, '', true],
    ['that failed', {}, undefined, false],
    ['in a workflow that is disabled', { enabled: false }, 'found', false],
  ])('%s counts as its prerequisite: %j, %j', async (_what, more, result, counts) => {
    const session = newSession()
    await afterCall(call(tool('s__look')), session, looking({}, more), result)
    expect(await isValid(session, 'w', 'look', scope)).toBe(counts)
  })

  it('counts with its parameters', async () => {
    const session = newSession()
    const workflows = looking({ params: { database: '$call.database' } })
    const shop: JsonObject = { database: 'shop' }
    await afterCall(call(tool('s__look'), shop), session, workflows, 'found')
    expect(await isValid(session, 'w', 'look', { ...scope, ...shop })).toBe(true)
    expect(await isValid(session, 'w', 'look', { ...scope, database: 'logs' })).toBe(false)
    const { state } = await session.read()
    expect(state.completed[0]?.result).toBe('found')
  })

  it('that is no prerequisite leaves no record', async () => {
    const session = newSession()
    await afterCall(call(tool('s__other')), session, looking(), 'done')
    expect(existsSync(dirname(session.path))).toBe(false)
  })

  it.each([
    ['succeeded', 'done', {}],
    ['failed', undefined, {}],
    ['of a workflow that is disabled', 'done', { enabled: false }],
  ])('invalidates the completed prerequisites that it changes: %s', async (_what, result, more) => {
    const session = newSession()
    await record(session, 'w', 'look', scope, 'found')
    await record(session, 'w', 'other', scope, 'found')
    const workflows = looking({ invalidated_by: ['change', 'drop'] }, more)
    await afterCall(call(tool('s__drop')), session, workflows, result)
    expect(await isValid(session, 'w', 'look', scope)).toBe(false)
    expect(await isValid(session, 'w', 'other', scope)).toBe(true)
  })

  it('invalidates completed prerequisites under another name too', async () => {
    const session = newSession()
    await record(session, 'w', 'look', scope, 'found')
    const workflows = looking(
      { invalidated_by: ['turn_page'] },
      { aliases: { turn_page: ['leaf_on'] } },
    )
    await afterCall(call(tool('s__leaf_on')), session, workflows)
    expect(await isValid(session, 'w', 'look', scope)).toBe(false)
  })
})
