import { describe, expect, it } from 'vitest'
import { checkWorkflows } from '../../src/tools/workflow/check-workflows.ts'
import {
  browserTools,
  databaseTools,
  githubTools,
  graphqlTools,
  newGithubTools,
  playwrightTools,
  step,
  template,
  tool,
  toolsNamed,
  workflow,
  workflowsOf,
} from './helpers.ts'

function findings(value: object, installed?: Parameters<typeof checkWorkflows>[1]): string[] {
  return checkWorkflows(workflowsOf(value), installed).map(
    ({ code, message }) => `${code}: ${message}`,
  )
}

it.each([
  ['database', databaseTools],
  ['browser', browserTools],
  ['browser', playwrightTools],
  ['github-pr', githubTools],
  ['github-pr', newGithubTools],
  ['graphql', graphqlTools],
])('reports nothing about the template %s on its servers (%#)', (name, tools) => {
  const diagnostics = checkWorkflows(template(name), tools).filter(
    ({ severity }) => severity !== 'info',
  )
  expect(diagnostics).toEqual([])
})

describe('cycles', () => {
  const prerequisites = (name: string): object[] => [step(1, name)]

  it('are reported for two workflows through their prerequisites', () => {
    const diagnostics = findings({
      ...workflow('A', { triggers: { tools: ['a'] }, prerequisites: prerequisites('b') }),
      ...workflow('B', { triggers: { tools: ['b'] }, prerequisites: prerequisites('a') }),
    })
    expect(diagnostics).toEqual(["workflow-cycle: workflow 'A': it is part of a cycle: A → B → A"])
  })

  it('are reported once for three workflows', () => {
    const diagnostics = findings({
      ...workflow('A', { triggers: { tools: ['a'] }, prerequisites: prerequisites('b') }),
      ...workflow('B', { triggers: { tools: ['b'] }, prerequisites: prerequisites('c') }),
      ...workflow('C', { triggers: { tools: ['c'] }, prerequisites: prerequisites('a') }),
    })
    expect(diagnostics).toEqual([
      "workflow-cycle: workflow 'A': it is part of a cycle: A → B → C → A",
    ])
  })

  it('are reported for a workflow that requires itself', () => {
    const diagnostics = findings(
      workflow('A', { triggers: { tools: ['a'] }, prerequisites: prerequisites('a') }),
    )
    expect(diagnostics).toEqual(["workflow-cycle: workflow 'A': it is part of a cycle: A → A"])
  })

  it('are not reported if one workflow is disabled, or if one only follows the other', () => {
    const a = workflow('A', { triggers: { tools: ['a'] }, prerequisites: prerequisites('b') })
    const back = { triggers: { tools: ['b'] }, prerequisites: prerequisites('a') }
    expect(findings({ ...a, ...workflow('B', { ...back, enabled: false }) })).toEqual([])
    const on = { triggers: { tools: ['b'] }, prerequisites: prerequisites('c') }
    expect(findings({ ...a, ...workflow('B', on) })).toEqual([])
  })
})

it.each([
  ['no steps', { prerequisites: [] }, 'workflow-no-steps'],
  ['no triggers', { triggers: {} }, 'workflow-unreachable'],
  ['empty triggers', { triggers: { tools: [], keywords: [] } }, 'workflow-unreachable'],
  [
    'an unknown output',
    { prerequisites: [step(1, 'a', { params: { x: '$nobody.x' } })] },
    'workflow-reference-unknown',
  ],
  [
    'a later step',
    { prerequisites: [step(1, 'a', { params: { x: ['$steps.2.x'] } }), step(2, 'b')] },
    'workflow-reference-unknown',
  ],
  [
    'a step that is not there',
    { prerequisites: [step(1, 'a', { params: { x: '$steps.7' } })] },
    'workflow-reference-unknown',
  ],
  [
    'an unknown part of a statement',
    { prerequisites: [step(1, 'a', { params: { x: '$sql.column' } })] },
    'workflow-reference-unknown',
  ],
  [
    'a bare $call',
    { prerequisites: [step(1, 'a', { params: { x: '$call' } })] },
    'workflow-reference-unknown',
  ],
  [
    'a reference inside text',
    { prerequisites: [step(1, 'a', { params: { x: 'id $call.x' } })] },
    'workflow-reference-inside',
  ],
])('reports %s', (_, more, code) => {
  expect(checkWorkflows(workflowsOf(workflow('a', more))).map((found) => found.code)).toEqual([
    code,
  ])
})

describe('with the tools of this machine', () => {
  const tools = toolsNamed('go', 'look')

  it('reports a prerequisite that no server has', () => {
    const prerequisites = [step(1, 'absent'), step(2, 'gone', { required: false })]
    expect(findings(workflow('a', { prerequisites }), tools)).toEqual([
      "workflow-tool-unknown: workflow 'a': step 1: no server here has absent, so the workflow is not enforced",
      "workflow-tool-unknown: workflow 'a': step 2: no server here has gone, so the step is left out",
    ])
  })

  it('reports triggers that no tool can match', () => {
    expect(findings(workflow('a', { triggers: { tools: ['absent'] } }), tools)).toEqual([
      "workflow-unreachable: workflow 'a': no server here has a tool of its triggers",
    ])
  })

  it('reports a parameter that the server requires and the step does not set', () => {
    const needy = [tool('s__go'), tool('s__look', { required: ['id'], parameters: ['id'] })]
    expect(findings(workflow('a'), needy)).toEqual([
      "workflow-parameter-missing: workflow 'a': step 1: s__look needs id, and the step has no such parameter",
    ])
  })

  it('reports a misspelt parameter of a step, but not a parameter for other servers', () => {
    const look = tool('s__look', { required: [], parameters: ['database', 'limit'] })
    const params = { databse: 'shop', page: 1, Limit: 2 }
    const steps = { prerequisites: [step(1, 'look', { params })] }
    const diagnostics = checkWorkflows(workflowsOf(workflow('a', steps)), [tool('s__go'), look])
    expect(diagnostics).toMatchObject([
      {
        code: 'workflow-parameter-unknown',
        message: "workflow 'a': step 1: s__look has no parameter databse, so it is not passed",
        hint: 'Did you mean database?',
      },
    ])
  })

  it('names the nearest tool for a prerequisite that is misspelt', () => {
    const steps = { prerequisites: [step(1, 'loook')] }
    const [found] = checkWorkflows(workflowsOf(workflow('a', steps)), tools)
    expect(found?.hint).toBe('Did you mean look? skillrail tools refresh looks for new tools.')
  })
})
