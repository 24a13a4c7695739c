import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { projectStateDirectory } from '../../src/core/runtime.ts'
import { definitionFile, prerequisite } from '../workflow/definition-file.ts'
import { settings } from '../workflow/helpers.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'

let home = ''
let cwd = ''

/** A project with one workflow, for commands that change nothing. */
let shared = ''

beforeAll(async () => {
  shared = mkdtempSync(join(tmpdir(), 'project-'))
  mkdirSync(join(shared, '.git'))
  await runInProcess(['tools', 'workflow', 'add', 'there', definitionFile()], {
    cwd: shared,
    home: shared,
  })
})

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'home-'))
  cwd = mkdtempSync(join(tmpdir(), 'project-'))
  mkdirSync(join(cwd, '.git'))
})

function cli(...args: string[]): Promise<CliResult> {
  return runInProcess(args, { cwd, home })
}

/** Edits a workflow in an editor that runs a line of shell on the file that it is given. */
function edit(name: string, line: string, ...options: string[]): Promise<CliResult> {
  const path = join(home, 'editor.sh')
  writeFileSync(path, `#!/bin/sh\n${line}\n`)
  chmodSync(path, 0o755)
  return runInProcess(['tools', 'workflow', 'edit', name, ...options], {
    cwd,
    home,
    env: { EDITOR: path },
  })
}

/** A definition file by which a tool comes before another. */
function before(tool: string, first: string): string {
  return definitionFile({ triggers: { tools: [tool] }, prerequisites: [prerequisite(first)] })
}

function file(): Record<string, { enabled?: boolean; mode?: string; description?: string }> {
  return JSON.parse(readFileSync(join(cwd, '.skillrail', 'workflows.json'), 'utf8'))
}

it('says how to create a workflow if there is none', async () => {
  const { code, stdout } = await cli('tools', 'workflow', 'list')
  expect(code).toBe(0)
  expect(stdout).toBe('No workflows defined. Use `skillrail tools workflow add` to create one.\n')
})

it('lists the templates', async () => {
  const { code, stdout } = await cli('tools', 'workflow', 'add', '--template')
  expect(code).toBe(0)
  for (const name of ['database', 'browser', 'github-pr', 'graphql']) expect(stdout).toContain(name)
})

it('adds every template, and lists each workflow with its state, triggers and steps', async () => {
  for (const name of ['database', 'browser', 'github-pr', 'graphql']) {
    expect((await cli('tools', 'workflow', 'add', '--template', name)).code).toBe(0)
  }
  await cli('tools', 'workflow', 'disable', 'browser-safe-interaction')
  const { stdout } = await cli('tools', 'workflow', 'list')
  expect(stdout).toContain('✓ database-safe-query [enforce]\n')
  expect(stdout).toContain('\n  Triggers: category=database, tools=[execute_query, select_query], ')
  expect(stdout).toContain('\n  Prerequisites: 4 steps\n')
  expect(stdout).toContain('○ browser-safe-interaction [disabled]\n')
  expect(stdout).toContain('\n  Prerequisites: 1 step\n')
  expect((await cli('tools', 'workflow', 'check')).code).toBe(0)
})

it.each([
  [
    ['add', 'there', definitionFile()],
    1,
    "Workflow 'there' already exists. Use `skillrail tools workflow edit` to modify.",
  ],
  [['edit', 'absent'], 3, "Workflow 'absent' not found."],
  [['remove', 'absent', '--yes'], 3, "Workflow 'absent' not found."],
  [['enable', 'absent'], 3, "Workflow 'absent' not found."],
  [['disable', 'absent'], 3, "Workflow 'absent' not found."],
  [['remove', 'there'], 4, "Workflow 'there' was not removed: it was not confirmed"],
  [
    ['add', '--template', 'databse'],
    2,
    'there is no template databse\nThere are database, browser',
  ],
  [['add'], 2, 'the workflow needs a name'],
  [['add', 'new'], 2, 'there is no terminal to open an editor at'],
  [['add', 'new', 'absent.json'], 2, 'absent.json'],
  [
    ['add', 'new', definitionFile(), '--template', 'database'],
    2,
    'a template and a file are both a definition',
  ],
  [['add', 'new', definitionFile({ mode: 'force' })], 2, 'mode must be enforce, warn or suggest'],
  [['add', 'new', definitionFile({ triggers: {} })], 2, 'nothing triggers it'],
  [
    ['add', 'new', definitionFile({ description: '' })],
    2,
    'description must be text that is not empty',
  ],
  [['add', 'new', definitionFile({ prerequisites: [] })], 2, 'it has no prerequisites'],
  [
    ['add', 'new', definitionFile({ triggers: { tools: ['go'], keywords: [' '] } })],
    2,
    'keywords must be a list of texts',
  ],
  [['add', 'a b', definitionFile()], 2, 'a name has 1 to 64 letters'],
  [['plan', 'go'], 3, 'Tool not found: go'],
  [['plan', 'go', '[]'], 2, 'the parameters must be a JSON object'],
])('answers %j with exit code %i', async (args, code, text) => {
  const result = await runInProcess(['tools', 'workflow', ...args], { cwd: shared, home: shared })
  expect(result.code).toBe(code)
  expect(result.stderr).toContain(text)
  expect(result.stdout).toBe('')
})

describe('from a file', () => {
  it('adds, edits, disables, enables and removes', async () => {
    const prerequisites = [prerequisite('look'), prerequisite('size', 2)]
    const written = definitionFile({ prerequisites, mode: 'warn' })
    const added = await cli('tools', 'workflow', 'add', 'mine', written)
    expect(added).toMatchObject({ code: 0, stdout: "Workflow 'mine' added.\n" })
    expect(file()['mine']).toMatchObject({
      description: 'Look',
      triggers: { tools: ['go'] },
      mode: 'warn',
      prerequisites: [
        { step: 1, tool: 'look', required: true },
        { step: 2, tool: 'size', required: true },
      ],
    })
    const edited = await edit('mine', 'sed -i s/warn/suggest/ "$1"')
    expect(edited.stderr).toContain('✓ mine [warn]')
    expect(edited.stdout).toBe("Workflow 'mine' changed.\n")
    expect(file()['mine']).toMatchObject({
      mode: 'suggest',
      triggers: { tools: ['go'] },
    })
    await cli('tools', 'workflow', 'disable', 'mine')
    expect(file()['mine']?.enabled).toBe(false)
    await cli('tools', 'workflow', 'enable', 'mine')
    expect(file()['mine']?.enabled).toBe(true)
    const removed = await cli('tools', 'workflow', 'remove', 'mine', '--yes')
    expect(removed.stdout).toBe("Workflow 'mine' removed.\n")
    expect(file()).toEqual({})
  })

  it('reports that nothing changes, and writes nothing', async () => {
    await cli('tools', 'workflow', 'add', 'mine', definitionFile())
    for (const result of [
      await cli('tools', 'workflow', 'enable', 'mine'),
      await edit('mine', 'true'),
    ]) {
      const { code, stdout, stderr } = result
      expect(code).toBe(0)
      expect(stdout).toBe("Workflow 'mine' is like that already; nothing to write.\n")
      expect(stderr).not.toContain('skillrail trust')
    }
  })

  it('prints the change with --dry-run', async () => {
    const { stdout } = await cli('tools', 'workflow', 'add', 'mine', definitionFile(), '--dry-run')
    expect(stdout).toContain('+  "mine": {')
    expect(existsSync(join(cwd, '.skillrail'))).toBe(false)
  })

  it('refuses a workflow that would make a cycle', async () => {
    await cli('tools', 'workflow', 'add', 'A', before('a', 'b'))
    const result = await cli('tools', 'workflow', 'add', 'B', before('b', 'a'))
    expect(result.code).toBe(2)
    expect(result.stderr).toContain('cycle: A → B → A')
    expect(Object.keys(file())).toEqual(['A'])
  })

  it('enables no workflow that would make a cycle', async () => {
    await cli('tools', 'workflow', 'add', 'A', before('a', 'b'))
    await cli('tools', 'workflow', 'disable', 'A')
    await cli('tools', 'workflow', 'add', 'B', before('b', 'a'))
    const result = await cli('tools', 'workflow', 'enable', 'A')
    expect(result.code).toBe(2)
    expect(result.stderr).toContain('cycle')
    expect(file()['A']?.enabled).toBe(false)
  })
})

describe('in an editor', () => {
  it('saves the edited text', async () => {
    await cli('tools', 'workflow', 'add', '--template', 'graphql')
    const result = await edit('graphql-schema-aware', 'sed -i s/suggest/enforce/ "$1"')
    expect(result.code).toBe(0)
    expect(file()['graphql-schema-aware']?.mode).toBe('enforce')
  })

  it('names the file of a refused text, with its errors', async () => {
    await cli('tools', 'workflow', 'add', 'mine', definitionFile())
    const result = await edit('mine', 'sed -i s/enforce/force/ "$1"')
    expect(result.code).toBe(2)
    expect(result.stderr).toMatch(/workflow\.json:\d+: .*mode must be enforce, warn or suggest/)
    const path = /Your text is in (\S+)\./.exec(result.stderr)?.[1] ?? ''
    expect(readFileSync(path, 'utf8')).toContain('"force"')
    expect(file()['mine']?.description).toBe('Look')
  })
})

it('leaves a malformed file unchanged, and names the place', async () => {
  mkdirSync(join(cwd, '.skillrail'))
  const path = join(cwd, '.skillrail', 'workflows.json')
  writeFileSync(path, '{\n  "a": {},\n  "b": \n}\n')
  const listed = await cli('tools', 'workflow', 'list')
  expect(listed.stderr).toContain('workflows.json:4')
  const added = await cli('tools', 'workflow', 'add', '--template', 'database')
  expect(added.code).toBe(1)
  expect(added.stderr).toContain('line 4')
  expect(readFileSync(path, 'utf8')).toBe('{\n  "a": {},\n  "b": \n}\n')
})

describe('the plan of a call', () => {
  beforeEach(async () => {
    const tools = ['list_databases', 'list_tables', 'inspect_table', 'get_indexes', 'execute_query']
    mkdirSync(join(cwd, '.skillrail'), { recursive: true })
    writeFileSync(
      join(cwd, '.skillrail', 'tools.json'),
      JSON.stringify({
        version: '4.0.0',
        refreshed_at: new Date().toISOString(),
        mcp_servers: ['db'],
        tool_count: tools.length,
        categories: {
          database: {
            description: 'Databases',
            keywords: ['database', 'query', 'sql', 'table', 'index'],
            tools: tools.map((name) => ({ id: `db__${name}`, description: name, prefix: 'db' })),
          },
        },
        uncategorized: [],
      }),
    )
    await cli('tools', 'workflow', 'add', '--template', 'database')
  })

  it('shows the parameters, and calls nothing', async () => {
    const params = '{"database": "shop", "query": "SELECT * FROM users"}'
    const { code, stdout } = await cli('tools', 'workflow', 'plan', 'execute_query', params)
    expect(code).toBe(0)
    expect(stdout).toContain("Workflow 'database-safe-query' [enforce] (tool execute_query)")
    expect(stdout).toContain(
      '3. inspect_table   run  db__inspect_table {"database":"shop","tables":["users"]}',
    )
  })

  it('prints one JSON document with --json', async () => {
    const { stdout } = await cli('tools', 'workflow', 'plan', 'execute_query', '{}', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      tool: 'db__execute_query',
      workflow: 'database-safe-query',
      mode: 'enforce',
      why: { by: 'tool', value: 'execute_query' },
      steps: [{ status: 'run' }, { status: 'waits', waitsFor: [1] }, {}, {}],
    })
  })

  /** Returns the warnings that stay with `--trust-workspace`. */
  async function warned(why: string): Promise<string> {
    const plan = ['tools', 'workflow', 'plan', 'execute_query']
    for (const args of [plan, ['tools', 'workflow', 'list'], ['tools', 'workflow', 'check']]) {
      const { code, stderr } = await cli(...args)
      expect(code).toBe(0)
      const refused = "calls that 'database-safe-query' must come before are refused: "
      expect(stderr).toContain(`${refused}${why}`)
    }
    const hint: unknown = expect.stringContaining('skillrail trust')
    expect(JSON.parse((await cli(...plan, '--json')).stdout)).toMatchObject({
      diagnostics: [{ code: 'workflow-not-trusted', hint }],
    })
    return (await cli(...plan, '--trust-workspace')).stderr
  }

  it('has a warning in an untrusted project', async () => {
    expect(await warned('the workspace was never trusted')).toBe('')
  })

  it('has a warning if the file changed since it was trusted', async () => {
    await cli('trust', '--yes')
    expect((await cli('tools', 'workflow', 'plan', 'execute_query')).stderr).toBe('')
    const edited = await edit('database-safe-query', 'sed -i s/enforce/warn/ "$1"')
    expect(edited.stderr).toContain('Accept this change with: skillrail trust')
    const accepted = "calls that 'database-safe-query' came before are refused: it was accepted"
    const left = await warned('the file has changed since the workspace was trusted')
    expect(left).toContain(`${accepted} and was changed`)
  })

  it('has a warning if a workflow was accepted and then removed, until that is accepted', async () => {
    await cli('trust', '--yes')
    writeFileSync(join(cwd, '.skillrail', 'workflows.json'), '{}')
    const refused = "calls that 'database-safe-query' came before are refused: it was accepted"
    for (const args of [['list'], ['check'], ['plan', 'execute_query']]) {
      expect((await cli('tools', 'workflow', ...args)).stderr).toContain(
        `${refused} and was removed`,
      )
    }
    await cli('trust', '--yes')
    expect((await cli('tools', 'workflow', 'list')).stderr).not.toContain('refused')
  })

  it('has no warning about a workflow that only suggests', async () => {
    await edit('database-safe-query', 'sed -i s/enforce/suggest/ "$1"')
    expect((await cli('tools', 'workflow', 'plan', 'execute_query')).stderr).toBe('')
  })

  it('accepts a tool in another spelling, and reports that', async () => {
    const { code, stdout, stderr } = await cli('tools', 'workflow', 'plan', 'db/Execute-Query')
    expect(stdout).toContain("Workflow 'database-safe-query' [enforce]")
    expect(stderr).toContain('db__execute_query was taken')
    expect(code).toBe(0)
  })

  it('is empty for a tool that no workflow names', async () => {
    const { stdout } = await cli('tools', 'workflow', 'plan', 'list_tables')
    expect(stdout).toBe('Nothing comes before db__list_tables.\n')
  })
})

describe('a misspelled name', () => {
  const tool = (name: string, schema: object): object => ({
    name,
    inputSchema: { type: 'object', ...schema },
  })
  const known = { properties: { database: { type: 'string' }, limit: { type: 'number' } } }

  beforeEach(async () => {
    const tools = [
      tool('go', known),
      tool('look', known),
      tool('strict', { ...known, additionalProperties: false }),
    ]
    const server = new URL('../fixtures/programs/tool-lister.mjs', import.meta.url).pathname
    const env = { TOOLS: JSON.stringify(tools) }
    const entry = {
      command: process.execPath,
      args: ['--disable-warning=ExperimentalWarning', server],
      env,
    }
    writeFileSync(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { db: entry } }))
    await cli('--trust-workspace', 'tools', 'refresh')
  })

  it('is reported when a workflow is written', async () => {
    const written = definitionFile({
      prerequisites: [prerequisite('lok'), prerequisite('look', 2)],
    })
    const added = await cli('tools', 'workflow', 'add', 'w', written)
    expect(added.stdout).toBe("Workflow 'w' added.\n")
    expect(added.stderr).toContain('no server here has lok')
    expect(added.stderr).toContain('Did you mean look?')
    const path = join(cwd, '.skillrail', 'workflows.json')
    const params = JSON.stringify({ databse: 'shop' })
    const text = readFileSync(path, 'utf8').replace('"tool": "look",', `$&"params": ${params},`)
    writeFileSync(path, text)
    const edited = await edit('w', 'sed -i s/enforce/warn/ "$1"', '--json')
    expect(JSON.parse(edited.stdout).diagnostics).toMatchObject([
      { code: 'workflow-parameter-unknown' },
      { code: 'workflow-tool-unknown' },
    ])
  })

  it('is reported in the parameters of a call when the call is planned', async () => {
    const loose = await cli('tools', 'workflow', 'plan', 'go', '{"databse": "shop"}')
    expect(loose.code).toBe(0)
    expect(loose.stderr).toContain(
      '`databse` is not a parameter of db__go; did you mean `database`?',
    )
    const strict = await cli('tools', 'workflow', 'plan', 'strict', '{"databse": "shop"}')
    expect(strict).toMatchObject({ code: 2, stdout: '' })
    expect(strict.stderr).toContain('`databse` is not a parameter of db__strict')
  })
})

describe('sessions', () => {
  /** A file in the user's state. */
  function sessionFile(name: string, text: string): string {
    const place = { runtime: { home, cwd, env: {} }, settings }
    const directory = join(projectStateDirectory(cwd, place), 'sessions')
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }

  it('are shown, listed and cleared', async () => {
    const startedAt = new Date().toISOString()
    sessionFile(
      'default.json',
      JSON.stringify({
        session_id: 'x',
        started_at: startedAt,
        completed: { w: { look: { at: startedAt, result: 'Found 3\u001b[2J' } } },
      }),
    )
    const shown = await cli('tools', 'session', 'show')
    expect(shown.stdout).toContain('Found 3\\x1b[2J')
    const listed = await cli('tools', 'session', 'list', '--json')
    expect(JSON.parse(listed.stdout)).toMatchObject({
      sessions: [{ id: 'default', completed: 1, calls: 0, current: true }],
    })
    expect(shown.stdout).toContain(`Session default, started ${startedAt}\n`)
    expect((await cli('tools', 'session', 'clear', '--dry-run')).stdout).toBe(
      'Session default would forget 1 finished prerequisite of w.\n',
    )
    expect((await cli('tools', 'session', 'clear')).stdout).toBe(
      'Session default cleared: 1 finished prerequisite of w will run again.\n',
    )
    expect((await cli('tools', 'session', 'clear')).stdout).toBe(
      'Nothing to clear in session default: no prerequisite has finished.\n',
    )
    expect((await cli('tools', 'session', 'show')).stdout).toContain(
      'Session default, not started yet\n',
    )
    expect((await cli('tools', 'session', 'show', '--json')).stdout).toContain('"completed": []')
  })

  it('are not created by show and clear', async () => {
    sessionFile(
      'nightly.json',
      '{"session_id": "nightly", "started_at": "2020-01-01T00:00:00Z", "completed": {}}',
    )
    for (const name of ['show', 'clear']) {
      const { code, stdout, stderr } = await cli('tools', 'session', name, '--session', 'nightli')
      expect(code).toBe(3)
      expect(stdout).toBe('')
      expect(stderr).toContain(
        "Session 'nightli' not found.\nDid you mean nightly? Sessions here: nightly.",
      )
    }
    const own = { cwd, home, env: { SKILLRAIL_SESSION: 'fresh' } }
    expect((await runInProcess(['tools', 'session', 'show'], own)).stdout).toContain(
      'Session fresh, not started yet',
    )
    const over = await cli('tools', 'session', 'show', '--session', 'nightly')
    expect(over.stdout).toContain('started 2020-01-01T00:00:00Z; it is over')
  })

  it('reports after clear what happened to the log of calls', async () => {
    const call = { at: '2026-02-04T10:00:00.000Z', session: 'default', tool: 's__t' }
    const line = `${JSON.stringify({ ...call, outcome: 'success', durationMs: 1, size: 1 })}\n`
    const log = sessionFile('default.calls.jsonl', line)
    writeFileSync(`${log}.old`, line)
    expect((await cli('tools', 'session', 'show')).stdout).toContain(
      `default, started ${call.at}\n`,
    )
    expect((await cli('tools', 'session', 'list')).stdout).toContain(`default  ${call.at}`)
    expect((await cli('tools', 'session', 'clear')).stderr).toContain(
      'log of 1 call stays; --log deletes',
    )
    expect((await cli('tools', 'session', 'clear', '--log')).stdout).toContain(
      'log of 1 call is deleted.',
    )
    expect([existsSync(log), existsSync(`${log}.old`)]).toEqual([false, false])
  })

  it('are listed and shown with an error if their file cannot be used', async () => {
    sessionFile('default.json', '{"version": 1, "session_')
    for (const name of ['show', 'list']) {
      const { code, stdout, stderr } = await cli('tools', 'session', name)
      expect(code).toBe(1)
      expect(stdout).toContain('default')
      expect(stderr).toContain('is damaged: it is not JSON')
    }
  })

  it('are ignored in a project', async () => {
    expect((await cli('tools', 'workflow', 'add', 'guard', definitionFile())).code).toBe(0)
    const at = new Date().toISOString()
    const completed = { guard: { look: { at, result: 'Found 3' } } }
    const text = JSON.stringify({ session_id: 'x', started_at: at, completed })
    mkdirSync(join(cwd, '.opencode'))
    mkdirSync(join(cwd, '.skillrail', 'sessions'))
    const shared = join(cwd, '.opencode', '.agent-skill-session.json')
    writeFileSync(shared, text)
    writeFileSync(join(cwd, '.skillrail', 'session.json'), text)
    writeFileSync(join(cwd, '.skillrail', 'sessions', 'default.json'), text)
    const shown = await cli('tools', 'session', 'show')
    expect(shown.stdout).toContain(`${shared}\nNo prerequisite has run.\n`)
    expect(shown.stderr).toContain('1 prerequisite of this file will run again')
    expect(shown.code).toBe(0)
    const { stdout } = await cli('tools', 'session', 'list', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ sessions: [{ id: 'default', completed: 0 }] })
    // The same completion, made by this user's Skillrail, counts.
    sessionFile('default.json', text)
    expect((await cli('tools', 'session', 'show')).stdout).toContain('Found 3')
  })

  it('have IDs that can be file names', async () => {
    const { code, stderr } = await cli('tools', 'session', 'show', '--session', '../x')
    expect(code).toBe(2)
    expect(stderr).toContain('is not a session ID')
  })
})
