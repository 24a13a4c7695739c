import { describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import type { AgentTool, ApprovalRequest } from '../../../src/agent/types.ts'
import { selectTools } from '../../../src/agent/subagents/tool-selection.ts'
import { toolSelectors } from '../../../src/agent/approval/tool-patterns.ts'
import { call, calls, echoTool, says } from '../mock-replies.ts'
import { delegating, textsOf, toolsOffered, worker } from './_parent.ts'

const read = echoTool('read', { aliases: ['Read'], origin: { kind: 'built-in' } })
const write = echoTool('write', {
  aliases: ['Write'],
  origin: { kind: 'built-in' },
  readOnly: false,
})
const shell = echoTool('shell', {
  aliases: ['Bash'],
  origin: { kind: 'built-in' },
  readOnly: false,
  patternKind: 'command',
  patternText: (input) => (typeof input['command'] === 'string' ? input['command'] : ''),
})
const issue = echoTool('github.create_issue', {
  origin: { kind: 'mcp', server: 'github' },
  readOnly: false,
})
const search = echoTool('github.search', { origin: { kind: 'mcp', server: 'github' } })
const page = echoTool('web.fetch', { origin: { kind: 'skill', skill: 'web' } })
const own = echoTool('delegate', { origin: { kind: 'agent' } })
const ceiling: readonly AgentTool[] = [read, write, shell, issue, search, page, own]

function names(tools: readonly (string | AgentTool)[] | null, disallowed: string[] = []): string[] {
  return selectTools({ subagent: 'worker', ceiling, tools, disallowed, readOnly: false }).tools.map(
    ({ name }) => name,
  )
}

describe('the tools of a subagent', () => {
  it.each<[string, readonly string[] | null, string[]]>([
    ['nothing for None', null, []],
    ['nothing for an empty list', [], []],
    ['a name', ['read'], ['read']],
    ['an alias, in any case', ['Read', 'bash'], ['read', 'shell']],
    ['an alias with a pattern', ['Bash(git:*)'], ['shell']],
    ['a tool of a server, as Claude Code spells it', ['mcp__github__search'], ['github.search']],
    ['the same as the wire has it', ['github__search'], ['github.search']],
    ['the same with a slash', ['github/search'], ['github.search']],
    ['a whole server', ['mcp__github'], ['github.create_issue', 'github.search']],
    ['a whole server with a star', ['mcp__github__*'], ['github.create_issue', 'github.search']],
    ['the tools of all servers', ['mcp__*'], ['github.create_issue', 'github.search']],
    ['a tool of a skill', ['web.fetch'], ['web.fetch']],
    ['everything but delegation', ['*'], ceiling.slice(0, -1).map(({ name }) => name)],
    ['what is not there', ['WebSearch', 'delegate'], []],
    ['the parent’s order, each once', ['shell', 'Bash', 'read'], ['read', 'shell']],
  ])('gives %s', (_, tools, wanted) => {
    expect(names(tools)).toEqual(wanted)
  })

  it.each<[string, readonly string[], string[], string[]]>([
    ['a name', ['*'], ['Write', 'Bash'], [issue.name, search.name, page.name]],
    ['a server', ['*'], ['mcp__github'], [write.name, shell.name, page.name]],
    ['everything', ['*'], ['*'], []],
  ])('removes %s by the deny list after the allow list', (_, tools, disallowed, wanted) => {
    expect(names(tools, disallowed).filter((name) => name !== 'read')).toEqual(wanted)
  })

  it('reports a name that selects nothing, with the nearest name', () => {
    const { notices } = selectTools({
      subagent: 'worker',
      ceiling,
      tools: ['raed'],
      disallowed: [],
      readOnly: false,
    })
    expect(notices).toEqual([
      'The subagent worker cannot have the tool raed: it does not exist, or is not allowed here. Did you mean read?',
    ])
  })

  it('ignores the ceiling for a tool of the program, and applies the deny list', () => {
    const special = echoTool('special')
    expect(names([special])).toEqual(['special'])
    expect(names([special], ['special'])).toEqual([])
  })

  it('selects nothing by name that the parent does not have', () => {
    const entry = fc.oneof(
      fc.constantFrom('*', 'Read', 'Bash(git:*)', 'mcp__*', 'delegate', 'web.*', 'nothing'),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(entry), fc.array(entry), (tools, disallowed) => {
        const selected = selectTools({
          subagent: 'worker',
          ceiling: [read, search],
          tools,
          disallowed,
          readOnly: false,
        })
        for (const tool of selected.tools) expect([read, search]).toContain(tool)
      }),
    )
  })

  it('matches a text of a thousand stars in reasonable time', () => {
    const [selector] = toolSelectors(['a*'.repeat(1000)])
    expect(selector?.selects(echoTool('a'.repeat(5000)))).toBe(true)
  })
})

describe('calls of a subagent', () => {
  it('offers a subagent only the tools of its allow list and answers a call of another one with an error', async () => {
    const { manager, model } = delegating({
      replies: [calls([{ name: 'write' }, { name: 'read' }]), says('Done.')],
      tools: ceiling,
      configs: [worker({ tools: ['Read'] })],
    })
    await manager.delegate('worker', 'Write.')
    expect(toolsOffered(model, 0)).toEqual(['read'])
    const [first, second] = textsOf(model, 1, 'tool')
    expect(first).toContain('Error: there is no tool called write.')
    expect(second).toBe('read said {}')
  })

  it('gives a subagent with an empty list no tools', async () => {
    const { manager, model } = delegating({ tools: ceiling, configs: [worker({ tools: [] })] })
    await manager.delegate('worker', 'Go.')
    expect(toolsOffered(model, 0)).toEqual([])
  })

  it('reports a missing tool to the model, to the caller and in the events', async () => {
    const { manager, model, events } = delegating({ configs: [worker({ tools: ['WebSearch'] })] })
    const result = await manager.delegate('worker', 'Go.')
    const notice =
      'The subagent worker cannot have the tool WebSearch: it does not exist, or is not allowed here.'
    expect(result.notices).toEqual([notice])
    expect(textsOf(model, 0, 'system').join()).toContain(notice)
    expect(events).toContainEqual({ type: 'notice', agent: 'worker', message: notice })
  })

  it('allows git with Bash(git:*), and no program whose name only begins so', async () => {
    const asked: ApprovalRequest[] = []
    const { manager, model } = delegating({
      replies: [
        calls([
          { name: 'shell', input: { command: 'git status' } },
          { name: 'shell', input: { command: 'git status; rm -rf .' } },
          { name: 'shell', input: { command: 'gitk' } },
        ]),
        says('Done.'),
      ],
      tools: [shell],
      configs: [worker({ tools: ['Bash(git:*)'] })],
      parent: {
        approver: async (request) => {
          asked.push(request)
          return { approved: true }
        },
      },
    })
    await manager.delegate('worker', 'Go.')
    const [status, chained, other] = textsOf(model, 1, 'tool')
    expect(status).toContain('shell said')
    expect(chained).toContain('this subagent may only call it as git:*')
    expect(other).toContain('this subagent may only call it as git:*')
    expect(asked.map(({ input }) => input['command'])).toEqual(['git status'])
  })

  it('checks each call against a deny entry with a pattern', async () => {
    const { manager, model } = delegating({
      replies: [call('shell', { command: 'rm -rf .' }), says('Done.')],
      tools: [shell],
      configs: [worker({ tools: ['Bash'], disallowedTools: ['Bash(rm:*)'] })],
      parent: { approver: async () => ({ approved: true }) },
    })
    await manager.delegate('worker', 'Go.')
    expect(toolsOffered(model, 0)).toEqual(['shell'])
    expect(textsOf(model, 1, 'tool')[0]).toContain('Error: shell was refused')
  })

  it("asks the parent's approver, with the name of the subagent", async () => {
    const asked: ApprovalRequest[] = []
    const { manager, model } = delegating({
      replies: [call('write', { path: 'a' }), call('write', { path: 'b' }), says('Done.')],
      tools: [write],
      configs: [worker({ tools: ['Write'] })],
      parent: {
        approver: async (request) => {
          asked.push(request)
          return asked.length === 1 ? { approved: true } : { approved: false, reason: 'not b' }
        },
      },
    })
    await manager.delegate('worker', 'Go.')
    expect(asked.map(({ agent, input }) => [agent, input])).toEqual([
      ['worker', { path: 'a' }],
      ['worker', { path: 'b' }],
    ])
    expect(textsOf(model, 2, 'tool').at(-1)).toContain('not b')
  })

  it('refuses a call that needs an approval without an approver', async () => {
    const { manager, model } = delegating({
      replies: [call('write'), says('Done.')],
      tools: [write],
      configs: [worker({ tools: ['Write'] })],
    })
    await manager.delegate('worker', 'Go.')
    expect(textsOf(model, 1, 'tool')[0]).toContain('Error: write was refused')
  })
})

describe('permission-mode', () => {
  it('offers only tools that change nothing in the permission mode plan', async () => {
    const { manager, model } = delegating({
      tools: ceiling,
      configs: [worker({ tools: ['*'], permissionMode: 'plan' })],
    })
    await manager.delegate('worker', 'Go.')
    expect(toolsOffered(model, 0)).toEqual(['read', 'github__search', 'web__fetch'])
  })

  it('refuses calls that need an approval in the permission mode dont-ask', async () => {
    let asked = 0
    const { manager, model } = delegating({
      replies: [calls([{ name: 'write' }, { name: 'read' }]), says('Done.')],
      tools: ceiling,
      configs: [worker({ tools: ['Read', 'Write'], permissionMode: 'dont-ask' })],
      parent: {
        approver: async () => {
          asked += 1
          return { approved: true }
        },
      },
    })
    await manager.delegate('worker', 'Go.')
    const [refused, done] = textsOf(model, 1, 'tool')
    expect(refused).toContain('Error: write was refused')
    expect(done).toBe('read said {}')
    expect(asked).toBe(0)
  })
})
