import { describe, expect, it } from 'vitest'
import { addRow } from './rows.ts'
import { seedRows } from './seed-rows.ts'
import { useFixture } from './fixture.ts'

interface Step {
  tool: string
  params: object
  bindings: { parameter: string; from: string }[]
  missing: string[]
}

describe('the specified mappings, on real schemas', () => {
  const fixture = useFixture([
    'chrome-devtools',
    'github',
    'graphql',
    'context7',
    'sequential-thinking',
  ])

  it.each(seedRows)('$request → $seed', async ({ request, seed, tool = '', steps, note = '' }) => {
    const { project } = fixture()
    const routed = await project.json(['tools', 'route', request])
    const { answer } = await project.json(['tools', 'do', `${tool} ${request}`, '--dry-run'])
    const plannedSteps = answer.steps.map(({ tool, params, bindings, missing }: Step) => ({
      tool,
      params,
      from: bindings.map(({ parameter, from }) => `${parameter} from ${from}`),
      missing,
    }))
    const real = steps.map(({ tool, params }) => `${nameOf(tool)} ${JSON.stringify(params)}`)
    const isRouted = steps.some((step) => step.tool === routed.answer.tool)
    const way = isRouted ? 'yes' : `no: ${nameOf(routed.answer.tool ?? 'none')}`
    addRow({ table: 'seed', request, seed, real: real.join(', '), routed: way, note })
    expect(plannedSteps).toEqual(steps.map((step) => ({ from: [], missing: [], ...step })))
  })
})

function nameOf(id: string): string {
  return id.slice(id.indexOf('__') + 2)
}
