import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAllowedTools, isBalanced, parseAllowedTools } from '../../src/skill/allowed-tools.ts'
import { fieldsOf } from './_fields-of.ts'

const tool = (name: string, pattern?: string) =>
  pattern === undefined ? { tool: name } : { tool: name, pattern }

describe('allowed-tools', () => {
  it.each([
    ['Read', [tool('Read')]],
    ['Bash(git:*) Bash(jq:*) Read', [tool('Bash', 'git:*'), tool('Bash', 'jq:*'), tool('Read')]],
    ['Read, Grep,Glob', [tool('Read'), tool('Grep'), tool('Glob')]],
    ['Bash(git add:*) Edit', [tool('Bash', 'git add:*'), tool('Edit')]],
    ['Bash(git add:*, git rm:*), Read', [tool('Bash', 'git add:*, git rm:*'), tool('Read')]],
    ['Bash(echo (a b)) Read', [tool('Bash', 'echo (a b)'), tool('Read')]],
    ['mcp__github__create_issue', [tool('mcp__github__create_issue')]],
    [
      'Azure/docs server:tool skill.tool',
      [tool('Azure/docs'), tool('server:tool'), tool('skill.tool')],
    ],
    ['Skill()', [tool('Skill', '')]],
    ['  ', []],
    ['*', [tool('*')]],
  ])('reads allowed-tools written as %j', (text, tools) => {
    const { fields, diagnostics } = fieldsOf(`allowed-tools: ${JSON.stringify(text)}`)
    expect(fields.allowedTools).toEqual(tools)
    expect(diagnostics).toEqual([])
  })

  it.each(['Bash(git', 'Bash git)', 'A(b)) C', 'A((b)'])(
    'reports a stray parenthesis in %j',
    (text) => {
      expect(isBalanced(text)).toBe(false)
    },
  )

  it('reads back what it writes', () => {
    const name = fc.stringMatching(/^[A-Za-z][\w/:.*-]{0,12}$/)
    const pattern = fc.stringMatching(/^(?:[\w:*][\w:* ,]{0,10}[\w:*])?$/)
    const entry = fc.oneof(
      name.map((text) => tool(text)),
      fc.tuple(name, pattern).map(([text, inner]) => tool(text, inner)),
    )
    fc.assert(
      fc.property(fc.array(entry), (tools) => {
        expect(parseAllowedTools(formatAllowedTools(tools))).toEqual(tools)
      }),
    )
  })
})
