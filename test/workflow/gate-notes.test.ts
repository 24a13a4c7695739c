import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { WorkflowDefinition } from '../../src/tools/workflow/model.ts'
import { call, step, tool, toolsNamed, workflow, workflowsOf, record } from './helpers.ts'
import { fixture, type Fixture } from './_gate-fixture.ts'

describe('the notes of a gate', () => {
  const installed = toolsNamed('go', 'find', 'look')
  const steps = [step(1, 'find'), step(2, 'look', { required: false })]
  const ofMode = (mode: string): readonly WorkflowDefinition[] =>
    workflowsOf({
      ...workflow('a', { mode, prerequisites: steps }),
      ...workflow('b', { mode, prerequisites: [] }),
      ...workflow('c', { prerequisites: [step(1, 'absent')] }),
    })

  it.each(['enforce', 'warn', 'suggest'])(
    'contain only that every step ran already: %s',
    async (mode) => {
      const { gate, session, calls, notes } = fixture(ofMode(mode), installed)
      for (const name of ['find', 'look']) await record(session, 'a', name, { server: 's' }, 'x')
      const ask = (): Promise<'run'> => Promise.reject(new Error('asked'))
      await gate(call(tool('s__go')), { ask })
      expect(calls).toEqual([])
      expect(notes).toEqual([
        "Workflow 'c' is not enforced: no server here has absent",
        "Multiple workflows matched. Using 'a', 'b', in this order.",
      ])
    },
  )

  it('are empty if no workflow applies to the call', async () => {
    const { gate, notes } = fixture(workflowsOf(workflow('a')), installed)
    await gate(call(tool('s__other')))
    expect(notes).toEqual([])
  })
})

describe('a step that cannot run', () => {
  const installed = toolsNamed('go', 'look')
  const made = (more: object): Fixture =>
    fixture(
      workflowsOf(
        workflow('a', {
          prerequisites: [
            step(1, 'look', { params: { id: '$nothing.id' }, ...more }),
            step(2, 'look'),
          ],
        }),
      ),
      installed,
    )
  const reason = 'it needs id, and $nothing.id has no single value'

  it('stops the call if the step is required', async () => {
    const { gate, calls } = made({})
    const message = `Workflow 'a' failed at step 1 (look): ${reason}`
    await expect(gate(call(tool('s__go')))).rejects.toThrow(message)
    expect(calls).toEqual([])
  })

  it('is left out with a note if it is optional', async () => {
    const { gate, calls, notes } = made({ required: false })
    await gate(call(tool('s__go')))
    expect(calls).toEqual(['s__look {}'])
    expect(notes[1]).toBe(`- Step 1: look left out: ${reason}`)
  })

  it('is left out if no server has its tool', async () => {
    const { gate, notes } = made({ tool: 'absent', required: false })
    await gate(call(tool('s__go')))
    expect(notes[1]).toBe('- Step 1: absent left out: no server here has absent')
  })

  it('is left out if the call has no value for it', async () => {
    const { gate, notes } = made({ params: { id: '$call.id' } })
    await gate(call(tool('s__go')))
    expect(notes[1]).toBe('- Step 1: look left out: the call has no id')
  })
})

describe('steps that ran in part', () => {
  const installed = toolsNamed('go', 'find', 'look')
  const prerequisites = [
    { step: 1, tool: 'find', description: 'Finds.' },
    { step: 2, tool: 'look', description: 'Looks.' },
  ]

  it.each(['enforce', 'warn', 'suggest'])(
    'are mentioned only while they are open: %s',
    async (mode) => {
      const workflows = workflowsOf(workflow('a', { mode, prerequisites }))
      const { gate, session, calls, notes } = fixture(workflows, installed)
      await record(session, 'a', 'find', { server: 's' }, 'x')
      await gate(call(tool('s__go')))
      expect(calls).toEqual(mode === 'suggest' ? [] : ['s__look {}'])
      expect(notes.join('\n')).toContain('look')
      expect(notes.join('\n')).not.toContain('find')
    },
  )
})

describe('a step that needs the answer of a failed step', () => {
  const installed = toolsNamed('go', 'find', 'look')
  const made = (more: object): Fixture =>
    fixture(
      workflowsOf(
        workflow('a', {
          prerequisites: [
            step(1, 'find', { required: false }),
            step(2, 'look', { params: { id: '$steps.1.id' }, ...more }),
          ],
        }),
      ),
      installed,
      () => ({ ok: false, error: 'lost' }),
    )

  it('stops the call if the step is required', async () => {
    const { gate, calls } = made({})
    await expect(gate(call(tool('s__go')))).rejects.toThrow(
      "Workflow 'a' failed at step 2 (look): its parameters come from step 1",
    )
    expect(calls).toEqual(['s__find {}'])
  })

  it('is left out if it is optional', async () => {
    const { gate, calls } = made({ required: false })
    await gate(call(tool('s__go')))
    expect(calls).toEqual(['s__find {}'])
  })

  it('is suggested with the failed step', async () => {
    const { gate, notes } = made({})
    const suggesting = workflowsOf(
      workflow('a', {
        mode: 'suggest',
        prerequisites: [
          step(1, 'find'),
          step(2, 'look', { params: { id: '$steps.1.id' } }),
          { step: 3, tool: 'look', description: 'y', params: { id: '$nothing.id' } },
        ],
      }),
    )
    await gate(call(tool('s__go')), { workflows: suggesting })
    expect(notes).toEqual([
      "Workflow 'a' suggests to run first\n  1. find: x\n  2. look: x\n  3. look: y",
    ])
  })
})

describe('the answer of a prerequisite', () => {
  const tools = toolsNamed('go', 'find', 'look')
  const prerequisites = (reference: string): object[] => [
    step(1, 'find', { output_as: 'found' }),
    step(2, 'look', { params: { id: reference } }),
  ]

  it.each<[string, string, string, string]>([
    ['an object as text', ' {"id":7}', '$found.id', '7'],
    ['a list as text', '\n[7]', '$found[0]', '7'],
    ['a text', 'seven', '$found', '"seven"'],
    ['a text that begins like JSON', '[seven', '$found', '"[seven"'],
    ['a list in a text in quotes', '"[7]"', '$found', String.raw`"\"[7]\""`],
    ['a text that is a number', '7', '$found', '"7"'],
    ['a text with JSON in it', 'x {"id":7}', '$found', String.raw`"x {\"id\":7}"`],
  ])('that is %s is used with its meaning', async (_what, value, reference, id) => {
    const { gate, calls } = fixture(
      workflowsOf(workflow('a', { prerequisites: prerequisites(reference) })),
      tools,
      () => ({ ok: true, text: 'x', value }),
    )
    await gate(call(tool('s__go')))
    expect(calls[1]).toBe(`s__look {"id":${id}}`)
  })

  it.each([
    ['$call.id', undefined],
    ['$found.id', { id: 7 }],
  ])('is stored in the session only if a step refers to it: %s', async (reference, kept) => {
    const { gate, session } = fixture(
      workflowsOf(workflow('a', { prerequisites: prerequisites(reference) })),
      tools,
      () => ({ ok: true, text: 'x', value: { id: 7 } }),
    )
    await gate(call(tool('s__go'), { id: 1 }))
    const { state } = await session.read()
    expect(state.completed.find((one) => one.tool === 'find')?.value).toEqual(kept)
  })
})

it('invalidates the prerequisites that a failed prerequisite may have changed', async () => {
  const { gate, session } = fixture(
    workflowsOf(
      workflow('a', {
        prerequisites: [step(1, 'find', { invalidated_by: ['look'] }), step(2, 'look')],
      }),
    ),
    toolsNamed('go', 'find', 'look'),
    ({ name }) =>
      name === 'look' ? { ok: false, error: 'lost' } : { ok: true, text: '', value: null },
  )
  await expect(gate(call(tool('s__go'), {}, { instance: 'i' }))).rejects.toThrow('lost')
  expect((await session.read()).state.completed).toEqual([])
})

it('reports a cancellation, and not that the prerequisite failed', async () => {
  const controller = new AbortController()
  const seen: (AbortSignal | undefined)[] = []
  const { gate } = fixture(workflowsOf(workflow('a')), toolsNamed('go', 'look'))
  const gated = gate(call(tool('s__go')), {
    signal: controller.signal,
    callStep: async (_id, _params, signal) => {
      seen.push(signal)
      controller.abort(new Error('stopped'))
      return { ok: false, error: 'connection lost' }
    },
  })
  await expect(gated).rejects.toThrow('stopped')
  expect(seen).toEqual([controller.signal])
})

it('continues with a damaged session file, since the file is moved aside', async () => {
  const { gate, calls, session } = fixture(workflowsOf(workflow('a')), toolsNamed('go', 'look'))
  mkdirSync(dirname(session.path), { recursive: true })
  writeFileSync(session.path, '{')
  await gate(call(tool('s__go')))
  await gate(call(tool('s__go')))
  expect(calls).toEqual(['s__look {}'])
})
