import { describe, expect, it } from 'vitest'
import { toolProblems } from '../../src/skill/step-tools.ts'

describe('a mistake in the tools of a step', () => {
  it.each([
    [{ guard: 'git push' }, 'chain-tool-name', '`Bash(git push:*)`'],
    [{ guard: '(git push)' }, 'chain-tool-name', 'Bash'],
    [{ guard: 'Bahs(git push:*)' }, 'chain-tool-name', 'Did you mean Bash?'],
    [{ tools: 'Raed Grep' }, 'chain-tool-name', 'Did you mean Read?'],
    [{ guard: 'mcp_hub_merge' }, 'chain-tool-name', 'mcp__SERVER__TOOL'],
    [{ guard: 'mcp__' }, 'chain-tool-name', 'mcp__SERVER__TOOL'],
    [{ guard: 'Bash("git push")' }, 'chain-tool-pattern', 'without quotes'],
    [{ guard: 'Bash(cd x && git push)' }, 'chain-tool-pattern', 'operators'],
    [{ tools: 'Bash(A=1 npm test:*)' }, 'chain-tool-pattern', 'words'],
    [
      { guard: 'Bash(git push:*)', tools: 'Read Bash(npm test:*)' },
      'chain-tools-guard',
      'Add `Bash(git push:*)`',
    ],
    [
      { guard: 'mcp__hub__merge_*', tools: 'Read mcp__hub__list' },
      'chain-tools-guard',
      'Add `mcp__hub__merge_*`',
    ],
  ])('is reported for %o', (step, code, hint) => {
    expect(toolProblems(step)).toMatchObject([{ code, hint: expect.stringContaining(hint) }])
  })

  it.each([
    { guard: 'Bash(git push:*) mcp__hub__merge_*' },
    { guard: 'bash edit' },
    { guard: 'Task Grep LS WebFetch' },
    { guard: 'deploy' },
    { guard: 'mcp__hub' },
    { guard: 'mcp__*__merge' },
    { guard: 'Bash(./deploy.sh:*)' },
    { guard: 'Bash(git push:*)', tools: 'Read Bash(git:*)' },
    { guard: 'Bash(git:*)', tools: 'Bash(git push:*)' },
    { guard: 'Bash', tools: 'Bash(git push:*)' },
    { guard: 'mcp__hub__merge_*', tools: 'mcp__hub' },
    { guard: 'mcp__hub__merge_*', tools: 'mcp__hub__*_pull' },
    { guard: 'Edit(src/**)', tools: 'Edit' },
  ])('is not reported for %o', (step) => {
    expect(toolProblems(step)).toEqual([])
  })
})

it('compares patterns in linear time', () => {
  const tools = `Bash(${'a'.repeat(200)})`
  const problems = (pattern: string) => toolProblems({ guard: `Bash(${pattern})`, tools })
  expect(problems(`${'*a'.repeat(30)}*b`).map(({ code }) => code)).toEqual(['chain-tools-guard'])
  expect(problems(`${'*a'.repeat(30)}*`)).toEqual([])
})
