import { expect, it } from 'vitest'
import type { AgentTool } from '../../../src/agent/types.ts'
import { hookName, readHooks, readMatcher } from '../../../src/agent/skills/hook-format.ts'
import { echoTool } from '../mock-replies.ts'

const shell: AgentTool = { ...echoTool('shell'), aliases: ['Bash'] }
const memory: AgentTool = {
  ...echoTool('memory.store'),
  aliases: ['memory__store', 'mcp__memory__store'],
  origin: { kind: 'mcp', server: 'memory' },
}

it('reads events, groups and commands, with seconds', () => {
  const { hooks, problems } = readHooks({
    PreToolUse: [
      { matcher: 'Bash', hooks: [{ type: 'command', command: './check.sh', timeout: 5 }] },
    ],
    Stop: [{ hooks: [{ type: 'command', command: 'x', once: true }] }],
  })
  expect(problems).toEqual([])
  expect(hooks).toMatchObject([
    { event: 'PreToolUse', command: './check.sh', timeoutMs: 5000, once: false },
    { event: 'Stop', command: 'x', timeoutMs: 60_000, once: true },
  ])
})

it('reports invalid hooks and keeps the others', () => {
  const { hooks, problems } = readHooks({
    PreToolUses: [],
    PreToolUse: [
      'x',
      { matcher: '(', hooks: [] },
      { hooks: ['y', { type: 'prompt' }, { type: 'command' }, { command: 'good' }] },
    ],
  })
  expect(hooks).toHaveLength(1)
  expect(problems).toHaveLength(6)
  expect(problems[0]).toMatch(/Did you mean PreToolUse\?/)
  expect(readHooks(['x']).problems).toHaveLength(1)
  expect(readHooks(undefined)).toEqual({ hooks: [], problems: [] })
})

it.each([
  ['', shell, true],
  ['*', shell, true],
  ['Bash', shell, true],
  ['shell', shell, true],
  ['Edit|Bash', shell, true],
  ['Bas', shell, false],
  ['Ba.*', shell, true],
  ['.*ash$', shell, true],
  ['mcp__memory__.*', memory, true],
  ['mcp__memory__store', memory, true],
  ['mcp__other__.*', memory, false],
  ['Bash', memory, false],
])('reads the matcher %j', (text, tool, expected) => {
  const reading = readMatcher(text)
  expect(reading.ok && reading.matcher(tool)).toBe(expected)
})

it('matches tools by their names in Claude Code', () => {
  expect([hookName(shell), hookName(memory), hookName(echoTool('a.b'))]).toEqual([
    'Bash',
    'mcp__memory__store',
    'a__b',
  ])
})
