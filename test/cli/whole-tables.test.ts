import { expect, it } from 'vitest'
import { fixture } from '../library/_fixture.ts'
import { runInProcess } from '../run-in-process.ts'

const long = `${'A long text about many things. '.repeat(12)}Use when asked. The last words`

it.each([
  ['list', ['list'], long],
  ['list --clients', ['list', '--clients'], 'codex copilot cursor gemini opencode pi qwen'],
  ['agents list', ['agent', 'subagents', 'list'], long],
  ['the overview', [], 'x'.repeat(150)],
])('prints every cell of %s as a whole without a terminal', async (_, args, expected) => {
  const place = fixture()
  const name = 'x'.repeat(150)
  place.skill('project/.agents/skills/one', { description: long })
  place.skill('project/.agents/skills/other', { name })
  place.skill('project/.claude/skills/two', { more: 'allowed-tools: [' })
  place.write({
    'home/.claude/agents/reader.md': `---\nname: reader\ndescription: ${long}\n---\nRead.\n`,
  })
  const { stdout } = await runInProcess(args, { cwd: place.project, home: place.home })
  expect(stdout).toContain(expected)
  expect(stdout).not.toMatch(/…$/m)
})
