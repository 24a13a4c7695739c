import { describe, expect, it } from 'vitest'
import {
  afterCall,
  inTurnWhereStateful,
  isDeepValue,
  jsonIn,
} from '../../src/tools/workflow/gate.ts'
import { openSession, type SessionStore } from '../../src/tools/workflow/session.ts'
import { until } from '../patience.ts'
import {
  call,
  isValid,
  record,
  settings,
  step,
  temporaryProject,
  testRuntime,
  tool,
  workflow,
  workflowsOf,
} from './helpers.ts'

const scope = { server: 's' }
const never = new AbortController().signal
const workflows = workflowsOf(
  workflow('w', { prerequisites: [step(1, 'look', { invalidated_by: ['drop'] })] }),
)
const tools = [tool('s__look'), tool('s__go'), tool('s__drop'), tool('t__read')]

describe('a call that makes prerequisites stale', () => {
  function sessions(...ids: string[]): SessionStore[] {
    const project = temporaryProject()
    const runtime = testRuntime()
    return ids.map((id) => openSession({ project, runtime, settings, id }))
  }

  it('does so in the other sessions of the project, and in no other project', async () => {
    const [own, other, third] = sessions('own', 'other', 'third')
    const [foreign] = sessions('other')
    if (!own || !other || !third || !foreign) throw new Error('a session is missing')
    for (const one of [own, other, foreign]) await record(one, 'w', 'look', scope, 'found')
    await record(other, 'v', 'look', scope, 'found')
    await record(third, 'v', 'look', scope, 'found')
    await afterCall(call(tool('s__drop')), own, workflows, 'done')
    expect(await isValid(own, 'w', 'look', scope)).toBe(false)
    expect(await isValid(other, 'w', 'look', scope)).toBe(false)
    expect(await isValid(other, 'v', 'look', scope)).toBe(true)
    expect(await isValid(third, 'v', 'look', scope)).toBe(true)
    expect(await isValid(foreign, 'w', 'look', scope)).toBe(true)
  })

  it('completes no prerequisite in the other sessions', async () => {
    const [own, other] = sessions('own', 'other')
    if (!own || !other) throw new Error('a session is missing')
    await record(other, 'w', 'other', scope, 'found')
    await afterCall(call(tool('s__look')), own, workflows, 'found')
    expect(await isValid(own, 'w', 'look', scope)).toBe(true)
    expect(await isValid(other, 'w', 'look', scope)).toBe(false)
  })

  it('of a program without a server affects only its own session', async () => {
    const [own, other] = sessions('own', 'other')
    if (!own || !other) throw new Error('a session is missing')
    for (const one of [own, other]) await record(one, 'w', 'look', {}, 'found')
    await afterCall(call({ id: 'drop', name: 'drop', server: '' }), own, workflows, 'done')
    expect(await isValid(own, 'w', 'look', {})).toBe(false)
    expect(await isValid(other, 'w', 'look', {})).toBe(true)
  })
})

describe('calls of one server instance', () => {
  const session = openSession({ project: temporaryProject(), runtime: testRuntime(), settings })

  /** Starts calls whose work ends on request, and lists the running calls. */
  function calls(active = workflows) {
    const working = new Set<string>()
    const ends = new Map<string, () => void>()
    const make = (name: string, server: string, instance = '1', signal = never) =>
      inTurnWhereStateful(
        { server, instance, signal },
        () =>
          new Promise<string>((resolve) => {
            working.add(name)
            ends.set(name, () => {
              working.delete(name)
              resolve(name)
            })
          }),
        { session, workflows: active, tools },
      )
    const end = (name: string) => ends.get(name)?.()
    /** Waits until a call works, then as long as another one would need to begin as well. */
    async function begun(name: string): Promise<void> {
      await until(() => working.has(name))
      await soon()
    }
    return { working, make, begun, end }
  }
  const soon = () => new Promise((resolve) => setTimeout(resolve, 60))

  it('run one after the other, in order', async () => {
    const { working, make, begun, end } = calls()
    const [first, second, third] = ['a', 'b', 'c'].map((name) => make(name, 's', 'i1'))
    await begun('a')
    expect([...working]).toEqual(['a'])
    end('a')
    expect(await first).toBe('a')
    await begun('b')
    expect([...working]).toEqual(['b'])
    end('b')
    await second
    await begun('c')
    end('c')
    expect(await third).toBe('c')
  })

  it.each([
    ['of another server', workflows, 't', 'i2'],
    ['of another instance', workflows, 's', 'i3'],
    [
      'of a disabled workflow',
      workflowsOf(
        workflow('w', {
          enabled: false,
          prerequisites: [step(1, 'look', { invalidated_by: ['drop'] })],
        }),
      ),
      's',
      'i2',
    ],
    ['that make nothing stale', workflowsOf(workflow('w')), 's', 'i2'],
  ])('run in parallel with calls %s', async (_what, active, server, instance) => {
    const { working, make, end } = calls(active)
    const first = make('a', active === workflows ? 's' : server, 'i2')
    const second = make('b', server, instance)
    await until(() => working.size === 2)
    expect([...working].toSorted()).toEqual(['a', 'b'])
    for (const name of ['a', 'b']) end(name)
    expect(await Promise.all([first, second])).toEqual(['a', 'b'])
  })

  it('continue in order after a call that was cancelled or failed', async () => {
    const { working, make, begun, end } = calls()
    const leaving = new AbortController()
    const first = make('a', 's', 'i4')
    const second = make('b', 's', 'i4', leaving.signal)
    const third = make('c', 's', 'i4')
    await begun('a')
    leaving.abort(new Error('left'))
    await expect(second).rejects.toThrow('left')
    await soon()
    expect([...working]).toEqual(['a'])
    end('a')
    await first
    await begun('c')
    expect([...working]).toEqual(['c'])
    end('c')
    await third
    const about = { server: 's', instance: 'i4', signal: never }
    const failed = inTurnWhereStateful(about, () => Promise.reject(new Error('broken')), {
      session,
      workflows,
      tools,
    })
    await expect(failed).rejects.toThrow('broken')
    const last = make('d', 's', 'i4')
    await begun('d')
    end('d')
    expect(await last).toBe('d')
  })
})

describe('JSON in a text', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['\n\t [1]', [1]],
    ['7', '7'],
    ['a {"b":1}', 'a {"b":1}'],
    ['{broken', '{broken'],
    [`${'['.repeat(5000)}${']'.repeat(5000)}`, `${'['.repeat(5000)}${']'.repeat(5000)}`],
    [7, 7],
  ])('is read if the text is a whole value (%#)', (given, expected) => {
    expect(jsonIn(given)).toEqual(expected)
  })

  it.each([
    ['a text', 'x', 0, false],
    ['null', null, 0, false],
    ['a list of the last level', [1], 1, false],
    ['a list below the last level', [[1]], 1, true],
    ['an object below the last level', { a: 1, b: { c: 1 } }, 1, true],
    ['as many levels as are read', { a: [{ b: 1 }] }, 3, false],
  ])('has too many levels: %s', (_what, value, levels, deep) => {
    expect(isDeepValue(value, levels)).toBe(deep)
  })
})
