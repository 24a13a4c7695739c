import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasErrors } from '../../../src/core/errors.ts'
import { Agent } from '../../../src/agent/agent.ts'
import { readAgentFile } from '../../../src/agent/subagents/discover-agents.ts'
import { fixture } from '../../library/_fixture.ts'
import { scripted } from '../mock-replies.ts'

function read(
  frontmatter: string,
  options: { body?: string; parent?: boolean } = {},
): ReturnType<typeof readAgentFile> {
  const text = `---\n${frontmatter}\n---\n${options.body ?? 'Do it.'}\n`
  return readAgentFile(text, options.parent === true ? '/.claude/agents/a.md' : 'a.md')
}

const head = 'name: tester\ndescription: Tests.'

describe('a definition in Markdown', () => {
  it('reads every field of a definition in Markdown, and its body as the system prompt', async () => {
    const place = fixture()
    const lines = [
      head,
      'model: anthropic:claude-sonnet-4-5',
      'tools: [Read, "Bash(git:*)"]',
      'disallowed-tools: Bash(git push:*)',
      'skills: [style-guide, checklist src]',
      'max-turns: 5',
      'permission-mode: plan',
      'timeout: 60',
    ]
    const body = '\n# You test\n\n---\n\nThoroughly. $1 {{x}}\n'
    place.write({ 'home/.claude/agents/a.md': `---\n${lines.join('\n')}\n---\n${body}` })
    const agent = new Agent({ model: scripted([]), runtime: place.runtime })
    expect(await agent.subagentManager.get('tester')).toEqual({
      name: 'tester',
      description: 'Tests.',
      model: 'anthropic:claude-sonnet-4-5',
      tools: ['Read', 'Bash(git:*)'],
      disallowedTools: ['Bash(git push:*)'],
      skills: ['style-guide', 'checklist src'],
      maxTurns: 5,
      permissionMode: 'plan',
      systemPrompt: '# You test\n\n---\n\nThoroughly. $1 {{x}}',
      config: { timeoutMs: 60_000 },
    })
  })

  it.each([
    ['tools: Read, Grep, Bash(git add:*, git rm:*)', ['Read', 'Grep', 'Bash(git add:*, git rm:*)']],
    ['tools: Read Grep', ['Read', 'Grep']],
    ['tools: [Read, Grep]', ['Read', 'Grep']],
    ['tools:\n  - Read\n  - Bash(npm run test:*)', ['Read', 'Bash(npm run test:*)']],
    ['tools: "*"', ['*']],
    ['tools: []', []],
    ['tools:', []],
    ['tools: ""', []],
  ])('reads %j as a list of tools', (line, tools) => {
    expect(read(`${head}\n${line}`).config?.tools).toEqual(tools)
  })

  it('reads absent tools as none, and in `.claude/agents` as the parent’s', () => {
    expect(read(head).config?.tools).toBeUndefined()
    expect(read(head, { parent: true }).config?.tools).toEqual(['*'])
    expect(read(`${head}\ntools:`, { parent: true }).config?.tools).toEqual([])
  })

  it.each([
    ['skills: a, b', ['a', 'b']],
    ['skills: a b', ['a', 'b']],
    ['skills: [a, "b with arguments"]', ['a', 'b with arguments']],
  ])('reads %j as skills', (line, skills) => {
    expect(read(`${head}\n${line}`).config?.skills).toEqual(skills)
  })

  it('accepts fields with underscores or in camel case', () => {
    const { config, diagnostics } = read(
      `${head}\nmax_turns: 3\npermissionMode: dontAsk\ndisallowedTools: Bash`,
    )
    expect(diagnostics).toEqual([])
    expect(config).toMatchObject({
      maxTurns: 3,
      permissionMode: 'dont-ask',
      disallowedTools: ['Bash'],
    })
  })

  it("uses the first of a field's two spellings, with a warning", () => {
    const { config, diagnostics } = read(`${head}\ndisallowedTools: Bash\ndisallowed-tools: Read`)
    expect(config?.disallowedTools).toEqual(['Bash'])
    expect(diagnostics).toMatchObject([{ code: 'field-twice', severity: 'warning', line: 5 }])
  })

  it('reads `model: inherit` as the parent’s model', () => {
    expect(read(`${head}\nmodel: inherit`).config?.model).toBeUndefined()
  })

  it('accepts fields of Claude Code that have no effect here', () => {
    expect(read(`${head}\ncolor: red\nmemory: user\nmcpServers: [a]`).diagnostics).toEqual([])
  })

  it.each([
    ['tolls: Read', 'field-unknown', 'warning', 4, 'Did you mean tools?'],
    ['max-turns: many', 'field-type', 'error', 4, undefined],
    ['max-turns: 0', 'field-type', 'error', 4, undefined],
    ['tools: { a: b }', 'field-type', 'error', 4, undefined],
    ['permission-mode: paln', 'field-type', 'error', 4, undefined],
    ['permission-mode: bypassPermissions', 'permission-mode', 'warning', 4, undefined],
    ['tools: [Read, Grep', 'yaml-', 'error', 5, undefined],
  ])('reports %j with its line', (line, code, severity, at, hint) => {
    const { diagnostics, config } = read(`${head}\n${line}`)
    const [first] = diagnostics
    expect(first).toMatchObject({ code: expect.stringContaining(code), severity, path: 'a.md' })
    expect(first?.line).toBe(at)
    expect(first?.hint).toBe(hint)
    expect(config === undefined).toBe(severity === 'error')
  })

  it.each([
    ['name: tester', 'agent-description'],
    ['description: Tests.', 'agent-name'],
    ['name: two words\ndescription: x', 'agent-name'],
  ])('refuses %j', (frontmatter, code) => {
    const { config, diagnostics } = read(frontmatter)
    expect(config).toBeUndefined()
    expect(diagnostics).toMatchObject([{ code, severity: 'error' }])
  })

  it.each(['', 'no frontmatter', '---\nname: a\n', '---\n- a\n---\n', '---\n__proto__: 1\n---\n'])(
    'reports %j and does not throw',
    (text) => {
      const reading = readAgentFile(text, 'a.md')
      expect(reading.config).toBeUndefined()
      expect(hasErrors(reading.diagnostics)).toBe(true)
    },
  )

  it('never throws, and reports an error for every unusable file', () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom('name: a', 'description: b', 'tools: [', 'tools: Read', 'skills: {}', '- x'),
    )
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const { config, diagnostics } = read(lines.join('\n'))
        expect(config === undefined).toBe(hasErrors(diagnostics))
      }),
    )
  })
})
