import { describe, expect, it } from 'vitest'
import type { GatedCall, JsonObject, WorkflowTool } from '../../src/tools/workflow/model.ts'
import { type GatePlan, planGate } from '../../src/tools/workflow/plan.ts'
import { type SessionState, withCompletion } from '../../src/tools/workflow/session-file.ts'
import { call, tool, workflow, workflowsOf } from './helpers.ts'

const fresh: SessionState = { sessionId: 'a', startedAt: '2026-02-04', completed: [] }
const go = tool('s__go')

interface Asked {
  prerequisites: readonly object[]
  tools?: readonly WorkflowTool[]
  params?: JsonObject
  more?: Partial<GatedCall>
  state?: SessionState
  aliases?: object
}

function planned({ prerequisites, tools, params, more, state = fresh, aliases }: Asked): GatePlan {
  const steps = prerequisites.map((step, index) => ({
    step: index + 1,
    tool: 'look',
    description: 'x',
    ...step,
  }))
  const workflows = workflowsOf(workflow('w', { prerequisites: steps, aliases }))
  return planGate(call(go, params, more), workflows, state, tools ?? [go, tool('s__look')])
}

describe('the plan of a call', () => {
  it('is empty if no workflow matches', () => {
    const plan = planGate(call(tool('s__other')), workflowsOf(workflow('w')), fresh, [])
    expect(plan).toEqual({
      others: [],
      also: [],
      keywordOnly: [],
      notInstalled: [],
      steps: [],
      open: 0,
    })
  })

  it('contains every step of the workflow, with the reason for the match and the number of open steps', () => {
    const tools = ['s__go', 's__look', 's__find'].map((id) => tool(id))
    const prerequisites = [
      { tool: 'find', output_as: 'found' },
      { params: { id: '$found.id', of: 1 }, required: false, description: 'Looks.' },
      { tool: 'find', params: { id: '$call.id' } },
    ]
    const plan = planned({ prerequisites, tools })
    expect(plan).toMatchObject({
      workflow: { name: 'w' },
      why: { by: 'tool', value: 'go' },
      open: 2,
    })
    expect(plan.steps).toEqual([
      {
        step: 1,
        tool: 'find',
        description: 'x',
        required: true,
        status: 'run',
        id: 's__find',
        params: {},
        scope: { server: 's' },
        waitsFor: [],
      },
      {
        step: 2,
        tool: 'look',
        description: 'Looks.',
        required: false,
        status: 'waits',
        id: 's__look',
        params: { of: 1 },
        scope: {},
        waitsFor: [1],
        reason: 'its parameters come from step 1',
      },
      {
        step: 3,
        tool: 'find',
        description: 'x',
        required: true,
        status: 'not-applicable',
        id: 's__find',
        params: {},
        scope: {},
        waitsFor: [],
        reason: 'the call has no id',
      },
    ])
  })

  it('orders a step after every step that its parameters come from', () => {
    const prerequisites = [
      { output_as: 'one' },
      { output_as: 'two' },
      { params: { a: '$two.a', b: '$one.b', c: '$steps.1.c' } },
    ]
    expect(planned({ prerequisites }).steps[2]).toMatchObject({
      waitsFor: [1, 2],
      reason: 'its parameters come from step 1 and 2',
    })
  })

  it('contains no step that the call itself would make stale', () => {
    const { steps, open } = planned({ prerequisites: [{ invalidated_by: ['other', 'go'] }] })
    expect(steps[0]).toMatchObject({
      status: 'not-applicable',
      reason: 'go would make it stale at once',
    })
    expect(open).toBe(0)
  })

  it('contains no optional step whose tool no server has', () => {
    const { steps, open } = planned({ prerequisites: [{ tool: 'absent', required: false }, {}] })
    expect(steps[0]).toMatchObject({
      status: 'not-installed',
      id: undefined,
      reason: 'no server here has absent',
    })
    expect(open).toBe(1)
  })

  it('is blocked if an earlier step ran without the value that a step needs', () => {
    const state = withCompletion(
      fresh,
      { workflow: 'w', tool: 'find', scope: { server: 's' }, result: '', value: { items: [] } },
      'now',
    )
    const tools = ['s__go', 's__look', 's__find'].map((id) => tool(id))
    const prerequisites = [
      { tool: 'find', output_as: 'found' },
      { params: { id: '$nothing.id' } },
      { params: { id: '$found.items[*]' } },
    ]
    const { steps } = planned({ prerequisites, tools, state })
    expect(steps[1]).toMatchObject({
      status: 'blocked',
      reason: 'it needs id, and $nothing.id has no single value',
    })
    // The kept answer leads nowhere, so the question is asked again.
    expect(steps[2]).toMatchObject({ status: 'waits', waitsFor: [1] })
    expect(steps[0]).toMatchObject({ status: 'run', reason: 'a later step needs its result' })
  })
})

describe('a step that ran in this session', () => {
  const ran = (scope: JsonObject): SessionState =>
    withCompletion(fresh, { workflow: 'w', tool: 'look', scope, result: 'x' }, '2026-02-04T10:00')

  it.each<[string, JsonObject, JsonObject, string]>([
    ['with the same value', { server: 's', id: 7 }, { id: 7 }, 'valid'],
    ['with another value', { server: 's', id: 7 }, { id: 8 }, 'run'],
    ['on another server', { server: 'o', id: 7 }, { id: 7 }, 'run'],
  ])('%s: ran for %j, and %j is %s', (_what, scope, params, status) => {
    const state = ran(scope)
    const plan = planned({ prerequisites: [{ params: { id: '$call.id' } }], params, state })
    const [step] = plan.steps
    expect([step?.status, step?.at]).toEqual([
      status,
      status === 'valid' ? '2026-02-04T10:00' : undefined,
    ])
    expect(plan.open).toBe(status === 'valid' ? 0 : 1)
  })

  it('runs again only if a later step needs its result', () => {
    const tools = ['s__go', 's__look', 's__find'].map((id) => tool(id))
    const prerequisites = [{}, { tool: 'find', params: { id: '$steps.1.id' } }]
    const needed = planned({ prerequisites, tools, state: ran({ server: 's' }) })
    expect(needed.steps.map(({ status }) => status)).toEqual(['run', 'waits'])
    expect(needed.open).toBe(2)
    const free = planned({
      prerequisites: [{}, { tool: 'find' }],
      tools,
      state: ran({ server: 's' }),
    })
    expect(free.steps.map(({ status }) => status)).toEqual(['valid', 'run'])
  })
})

describe('the parameters of a step', () => {
  const looking = (more: Partial<WorkflowTool>): readonly WorkflowTool[] => [
    go,
    tool('s__look', more),
  ]

  it.each<[string, Partial<WorkflowTool>, object, JsonObject]>([
    ['all of them, where the tool’s are not known', {}, { a: 1, b: 2 }, { a: 1, b: 2 }],
    ['only those that the tool has', { parameters: ['a'] }, { a: 1, b: 2 }, { a: 1 }],
    [
      'under the names that the tool gives them',
      { parameters: ['pullNumber'] },
      { pull_number: 7 },
      { pullNumber: 7 },
    ],
    [
      'under their own name where the tool has it beside another spelling',
      { parameters: ['pull_number', 'pullNumber'] },
      { pull_number: 7 },
      { pull_number: 7 },
    ],
  ])('are %s', (_what, more, params, expected) => {
    const { steps } = planned({ prerequisites: [{ params }], tools: looking(more) })
    expect(steps[0]?.params).toEqual(expected)
  })

  it.each<[string, string[] | undefined, string]>([
    ['is left out if the tool does not require it', ['other'], 'run'],
    ['is left out if the schema of the tool is unknown', undefined, 'run'],
    ['is needed if the tool requires it', ['pageId'], 'not-applicable'],
    ['is needed if the tool requires it in another spelling', ['page_id'], 'not-applicable'],
  ])('an optional parameter without a value in the call %s', (_what, required, status) => {
    const { steps } = planned({
      prerequisites: [{ params: { pageId: '$call.pageId?' } }],
      tools: looking({ required }),
    })
    expect(steps[0]).toMatchObject({ status, params: {} })
  })

  it('include those of another name for the tool', () => {
    const reader = tool('s__read')
    const { steps } = planned({
      prerequisites: [{ tool: 'part', params: { owner: 'o' } }],
      tools: [go, reader],
      aliases: { part: [{ tool: 'read', params: { kind: 'part' } }] },
    })
    expect(steps[0]).toMatchObject({ id: 's__read', params: { owner: 'o', kind: 'part' } })
  })
})
