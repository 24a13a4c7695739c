import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { afterCall } from '../../src/tools/workflow/gate.ts'
import type { GatedCall, JsonObject, WorkflowTool } from '../../src/tools/workflow/model.ts'
import { planGate } from '../../src/tools/workflow/plan.ts'
import { ToolError } from '../../src/tools/errors.ts'
import {
  browserTools,
  call,
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
  isValid,
} from './helpers.ts'
import { type Answer, fixture, type Fixture } from './_gate-fixture.ts'

function find(tools: readonly WorkflowTool[], name: string): WorkflowTool {
  return tools.find((item) => item.name === name) ?? tool(`absent__${name}`)
}

const databases = {
  databases: [{ name: 'shop', type: 'postgresql' }],
  totalCount: 1,
}

const databaseAnswer: Answer = ({ name }) =>
  name === 'list_databases'
    ? { ok: true, text: JSON.stringify(databases), value: JSON.stringify(databases) }
    : { ok: true, text: `${name} done`, value: `${name} done` }

const query = find(databaseTools, 'execute_query')

describe('the database template on other servers', () => {
  const parameters = { database: ['database'], table: ['database', 'table'] }
  const named = (name: string, own: string[], more: object = {}) =>
    tool(`db__${name}`, { parameters: own, required: own, ...more })
  const installed = [
    named('list_databases', [], { readOnly: true }),
    named('list_tables', parameters.database, { readOnly: true }),
    named('inspect_table', parameters.table, { readOnly: true }),
    named('explain_query', ['query'], { readOnly: true }),
    ...['drop_table', 'truncate_table', 'run_migration', 'grant_role', 'execute_query'].map(
      (name) => named(name, ['query']),
    ),
    tool('notes__delete_note'),
  ]
  const steps = (database: string, ...names: string[]): string[] => [
    'db__list_databases {}',
    `db__list_tables {"database":"${database}"}`,
    ...names.map((name) => `db__inspect_table {"database":"${database}","table":"${name}"}`),
  ]

  it('inspects one table after the other if the tool accepts no list', async () => {
    const { gate, calls } = fixture(template('database'), installed, databaseAnswer)
    const query = 'SELECT * FROM users JOIN orders ON true'
    await gate(call(named('execute_query', ['query']), { database: 'shop', query }))
    expect(calls).toEqual(steps('shop', 'users', 'orders'))
  })

  it.each(['drop_table', 'truncate_table', 'run_migration', 'grant_role'])(
    'applies to %s, which is in no category',
    async (name) => {
      const { gate, calls } = fixture(template('database'), installed, databaseAnswer)
      await gate(call(tool(`db__${name}`), { database: 'shop' }))
      expect(calls).toEqual(steps('shop'))
    },
  )

  it.each(['db__explain_query', 'notes__delete_note'])('does not apply to %s', async (id) => {
    const { gate, calls, notes } = fixture(template('database'), installed, databaseAnswer)
    await gate(call(tool(id), { query: 'SELECT 1' }))
    expect([calls, notes]).toEqual([[], []])
  })
})

describe('the database template on the tools of a real server', () => {
  it('runs its steps in order with the parameters that the server requires', async () => {
    const { gate, calls, notes } = fixture(template('database'), databaseTools, databaseAnswer)
    const sql = 'SELECT * FROM users JOIN orders ON true'
    await gate(call(query, { database: 'shop', query: sql }))
    expect(calls).toEqual([
      'db__list_databases {}',
      'db__list_tables {"database":"shop"}',
      'db__inspect_table {"database":"shop","tables":["users","orders"]}',
      'db__get_indexes {"database":"shop","tables":["users","orders"]}',
    ])
    expect(notes).toEqual([
      "Workflow 'database-safe-query' triggered. Running 4 prerequisites...",
      '✓ Step 1: list_databases completed',
      '✓ Step 2: list_tables completed',
      '✓ Step 3: inspect_table completed',
      '✓ Step 4: get_indexes completed',
    ])
  })

  it('uses the only database of the server if the call names none', async () => {
    const { gate, calls } = fixture(template('database'), databaseTools, databaseAnswer)
    await gate(call(query, { query: 'SELECT * FROM users' }))
    expect(calls.slice(1, 3)).toEqual([
      'db__list_tables {"database":"shop"}',
      'db__inspect_table {"database":"shop","tables":["users"]}',
    ])
  })

  it('reads the database from the statement if the server has several', async () => {
    const { gate, calls } = fixture(template('database'), databaseTools, () => ({
      ok: true,
      text: 'two',
      value: { databases: [{ name: 'a' }, { name: 'b' }] },
    }))
    await gate(call(query, { query: 'SELECT * FROM b.users' }))
    expect(calls[1]).toBe('db__list_tables {"database":"b"}')
  })

  it('fails at the step whose database neither the call nor the statement names', async () => {
    const many = { databases: [{ name: 'a' }, { name: 'b' }] }
    const { gate, calls } = fixture(template('database'), databaseTools, () => ({
      ok: true,
      text: 'two',
      value: many,
    }))
    await expect(gate(call(query, { query: 'SELECT 1' }))).rejects.toThrow(
      "Workflow 'database-safe-query' failed at step 2 (list_tables): it needs database",
    )
    expect(calls).toEqual(['db__list_databases {}'])
  })

  it('runs once for each session and database', async () => {
    const { gate, calls } = fixture(template('database'), databaseTools, databaseAnswer)
    const users = 'SELECT * FROM users'
    await gate(call(query, { database: 'shop', query: users }))
    const before = calls.length
    await gate(call(query, { database: 'shop', query: users }))
    expect(calls).toHaveLength(before)
    await gate(call(query, { database: 'logs', query: users }))
    expect(calls.slice(before)).toEqual([
      'db__list_tables {"database":"logs"}',
      'db__inspect_table {"database":"logs","tables":["users"]}',
      'db__get_indexes {"database":"logs","tables":["users"]}',
    ])
  })

  it('inspects only what is new in the next query', async () => {
    const { gate, calls } = fixture(template('database'), databaseTools, databaseAnswer)
    await gate(call(query, { database: 'shop', query: 'SELECT * FROM users' }))
    calls.length = 0
    await gate(call(query, { database: 'shop', query: 'SELECT * FROM orders' }))
    expect(calls).toEqual([
      'db__inspect_table {"database":"shop","tables":["orders"]}',
      'db__get_indexes {"database":"shop","tables":["orders"]}',
    ])
  })

  it('leaves out the steps that a query without a table has no value for', async () => {
    const { gate, calls, notes } = fixture(template('database'), databaseTools, databaseAnswer)
    await gate(call(query, { database: 'shop', query: 'SELECT 1' }))
    expect(calls).toHaveLength(2)
    expect(notes).toContain('- Step 3: inspect_table left out: the call has no tables')
  })

  it('stops at a failed step with the specified text, and keeps the finished steps', async () => {
    const { gate, calls, session } = fixture(
      template('database'),
      databaseTools,
      (called, params) =>
        called.name === 'list_tables'
          ? { ok: false, error: 'Connection refused', suggestion: 'Check the connection settings' }
          : databaseAnswer(called, params),
    )
    const failed = gate(call(query, { database: 'shop', query: 'SELECT * FROM users' }))
    await expect(failed).rejects.toThrow(ToolError)
    await expect(failed).rejects.toMatchObject({
      message: "Workflow 'database-safe-query' failed at step 2 (list_tables): Connection refused",
      hint: 'Suggestion: Check the connection settings',
      exitCode: 1,
    })
    expect(calls).toHaveLength(2)
    expect(await isValid(session, 'database-safe-query', 'list_databases', { server: 'db' })).toBe(
      true,
    )
  })

  it('continues after a failed optional step', async () => {
    const { gate, notes } = fixture(template('database'), databaseTools, (called, params) =>
      called.name === 'get_indexes'
        ? { ok: false, error: 'no such view' }
        : databaseAnswer(called, params),
    )
    await gate(call(query, { database: 'shop', query: 'SELECT * FROM users' }))
    expect(notes.at(-1)).toBe('- Step 4: get_indexes left out: no such view')
  })

  it('counts a prerequisite that the user called', async () => {
    const workflows = template('database')
    const { gate, calls, session } = fixture(workflows, databaseTools, databaseAnswer)
    const list = call(find(databaseTools, 'list_tables'), { database: 'shop' })
    await afterCall(list, session, workflows, 'users')
    await gate(call(query, { database: 'shop', query: 'SELECT 1' }))
    expect(calls).toEqual(['db__list_databases {}'])
  })
})

describe('the browser template', () => {
  const click = (params: JsonObject, instance = 'a'): GatedCall =>
    call(find(browserTools, 'click'), params, { instance })

  it('takes one snapshot for each page and browser', async () => {
    const { gate, calls } = fixture(template('browser'), browserTools)
    await gate(click({ pageId: 1, uid: '1_2' }))
    await gate(click({ pageId: 1, uid: '1_3' }))
    await gate(click({ pageId: 2, uid: '1_3' }))
    await gate(click({ pageId: 2, uid: '1_3' }, 'restarted'))
    expect(calls).toEqual([
      'chrome__take_snapshot {"pageId":1}',
      'chrome__take_snapshot {"pageId":2}',
      'chrome__take_snapshot {"pageId":2}',
    ])
  })

  it('takes a new snapshot only for a page that was navigated', async () => {
    const workflows = template('browser')
    const { gate, calls, session } = fixture(workflows, browserTools)
    await gate(click({ pageId: 1, uid: 'x' }))
    await gate(click({ pageId: 2, uid: 'x' }))
    const reload = call(find(browserTools, 'navigate_page'), { pageId: 2, type: 'reload' })
    await afterCall(reload, session, workflows)
    calls.length = 0
    await gate(click({ pageId: 1, uid: 'x' }))
    await gate(click({ pageId: 2, uid: 'x' }))
    expect(calls).toEqual(['chrome__take_snapshot {"pageId":2}'])
  })

  it('allows calls that would make a snapshot stale, and calls without a page', async () => {
    const { gate, calls } = fixture(template('browser'), browserTools)
    await gate(call(find(browserTools, 'navigate_page'), { pageId: 1, url: 'x' }))
    await gate(call(find(browserTools, 'new_page'), { url: 'x' }))
    await gate(call(find(browserTools, 'list_pages')))
    await gate(call(find(browserTools, 'take_snapshot'), { pageId: 1 }))
    expect(calls).toEqual([])
  })

  it('works on a server without page ids', async () => {
    const plain = ['click', 'take_snapshot'].map((name) =>
      tool(`old__${name}`, { category: 'browser', required: [], parameters: ['uid'] }),
    )
    const { gate, calls } = fixture(template('browser'), plain)
    await gate(call(find(plain, 'click'), { uid: 'x' }))
    expect(calls).toEqual(['old__take_snapshot {}'])
  })

  it('works on the tools of Playwright', async () => {
    const workflows = template('browser')
    const { gate, calls, session } = fixture(workflows, playwrightTools)
    const press = call(find(playwrightTools, 'browser_click'), { target: 'e5' })
    await gate(press)
    await gate(press)
    await afterCall(
      call(find(playwrightTools, 'browser_navigate'), { url: 'x' }),
      session,
      workflows,
    )
    await gate(press)
    expect(calls).toEqual(['playwright__browser_snapshot {}', 'playwright__browser_snapshot {}'])
  })
})

describe('the other templates', () => {
  it('reads a pull request before it is merged', async () => {
    const { gate, calls } = fixture(template('github-pr'), githubTools)
    const params = { owner: 'o', repo: 'r', pull_number: 7 }
    await gate(call(find(githubTools, 'merge_pull_request'), params))
    const renderedParams = JSON.stringify(params)
    expect(calls).toEqual([
      `github__get_pull_request ${renderedParams}`,
      `github__get_pull_request_files ${renderedParams}`,
      `github__get_pull_request_status ${renderedParams}`,
    ])
  })

  it('reads a pull request with the one reader of the newer server', async () => {
    const { gate, calls } = fixture(template('github-pr'), newGithubTools)
    const merge = find(newGithubTools, 'merge_pull_request')
    await gate(call(merge, { owner: 'o', repo: 'r', pullNumber: 7 }))
    const rest = '"owner":"o","repo":"r","pullNumber":7'
    expect(calls).toEqual([
      `gh__pull_request_read {${rest},"method":"get"}`,
      `gh__pull_request_read {${rest},"method":"get_files"}`,
      `gh__pull_request_read {${rest},"method":"get_status"}`,
    ])
  })

  it('requires no call before a search', async () => {
    const { gate, calls, notes } = fixture(template('github-pr'), githubTools)
    await gate(call(find(githubTools, 'search_repositories'), { query: 'x' }))
    expect([...calls, ...notes]).toEqual([])
  })

  it('suggests the schema before a query without calling a tool', async () => {
    const { gate, calls, notes } = fixture(template('graphql'), graphqlTools)
    await gate(call(find(graphqlTools, 'query-graphql'), { query: '{a}' }))
    expect(calls).toEqual([])
    expect(notes).toEqual([
      "Workflow 'graphql-schema-aware' suggests to run first\n  1. get_schema: Fetch the schema",
    ])
  })
})

describe('modes', () => {
  const tools = toolsNamed('go', 'look')
  const go = call(tool('s__go'))
  const warning = "Workflow 'a' warns: these prerequisites are missing\n  1. look: x"

  it.each([
    ['runs what the person wants to run', async () => 'run' as const, false, ['s__look {}']],
    ['skips what the person skips', async () => 'skip' as const, false, []],
    ['runs where nobody can be asked', undefined, false, ['s__look {}']],
    ['skips where the user said so', undefined, true, []],
    ['asks nobody where the user said so', async () => 'run' as const, true, []],
  ])('warn %s', async (_, ask, skipPrerequisites, expected) => {
    const questions: string[] = []
    const { gate, calls, notes } = fixture(workflowsOf(workflow('a', { mode: 'warn' })), tools)
    await gate(go, {
      skipPrerequisites,
      ...(ask === undefined
        ? {}
        : {
            ask: (text: string) => {
              questions.push(text)
              return ask()
            },
          }),
    })
    expect(calls).toEqual(expected)
    expect([...questions, ...notes]).toContain(warning)
  })

  it('enforce cannot be skipped, and asks no question', async () => {
    const { gate, calls, notes } = fixture(workflowsOf(workflow('a')), tools)
    await gate(go, { skipPrerequisites: true, ask: async () => 'skip' })
    expect(calls).toEqual(['s__look {}'])
    expect(notes[0]).toBe("Workflow 'a' is enforced; its prerequisites cannot be skipped.")
  })

  it('runs every matching workflow, and a call that two of them require once', async () => {
    const all = workflowsOf({ ...workflow('A'), ...workflow('B') })
    const { gate, notes, calls } = fixture(all, tools)
    await gate(go)
    expect(calls).toEqual(['s__look {}'])
    expect(notes).toEqual([
      "Multiple workflows matched. Using 'A', 'B', in this order.",
      "Workflow 'A' triggered. Running 1 prerequisite...",
      '✓ Step 1: look completed',
      "Workflow 'B' triggered. Running 1 prerequisite...",
      '✓ Step 1: look completed',
    ])
  })

  it('reports an unused workflow of another category', async () => {
    const ofDatabases = workflow('B', { triggers: { category: 'database', tools: ['go'] } })
    const ofGraphql = workflow('A', { triggers: { category: 'graphql', tools: ['go'] } })
    const { gate, notes } = fixture(workflowsOf({ ...ofGraphql, ...ofDatabases }), tools)
    await gate(call(tool('s__go', { category: 'graphql' })))
    expect(notes[0]).toBe("Multiple workflows matched. Using 'A'. Also matched: 'B'")
    expect(notes.join()).not.toContain("Workflow 'B' triggered")
  })

  it('enforces a workflow that an earlier suggestion does not switch off', async () => {
    const all = workflowsOf({ ...workflow('A', { mode: 'suggest' }), ...workflow('B') })
    const { gate, notes, calls } = fixture(all, tools)
    await gate(go)
    expect(notes[0]).toBe("Multiple workflows matched. Using 'B', 'A', in this order.")
    expect(calls).toEqual(['s__look {}'])
    expect(notes.at(-1)).toContain("Workflow 'A' suggests to run first")
  })

  it('reports workflows without installed tools, and enforces none of them', async () => {
    const { gate, calls, notes } = fixture(workflowsOf(workflow('a')), toolsNamed('go'))
    await gate(go)
    expect(calls).toEqual([])
    expect(notes).toEqual(["Workflow 'a' is not enforced: no server here has look"])
  })
})

it('passes the results of earlier steps to later ones, by number and by name', async () => {
  const steps = [
    step(1, 'find', { output_as: 'found' }),
    step(2, 'look', {
      params: {
        id: '$found.items[0].id',
        same: '$steps.1.items[0].id',
        whole: { deep: ['$found.items'] },
        none: '$found.nothing?',
        text: '$found.nothing ?? open',
        money: '$5.00',
        escaped: '$$call.x',
      },
    }),
  ]
  const tools = toolsNamed('go', 'find', 'look')
  const { gate, calls } = fixture(
    workflowsOf(workflow('a', { prerequisites: steps })),
    tools,
    () => ({
      ok: true,
      text: 'x',
      value: { items: [{ id: 7 }] },
    }),
  )
  await gate(call(tool('s__go')))
  expect(calls[1]).toBe(
    's__look {"id":7,"same":7,"whole":{"deep":[[{"id":7}]]},"text":"open","money":"$5.00","escaped":"$call.x"}',
  )
  calls.length = 0
  await gate(call(tool('s__go')))
  expect(calls).toEqual([])
})

describe('the result of a finished step that a later one needs', () => {
  const steps = [
    step(1, 'find', { output_as: 'found' }),
    step(2, 'look', { params: { id: '$found.items[*]', of: '$call.of' } }),
  ]
  const tools = toolsNamed('go', 'find', 'look')
  const go = (of: number): GatedCall => call(tool('s__go'), { of })

  function answering(answer: (turn: number) => JsonObject): Fixture {
    let turn = 0
    const made = fixture(
      workflowsOf(workflow('a', { prerequisites: steps })),
      tools,
      ({ name }) => ({
        ok: true,
        text: name,
        value: name === 'find' ? answer(++turn) : {},
      }),
    )
    return made
  }

  it('is used again, and only the open steps are announced', async () => {
    const { gate, calls, notes } = answering(() => ({ items: [7] }))
    await gate(go(1))
    calls.length = 0
    notes.length = 0
    await gate(go(2))
    expect(calls).toEqual(['s__look {"id":7,"of":2}'])
    expect(notes[0]).toBe("Workflow 'a' triggered. Running 1 prerequisite...")
  })

  it('is requested again if it is too large to be stored', async () => {
    const { gate, calls } = answering(() => ({ items: [7], more: 'x'.repeat(3000) }))
    await gate(go(1))
    await gate(go(1))
    expect(calls).toEqual(['s__find {}', 's__look {"id":7,"of":1}', 's__find {}'])
  })

  it('is requested again if the stored result does not contain the value', async () => {
    const { gate, calls } = answering((turn) => ({ items: turn === 1 ? [7, 8] : [9] }))
    await expect(gate(go(1))).rejects.toThrow('has no single value')
    await gate(go(1))
    expect(calls).toEqual(['s__find {}', 's__find {}', 's__look {"id":9,"of":1}'])
  })
})

describe('a workflow that may make no calls', () => {
  const tools = toolsNamed('go', 'look')
  const refusing = (mode: string): Fixture => fixture(workflowsOf(workflow('a', { mode })), tools)
  const permit = (): void => {
    throw new Error('not accepted')
  }

  it.each(['enforce', 'warn'])(
    'is refused before it is announced or needs an approval: %s',
    async (mode) => {
      const { gate, calls, notes } = refusing(mode)
      const ask = (): Promise<'run'> => Promise.reject(new Error('asked'))
      await expect(gate(call(tool('s__go')), { permit, ask })).rejects.toThrow('not accepted')
      expect([...calls, ...notes]).toEqual([])
    },
  )

  it('is refused if it is enforced although the user would skip it', async () => {
    const { gate, calls } = refusing('enforce')
    const gated = gate(call(tool('s__go')), { permit, skipPrerequisites: true })
    await expect(gated).rejects.toThrow('not accepted')
    expect(calls).toEqual([])
  })

  it('stops no call if it only suggests, or is skipped', async () => {
    for (const [mode, skipPrerequisites] of [
      ['suggest', false],
      ['warn', true],
    ] as const) {
      const { gate, calls } = refusing(mode)
      await gate(call(tool('s__go')), { permit, skipPrerequisites })
      expect(calls).toEqual([])
    }
  })
})

it('calls no tool if the session file has a newer version', async () => {
  const { gate, calls, notes, session } = fixture(
    workflowsOf(workflow('a')),
    toolsNamed('go', 'look'),
  )
  mkdirSync(dirname(session.path), { recursive: true })
  writeFileSync(session.path, '{"version": 2}')
  await expect(gate(call(tool('s__go')))).rejects.toThrow('newer than this Skillrail')
  expect([...calls, ...notes]).toEqual([])
})

it('removes the completions that a prerequisite makes stale', async () => {
  const workflows = workflowsOf({
    ...workflow('a', { triggers: { tools: ['a'] } }),
    ...workflow('b', {
      triggers: { tools: ['b'] },
      prerequisites: [step(1, 'find', { invalidated_by: ['look'] })],
    }),
  })
  const { gate, calls } = fixture(workflows, toolsNamed('a', 'b', 'find', 'look'))
  for (const name of ['b', 'b', 'a', 'b']) await gate(call(tool(`s__${name}`)))
  expect(calls).toEqual(['s__find {}', 's__look {}', 's__find {}'])
})

it('runs a step once for simultaneous calls', async () => {
  const tools = toolsNamed('go', 'look')
  const { gate, calls } = fixture(workflowsOf(workflow('a')), tools)
  await Promise.all(Array.from({ length: 10 }, () => gate(call(tool('s__go')))))
  expect(calls).toEqual(['s__look {}'])
})

it('lets the next call run a step that failed or was cancelled', async () => {
  let count = 0
  const tools = toolsNamed('go', 'look')
  const { gate, calls } = fixture(workflowsOf(workflow('a')), tools, () => {
    count++
    return count === 1 ? { ok: false, error: 'no' } : { ok: true, text: '', value: null }
  })
  const cancelled = new AbortController()
  const all = [
    gate(call(tool('s__go'))),
    gate(call(tool('s__go')), { signal: cancelled.signal }),
    gate(call(tool('s__go'))),
  ]
  cancelled.abort(new Error('given up'))
  const ends = await Promise.allSettled(all)
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  expect(calls).toHaveLength(2)
})

it('calls no further tool after a cancellation', async () => {
  const controller = new AbortController()
  const prerequisites = ['look', 'find'].map((name, index) => ({
    step: index + 1,
    tool: name,
    description: 'x',
  }))
  const tools = toolsNamed('go', 'find', 'look')
  const { gate, calls } = fixture(workflowsOf(workflow('a', { prerequisites })), tools, () => {
    controller.abort(new Error('stopped'))
    return { ok: true, text: '', value: null }
  })
  const gated = gate(call(tool('s__go')), { signal: controller.signal })
  await expect(gated).rejects.toThrow('stopped')
  expect(calls).toHaveLength(1)
})

it('plans the same for the same values, never passes undefined, and never gates a prerequisite', () => {
  const json = fc.jsonValue({ maxDepth: 2 })
  const params = fc.dictionary(fc.constantFrom('database', 'query', 'table', 'pageId'), json)
  const state = { sessionId: 'x', startedAt: '2026-01-01T00:00:00Z', completed: [] }
  const tools = [...databaseTools, ...browserTools, ...githubTools, ...graphqlTools]
  const workflows = ['database', 'browser', 'github-pr', 'graphql'].flatMap(template)
  fc.assert(
    fc.property(fc.constantFrom(...tools), params, fc.string(), (called, values, request) => {
      const text: JsonObject = JSON.parse(JSON.stringify(values))
      const gated = call(called, text, { request })
      const plan = planGate(gated, workflows, state, tools)
      expect(planGate(gated, workflows, state, tools)).toEqual(plan)
      for (const step of plan.steps) {
        expect(step.id).not.toBe(called.id)
        expect(Object.values(step.params)).not.toContain(undefined)
        const { required = [] } = tools.find(({ id }) => id === step.id) ?? {}
        const lacking = required.filter((name) => !Object.hasOwn(step.params, name))
        expect(step.status === 'run' ? lacking : []).toEqual([])
      }
    }),
  )
})
