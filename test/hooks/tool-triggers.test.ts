import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Platform } from '../../src/hooks/adapters.ts'
import { makeFixture, type Fixture } from './_fixture.ts'

const head = '---\nname: ui\ndescription: For tests.\ntriggers:\n'

function makeProject(triggers: string): Fixture & ReturnType<typeof callsIn> {
  const made = makeFixture()
  made.write('.agents/skills/ui/SKILL.md', `${head}${triggers}---\n\n# ui\n`)
  made.write('.agents/skills/ui/references/a.md', 'COMPONENTS')
  made.write('.agents/skills/ui/references/b.md', 'RELEASE')
  return { ...made, ...callsIn(made) }
}

/** Tool events as Claude Code sends them. */
function callsIn({ ask, project }: Fixture) {
  let id = 0
  const call = async (event: string, tool: string, input: object, more: object = {}) => {
    const payload = { hook_event_name: event, tool_name: tool, tool_input: input, ...more }
    const { stdout } = await ask('claude', '', { payload: { tool_use_id: `t${id++}`, ...payload } })
    return stdout === '' ? undefined : JSON.parse(stdout).hookSpecificOutput
  }
  return {
    call,
    edit: (path: string, event = 'PreToolUse', more: object = {}) =>
      call(event, 'Edit', { file_path: join(project, path), old_string: String(id) }, more),
    run: (command: string, more: object = {}) => call('PreToolUse', 'Bash', { command }, more),
  }
}

const onTsx = '  - paths: ["src/**/*.tsx"]\n    inject: references/a.md\n'
const required = `${onTsx}    require: true\n`
const onPush = '  - command: ^git push\n    inject: references/b.md\n'

describe('a trigger on files', () => {
  it('adds the reference to the result of the first such call', async () => {
    const { edit } = makeProject(onTsx)
    expect(await edit('src/a/b.tsx')).toBeUndefined()
    const answer = await edit('src/a/b.tsx', 'PostToolUse')
    expect(answer.hookEventName).toBe('PostToolUse')
    expect(answer.additionalContext).toContain('COMPONENTS')
    expect(await edit('src/c.tsx', 'PostToolUse')).toBeUndefined()
    expect(await edit('src/c.ts', 'PostToolUse')).toBeUndefined()
  })

  it('denies the first call with the reference as the reason if the trigger requires that', async () => {
    const { call, project } = makeProject(required)
    const input = { file_path: join(project, 'src/a.tsx'), old_string: 'x' }
    const first = await call('PreToolUse', 'Edit', input)
    expect(first.permissionDecision).toBe('deny')
    expect(first.permissionDecisionReason).toContain('COMPONENTS')
    expect(await call('PreToolUse', 'Edit', input)).toBeUndefined()
    expect(await call('PostToolUse', 'Edit', input)).toBeUndefined()
  })

  it('denies parallel calls too, and no call after the window', async () => {
    const { ask, edit, project } = makeProject(required)
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => edit(`src/${name}.tsx`)))
    expect(answers.map((answer) => answer?.permissionDecision)).toEqual(['deny', 'deny', 'deny'])
    await new Promise((resolve) => setTimeout(resolve, 1600))
    expect(await edit('src/d.tsx')).toBeUndefined()
    const other = { session_id: 'other', hook_event_name: 'PreToolUse', tool_name: 'Edit' }
    const input = { file_path: join(project, 'src/a.tsx') }
    const { stdout } = await ask('claude', '', { payload: { ...other, tool_input: input } })
    expect(stdout).toContain('deny')
  })

  it('denies parallel calls that arrive late because the machine is slow, and many in a row', async () => {
    const { ask, project } = makeProject(required)
    const decisionOf = async (name: string, later: number, slowness: number) => {
      const tool_input = { file_path: join(project, `src/${name}.tsx`) }
      const payload = { hook_event_name: 'PreToolUse', tool_name: 'Edit', tool_input }
      const { stdout } = await ask('claude', '', { payload, later, slowness })
      return stdout === '' ? 'allow' : JSON.parse(stdout).hookSpecificOutput.permissionDecision
    }
    expect(await decisionOf('a', 0, 1)).toBe('deny')
    expect(await decisionOf('b', 4000, 4)).toBe('deny')
    expect(await decisionOf('c', 5000, 1)).toBe('deny')
    expect(await decisionOf('d', 9000, 1)).toBe('allow')
    expect(await decisionOf('e', 20_000, 100)).toBe('allow')
  })

  it('sees the command of a line that also has a patch', async () => {
    const { run } = makeProject(`${onPush}    require: true\n`)
    const answer = await run('git push # *** Begin Patch')
    expect(answer?.permissionDecision).toBe('deny')
  })

  it('reads the files of a patch, also of a patch on the command line', async () => {
    for (const tool of ['apply_patch', 'Bash']) {
      const { call } = makeProject(required)
      const patch =
        '*** Begin Patch\n*** Update File: README.md\n*** Add File: src/x.tsx\n+a\n*** End Patch'
      const answer = await call('PreToolUse', tool, { command: patch })
      expect(answer?.permissionDecision).toBe('deny')
    }
  })

  it('counts references from a prompt, references that the model read, and references of a subagent', async () => {
    const both = `${required}  - match: ^/ui\n    inject: references/a.md\n`
    const prompted = makeProject(both)
    await prompted.ask('claude', '/ui')
    expect(await prompted.edit('src/a.tsx')).toBeUndefined()
    const read = makeProject(required)
    const file_path = join(read.home, '.agents/skills/ui/references/a.md')
    await read.call('PostToolUse', 'Read', { file_path })
    expect(await read.edit('src/a.tsx')).toBeUndefined()
    const agent = { agent_id: 'sub' }
    expect((await read.edit('src/a.tsx', 'PreToolUse', agent))?.permissionDecision).toBe('deny')
    const { stdout } = await prompted.ask('claude', '', {
      payload: { hook_event_name: 'SubagentStart', ...agent },
    })
    expect(stdout).toContain('COMPONENTS')
    expect(await prompted.edit('src/a.tsx', 'PreToolUse', agent)).toBeUndefined()
  })

  it('injects the reference again after a compaction, but not after a resumed session', async () => {
    const { ask, edit } = makeProject(`${required}  - match: ^/ui\n    inject: references/a.md\n`)
    await ask('claude', '/ui')
    const start = (source: string) =>
      ask('claude', '', { payload: { hook_event_name: 'SessionStart', source } })
    expect((await start('resume')).stdout).toBe('')
    expect((await start('compact')).stdout).toContain('COMPONENTS')
    expect(await edit('src/a.tsx')).toBeUndefined()
    await start('clear')
    expect((await edit('src/a.tsx'))?.permissionDecision).toBe('deny')
  })

  it('lets every call through if it cannot be recorded, or the skill is not trusted', async () => {
    const { edit, ask, project, write } = makeProject(required)
    write('.local/state/skillrail/hooks', 'a file where the directory should be')
    expect(await edit('src/a.tsx')).toBeUndefined()
    const payload = { session_id: undefined, hook_event_name: 'PreToolUse', tool_name: 'Edit' }
    const input = { file_path: join(project, 'src/a.tsx') }
    expect((await ask('claude', '', { payload: { ...payload, tool_input: input } })).stdout).toBe(
      '',
    )
    const foreign = makeFixture()
    foreign.write('project/.claude/skills/ui/SKILL.md', `${head}${required}---\n`)
    foreign.write('project/.claude/skills/ui/references/a.md', 'COMPONENTS')
    expect(await callsIn(foreign).edit('src/a.tsx')).toBeUndefined()
  })
})

it.each([
  ['git push origin main', true],
  ['cd app && git push', true],
  ['make; git push', true],
  ['git log | head\n git push', true],
  ['echo git push', false],
  ['git pull', false],
])('a trigger on commands fires on %j: %s', async (command, isDenied) => {
  const { run } = makeProject(onPush)
  const answer = await run(command)
  const reason = String(answer?.permissionDecisionReason)
  expect([answer?.permissionDecision, reason.includes('RELEASE')]).toEqual([
    isDenied ? 'deny' : undefined,
    isDenied,
  ])
})

/** One denied edit as each client names it, and the field with the reason. */
const dialects: [Platform, Record<string, unknown>, RegExp][] = [
  [
    'codex',
    {
      hook_event_name: 'PreToolUse',
      tool_name: 'apply_patch',
      tool_input: { command: '*** Begin Patch\n*** Update File: src/a.tsx\n' },
    },
    /"permissionDecision":"deny"/,
  ],
  [
    'copilot',
    { toolName: 'edit', toolArgs: { path: 'src/a.tsx' }, sessionId: 's' },
    /^\{"permissionDecision":"deny"/,
  ],
  [
    'cursor',
    {
      hook_event_name: 'preToolUse',
      tool_name: 'Write',
      tool_input: { path: 'src/a.tsx' },
      conversation_id: 's',
    },
    /"permission":"deny"/,
  ],
  [
    'gemini',
    { hook_event_name: 'BeforeTool', tool_name: 'replace', tool_input: { file_path: 'src/a.tsx' } },
    /^\{"decision":"deny"/,
  ],
  [
    'opencode',
    { hook_event_name: 'PreToolUse', tool_name: 'edit', tool_input: { filePath: 'src/a.tsx' } },
    /"permissionDecision":"deny"/,
  ],
  [
    'pi',
    { hook_event_name: 'PreToolUse', tool_name: 'edit', tool_input: { path: 'src/a.tsx' } },
    /"permissionDecision":"deny"/,
  ],
  [
    'qwen',
    {
      hook_event_name: 'PreToolUse',
      tool_name: 'write_file',
      tool_input: { file_path: 'src/a.tsx' },
    },
    /"permissionDecision":"deny"/,
  ],
]
it.each(dialects)('denies in the format of %s', async (platform, payload, form) => {
  const { ask } = makeProject(required)
  const event = platform === 'copilot' ? 'preToolUse' : undefined
  const { stdout } = await ask(platform, '', { payload, event })
  expect(stdout).toMatch(form)
  expect(stdout).toContain('COMPONENTS')
})

const onDrop = '  - tool: mcp__my-db__drop_*\n    inject: references/b.md\n'

/** A call of the tool `drop_table` of the server `my-db` as each client names it, and one of another tool. */
const mcpDialects: [Platform, string, Record<string, unknown>, string][] = [
  ['claude', 'PreToolUse', { tool_name: 'mcp__my-db__drop_table' }, 'mcp__my-db__list'],
  ['codex', 'PreToolUse', { tool_name: 'mcp__my_db__drop_table' }, 'mcp__my_db__list'],
  ['copilot', 'preToolUse', { toolName: 'my-db-drop_table' }, 'my-db-list'],
  ['gemini', 'BeforeTool', { tool_name: 'mcp_my-db_drop_table' }, 'mcp_my-db_list'],
  ['opencode', 'PreToolUse', { tool_name: 'my-db_drop_table' }, 'my-db_list'],
  ['pi', 'PreToolUse', { tool_name: 'mcp__my-db__drop_table' }, 'mcp__my-db__list'],
  ['qwen', 'PreToolUse', { tool_name: 'mcp__my-db__drop_table' }, 'mcp__my-db__list'],
]

describe.each(mcpDialects)('a trigger on an MCP tool in %s', (platform, event, named, other) => {
  const input = { tool_input: { table: 'users' }, toolArgs: { table: 'users' } }
  const [key = ''] = Object.keys(named)

  it('denies the first call of such a tool, and no call of another one', async () => {
    const { ask } = makeProject(onDrop)
    const call = async (payload: object) =>
      (await ask(platform, '', { event, payload: { ...input, ...payload } })).stdout
    expect(await call({ ...named, [key]: other })).toBe('')
    expect(await call(named)).toMatch(/"(?:permissionDecision|decision)":"deny"/)
    expect(await call(named)).toBe('')
  })

  it('adds the reference to the result with `require: false`', async () => {
    const { ask } = makeProject(`${onDrop}    require: false\n`)
    const after = { PreToolUse: 'PostToolUse', preToolUse: 'postToolUse', BeforeTool: 'AfterTool' }
    const call = async (name: string) =>
      (await ask(platform, '', { event: name, payload: { ...input, ...named } })).stdout
    const before = await call(event)
    const result = await call(Object.entries(after).find(([one]) => one === event)?.[1] ?? '')
    // Codex may report no result, so the reference comes before the call.
    const given = platform === 'codex' ? before : result
    expect(given).toContain('RELEASE')
    expect(platform === 'codex' ? result : before).toBe('')
  })
})

it('a trigger on an MCP tool leaves the tools of the client itself alone', async () => {
  const { call, run } = makeProject('  - tool: mcp__*\n    inject: references/b.md\n')
  expect(await run('git push')).toBeUndefined()
  expect(await call('PreToolUse', 'WebFetch', { url: 'https://x.example' })).toBeUndefined()
  expect((await call('PreToolUse', 'mcp__a__b', {}))?.permissionDecision).toBe('deny')
})

it('injects again after 50 calls in Gemini CLI, which reports no compaction', async () => {
  const { ask } = makeProject(required)
  let denied = 0
  for (let at = 0; at < 60; at++) {
    const payload = {
      hook_event_name: 'BeforeTool',
      timestamp: `t${at}`,
      tool_name: 'replace',
      tool_input: { file_path: 'src/a.tsx', old_string: String(Math.floor(at / 2)) },
    }
    if ((await ask('gemini', '', { payload })).stdout !== '') denied++
    if (at === 0) await new Promise((resolve) => setTimeout(resolve, 1600))
  }
  expect(denied).toBeGreaterThan(1)
})
