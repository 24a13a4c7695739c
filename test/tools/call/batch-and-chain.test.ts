import { expect, it } from 'vitest'
import { foreseeSteps } from '../../../src/tools/call/foresee.ts'
import { parseDirective, type ToolStep } from '../../../src/tools/call/directive-text.ts'
import { partialText } from '../../../src/tools/call/failure-text.ts'
import { runBatch, runToolChain } from '../../../src/tools/call/steps.ts'
import { ToolCallError } from '../../../src/tools/errors.ts'
import { failed, type FakeTool, toolFixture, structured, text } from './_fake.ts'

const tools: readonly FakeTool[] = [
  { name: 'screenshot', answer: () => text('shot') },
  { name: 'get_title', answer: () => text('Page Title') },
  {
    name: 'get_element',
    answer: ({ selector }) =>
      structured({ uid: `for ${JSON.stringify(selector)}`, items: [{ n: 1 }] }),
  },
  {
    name: 'click',
    inputSchema: { type: 'object', properties: { target: {} }, required: ['target'] },
    answer: ({ target }) => text(`clicked ${JSON.stringify(target)}`),
  },
  { name: 'break', answer: () => failed('element not found') },
  {
    name: 'get_flaky',
    answer: (_, _options, attempt) => (attempt === 1 ? failed('busy') : text('ok')),
  },
]

function step(tool: string, params: ToolStep['params'] = {}, outputAs?: string): ToolStep {
  return { tool, params, outputAs }
}

it('returns the results of a batch in the shape and order of the seed', async () => {
  const { context } = toolFixture(tools)
  expect(await runBatch([step('screenshot'), step('get_title')], context)).toEqual([
    { tool: 'screenshot', status: 'success', result: 'shot' },
    { tool: 'get_title', status: 'success', result: 'Page Title' },
  ])
})

it('continues after a failure and names the failed tools', async () => {
  const { context, calls } = toolFixture(tools)
  const results = await runBatch([step('break'), step('click'), step('fake__get_title')], context)
  expect(results).toEqual([
    { tool: 'break', status: 'error', error: 'element not found' },
    {
      tool: 'click',
      status: 'error',
      error:
        'Error: invalid parameters for fake__click\nMissing: target\nExpected: target: any\nNext: provide missing values',
      hint: `Complete it: skillrail tools call fake__click '{"target":"<any>"}'`,
    },
    { tool: 'fake__get_title', status: 'success', result: 'Page Title' },
  ])
  expect(calls).toHaveLength(2)
  expect(partialText(results)).toBe(
    'Partial success: 1 succeeded, 2 failed\nSucceeded: [fake__get_title]\nFailed: [break, click]\nNext: retry failed items with adjusted params',
  )
})

it('gives every member its own attempts', async () => {
  const { context, calls } = toolFixture(tools)
  const results = await runBatch([step('get_flaky'), step('get_title')], context)
  expect(results[0]).toEqual({
    tool: 'get_flaky',
    status: 'success',
    result: 'ok',
    note: 'A retry was needed: succeeded on attempt 2.',
  })
  expect(calls).toHaveLength(3)
})

it.each([
  [11, runBatch, 'Batch size exceeds limit of 10 tools'],
  [6, runToolChain, 'Chain length exceeds limit of 5 tools'],
] as const)('rejects a batch of %i members as a whole', async (count, run, message) => {
  const { context, calls } = toolFixture(tools)
  const many = Array.from({ length: count }, () => step('get_title'))
  await expect(run(many, context)).rejects.toMatchObject({ exitCode: 2, message })
  expect(calls).toEqual([])
  await run(many.slice(1), context)
  expect(calls).toHaveLength(count - 1)
})

it.each([runBatch, runToolChain])(
  'rejects unknown tools and an empty batch as a whole',
  async (run) => {
    const { context, calls } = toolFixture(tools)
    await expect(run([step('get_title'), step('nobody')], context)).rejects.toThrow(
      'Error: Tool not found: nobody',
    )
    await expect(run([], context)).rejects.toMatchObject({ exitCode: 2 })
    expect(calls).toEqual([])
  },
)

it('passes results to later steps of a chain, with their types', async () => {
  const { context, calls } = toolFixture(tools)
  const result = await runToolChain(
    [
      step('get_element', { selector: '#btn' }, 'element'),
      step('click', { target: '$element' }),
      step('click', { target: '$element.items[0].n' }),
      step('click', { target: 'n is $element.items[0].n' }),
    ],
    context,
  )
  expect(result.failed).toBeUndefined()
  expect(result.skipped).toEqual([])
  expect(calls.slice(1)).toEqual([
    String.raw`fake__click {"target":{"uid":"for \"#btn\"","items":[{"n":1}]}}`,
    'fake__click {"target":1}',
    'fake__click {"target":"n is 1"}',
  ])
})

it('stops a chain at its first failure and keeps the earlier results', async () => {
  const { context } = toolFixture(tools)
  const chain = [step('get_title'), step('break'), step('screenshot'), step('click')]
  expect(await runToolChain(chain, context)).toEqual({
    completed: [{ tool: 'get_title', result: 'Page Title' }],
    failed: { tool: 'break', error: 'element not found' },
    skipped: ['screenshot', 'click'],
  })
})

it('fails a step with an unknown reference before its call', async () => {
  const { context, calls } = toolFixture(tools)
  const result = await runToolChain(
    [step('get_title'), step('click', { target: '$gone' })],
    context,
  )
  expect(result).toMatchObject({
    completed: [{ tool: 'get_title' }],
    failed: { tool: 'click', error: '$gone is unknown; known here: none' },
  })
  expect(calls).toEqual(['fake__get_title {}'])
})

function stoppable(delivered: 'no' | 'unknown'): ReturnType<typeof toolFixture> {
  const controller = new AbortController()
  const stop: FakeTool = {
    name: 'stop',
    answer: () => {
      controller.abort()
      throw new ToolCallError({ kind: 'cancelled', message: 'cancelled', delivered })
    },
  }
  return toolFixture([stop, ...tools], { signal: controller.signal })
}

const underWay = 'cancelled while it was under way; it may have acted'
const notBegun = 'cancelled before it was called'

it('keeps the results from before a batch was cancelled', async () => {
  const { context, calls } = stoppable('unknown')
  const results = await runBatch([step('get_title'), step('stop'), step('click')], context)
  expect(results).toEqual([
    { tool: 'get_title', status: 'success', result: 'Page Title' },
    { tool: 'stop', status: 'cancelled', error: underWay },
    { tool: 'click', status: 'cancelled', error: notBegun },
  ])
  expect(calls).toHaveLength(2)
  expect(partialText(results)).toBe(
    'Cancelled: 1 succeeded, 0 failed, 2 cancelled\nSucceeded: [get_title]\nCancelled: [stop, click]\nNext: run what is left, after a look at what was under way',
  )
})

it('keeps the results from before a chain was cancelled', async () => {
  const { context } = stoppable('no')
  expect(await runToolChain([step('get_title'), step('stop'), step('click')], context)).toEqual({
    completed: [{ tool: 'get_title', result: 'Page Title' }],
    cancelled: { tool: 'stop', error: notBegun },
    skipped: ['click'],
  })
})

it('calls nothing of a batch that is cancelled before its first call', async () => {
  const { context, calls } = toolFixture(tools, { signal: AbortSignal.abort() })
  expect(await runBatch([step('get_title')], context)).toEqual([
    { tool: 'get_title', status: 'cancelled', error: notBegun },
  ])
  expect(calls).toEqual([])
})

it('reports no partial success if nothing succeeded', async () => {
  const { context } = toolFixture(tools)
  expect(partialText(await runBatch([step('break')], context))).toBe(
    'Failure: 0 succeeded, 1 failed\nFailed: [break]\nNext: retry failed items with adjusted params',
  )
})

const list: FakeTool = {
  name: 'list-pages',
  inputSchema: { type: 'object', properties: { limit: { type: 'integer' } } },
}

it('lists the parts of a member that have no effect in its note', async () => {
  const { context, calls } = toolFixture([list])
  const steps = parseDirective(
    '[{"tool": "list_pages", "params": {"limt": 1}, "parms": {}, "why": 1}]',
    'batch',
  )
  const [result] = await runBatch(steps, context)
  expect(result?.note).toBe(
    [
      '`parms` is not a key of a batch member; it has tool, params.',
      '`why` is not a key of a batch member; it has tool, params.',
      'There is no tool list_pages; fake__list-pages was taken, which differs only in its spelling.',
      '`limt` is not a parameter of fake__list-pages; did you mean `limit`?',
    ].join(' '),
  )
  expect(calls).toEqual(['fake__list-pages {"limt":1}'])
})

it('predicts the refusal of a schema, but not a result', async () => {
  const { context, calls } = toolFixture([...tools, list])
  const steps = [
    step('get_title', {}, 'title'),
    step('list-pages', { limit: '$title' }),
    step('list-pages', { limit: 'many' }),
    step('click', {}),
    step('click', { target: '$gone' }),
  ]
  const foreseen = await foreseeSteps('chain', steps, context)
  expect(foreseen.map(({ problems, unknown }) => [...problems, ...unknown])).toEqual([
    [],
    [],
    ['Invalid: limit must be integer'],
    ['Missing: target'],
    ['gone'],
  ])
  const asBatch = await foreseeSteps('batch', [step('list-pages', { limit: '$title' })], context)
  expect(asBatch[0]?.problems).toEqual(['Invalid: limit must be integer'])
  expect(calls).toEqual([])
})

it('reports every member before and after its call', async () => {
  const { context } = toolFixture(tools)
  const events: string[] = []
  await runBatch([step('get_title'), step('break')], context, {
    onStep: ({ index, tool, result }) =>
      events.push(`${index} ${tool} ${result?.status ?? 'begins'}`),
  })
  expect(events).toEqual([
    '0 get_title begins',
    '0 get_title success',
    '1 break begins',
    '1 break error',
  ])
})

it.each(['batch', 'chain'] as const)('reports that no call of a %s was made', async (kind) => {
  const { context, calls } = toolFixture(tools)
  const steps = [step('get_title'), step('nobody')]
  const run = kind === 'batch' ? runBatch(steps, context) : runToolChain(steps, context)
  await expect(run).rejects.toMatchObject({
    code: 'tool-not-found',
    message: expect.stringContaining(`Nothing of the ${kind} was called.`),
  })
  expect(calls).toEqual([])
})
