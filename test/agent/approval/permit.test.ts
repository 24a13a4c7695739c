import type { JsonObject } from '../../../src/core/json.ts'
import { describe, expect, it } from 'vitest'
import type { AgentTool, ApprovalRequest, Approver } from '../../../src/agent/types.ts'
import { createPermit, type PermitOptions } from '../../../src/agent/approval/permit.ts'
import { createBuiltInTools } from '../../../src/agent/built-in-tools/built-in-tools.ts'
import { parseAllowedTools } from '../../../src/skill/allowed-tools.ts'
import { emptyFixture, withAgent } from '../_agent-fixture.ts'
import { calls, echoTool, says } from '../mock-replies.ts'
import { until } from '../../patience.ts'

function permit(options: Partial<PermitOptions> = {}): {
  ask: (name: string, input: JsonObject) => Promise<boolean | string>
  tools: AgentTool[]
} {
  const place = emptyFixture()
  const tools = createBuiltInTools(['all'], { project: place.project, runtime: place.runtime })
  const decide = createPermit({ agent: 'main', platform: 'linux', ...options })
  return {
    tools,
    async ask(name, input) {
      const tool = tools.find((candidate) => candidate.name === name) ?? echoTool(name)
      const signal = new AbortController().signal
      const answer = await decide(tool, input, {
        toolCallId: '1',
        signal,
        onEvent: () => undefined,
      })
      return answer.allowed ? true : answer.reason
    },
  }
}

const rules =
  (text: string): PermitOptions['rules'] =>
  () => ({
    preApproved: parseAllowedTools(text),
    narrowed: [],
    beforeTool: () => Promise.resolve({ decision: undefined, reason: '', input: undefined }),
  })

describe('a call', () => {
  it('is approved by the list of an active skill, including its pattern', async () => {
    const { ask } = permit({ rules: rules('Bash(git:*) Edit(src/**) Write') })
    expect(await ask('shell', { command: 'git status' })).toBe(true)
    expect(await ask('shell', { command: 'git status; rm x' })).toMatch(
      /this session cannot ask for one/,
    )
    expect(await ask('edit', { file_path: 'src/../src/a.ts' })).toBe(true)
    expect(await ask('edit', { file_path: 'src/../a' })).toMatch(/cannot ask/)
    expect(await ask('write', { file_path: 'anything.txt' })).toBe(true)
    expect(await ask('write', { file_path: '.git/hooks/pre-commit' })).toMatch(/act by themselves/)
    expect(await ask('write', { file_path: 'src/../.Claude/settings.json' })).toMatch(/act by/)
    expect(await ask('write', { file_path: '../anything' })).toMatch(/outside of the project/)
    expect(await ask('read', { file_path: 'x' })).toBe(true)
  })

  it('is approved by the name of its MCP tool, its server and wildcards', async () => {
    const tool: AgentTool = {
      ...echoTool('github.get_issue'),
      readOnly: false,
      origin: { kind: 'mcp', server: 'github' },
    }
    const allowed = async (text: string): Promise<boolean> => {
      const decide = createPermit({ agent: 'main', platform: 'linux', rules: rules(text) })
      const signal = new AbortController().signal
      return (await decide(tool, {}, { toolCallId: '1', signal, onEvent: () => undefined })).allowed
    }
    expect(await allowed('mcp__github__get_issue')).toBe(true)
    expect(await allowed('mcp__github__*')).toBe(true)
    expect(await allowed('mcp__github')).toBe(true)
    expect(await allowed('mcp__*')).toBe(true)
    expect(await allowed('*')).toBe(true)
    expect(await allowed('mcp__git')).toBe(false)
    expect(await allowed('mcp__github__set_*')).toBe(false)
    expect(await allowed('mcp__github__get_issue(x:*)')).toBe(false)
    expect(await allowed('')).toBe(false)
  })

  it('stays denied whatever approves it', async () => {
    const { ask } = permit({
      rules: rules('*'),
      denied: parseAllowedTools('Bash(rm:*) Write'),
      approver: () => Promise.resolve({ approved: true }),
    })
    expect(await ask('shell', { command: 'ls && rm x' })).toBe('this agent may not use it')
    expect(await ask('write', { file_path: 'x' })).toBe('this agent may not use it')
    expect(await ask('shell', { command: 'ls' })).toBe(true)
  })

  it('is shown to the approver with its effect, one question at a time', async () => {
    const seen: ApprovalRequest[] = []
    let open = 0
    const approver: Approver = async (request) => {
      expect(++open).toBe(1)
      seen.push(request)
      await Promise.resolve()
      open--
      return seen.length === 1 ? { approved: true } : { approved: false, reason: 'not that' }
    }
    const { ask } = permit({ approver })
    const answers = await Promise.all([
      ask('shell', { command: 'a' }),
      ask('shell', { command: 'b' }),
      ask('write', { file_path: 'x', content: 'y' }),
    ])
    expect(answers).toEqual([true, 'not that', 'not that'])
    const lines = seen.map(({ effect }) => effect?.split('\n') ?? [])
    expect(lines.map((one) => one.findLast((line) => !line.startsWith('\\')))).toEqual([
      'a',
      'b',
      '+y',
    ])
    expect(seen[0]).toMatchObject({ agent: 'main', reason: 'not read-only' })
  })

  it('needs an approval again after an approver threw', async () => {
    let calls = 0
    const approver: Approver = () => {
      if (++calls === 1) throw new Error('lost')
      return Promise.resolve({ approved: true })
    }
    const { ask } = permit({ approver })
    await expect(ask('shell', { command: 'a' })).rejects.toThrow('lost')
    expect(await ask('shell', { command: 'b' })).toBe(true)
  })

  it('needs an approval again after a question was withdrawn without an answer', async () => {
    const seen: ApprovalRequest[] = []
    const decide = createPermit({
      agent: 'main',
      platform: 'linux',
      approver(request) {
        seen.push(request)
        return seen.length === 1 ? new Promise(() => undefined) : Promise.resolve(yes)
      },
    })
    const yes = { approved: true } as const
    const tool: AgentTool = { ...echoTool('x'), origin: { kind: 'built-in' }, readOnly: false }
    const withdrawn = new AbortController()
    const ask = (signal: AbortSignal): ReturnType<typeof decide> =>
      decide(tool, {}, { toolCallId: '1', signal, onEvent: () => undefined })
    const first = ask(withdrawn.signal)
    const second = ask(new AbortController().signal)
    await until(() => seen.length === 1)
    withdrawn.abort(new Error('not wanted any more'))
    await expect(first).rejects.toThrow('not wanted')
    expect(await second).toMatchObject({ allowed: true })
    expect(seen.map(({ signal }) => signal.aborted)).toEqual([true, false])
  })

  it('needs an approval or is refused if it searches a directory with denied files', async () => {
    const denied = parseAllowedTools('Grep(secrets/**) LS(secrets/**)')
    for (const tool of ['search', 'list']) {
      const { ask } = permit({ denied, mode: 'dont-ask' })
      expect(await ask(tool, { pattern: 'x', path: 'secrets' })).toBe('this agent may not use it')
      expect(await ask(tool, { pattern: 'x' })).toContain('permission mode dont-ask refuses')
      expect(await ask(tool, { pattern: 'x', path: 'src' })).toBe(true)
      const asking = permit({ denied, approver: () => Promise.resolve({ approved: true }) })
      expect(await asking.ask(tool, { pattern: 'x' })).toBe(true)
    }
  })

  it.each([
    'packages/a/.claude/settings.json',
    'packages/a/.skillrail/skills/x/SKILL.md',
    'packages/a/.mcp.json',
    '.github/workflows/x.yml',
    '.skillrail/workflows.json',
    'opencode.json',
    'opencode.jsonc',
  ])('needs an approval if it writes %s, even if a skill approves it', async (file_path) => {
    const { ask } = permit({ rules: rules('Write Edit') })
    expect(await ask('write', { file_path, content: '' })).toMatch(/act by themselves/)
    expect(await ask('edit', { file_path })).toMatch(/act by themselves/)
  })
})

describe('an agent', () => {
  const replies = [
    calls([
      { name: 'write', input: { file_path: 'a', content: '' }, id: '1' },
      { name: 'shell', input: { command: 'rm -f x' }, id: '2' },
      { name: 'shell', input: { command: 'echo ok' }, id: '3' },
    ]),
    says('done'),
  ]

  it('is not offered the tools that it may never call, and cannot call them', async () => {
    const agent = withAgent(emptyFixture(), replies, {
      builtIns: ['all'],
      disallowedTools: ['Write Edit', 'Bash(rm:*)'],
      approver: () => Promise.resolve({ approved: true }),
    })
    await agent.ask('go')
    expect(agent.seen(0)).toEqual(['read', 'list', 'search', 'shell'])
    const [write, remove, echo] = agent.results(1)
    expect(write).toMatch(/^Error: there is no tool called write/)
    expect(remove).toBe('Error: shell was refused: this agent may not use it')
    expect(echo).toBe('ok')
  })

  it('is offered only tools that change nothing in permission mode plan', async () => {
    const agent = withAgent(emptyFixture(), [says('done')], {
      builtIns: ['all'],
      permissionMode: 'plan',
    })
    await agent.ask('go')
    expect(agent.seen(0)).toEqual(['read', 'list', 'search'])
  })
})
