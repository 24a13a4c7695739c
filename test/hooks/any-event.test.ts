import fc from 'fast-check'
import { expect, it } from 'vitest'
import { platforms } from '../../src/hooks/adapters.ts'
import { runHook } from '../../src/hooks/run-hook.ts'
import { makeFixture } from './_fixture.ts'

const fields = (
  'session_id sessionId prompt cwd hook_event_name tool_name toolName tool_input toolArgs tool_use_id ' +
  'turn_id agent_id source timestamp workspace_roots conversation_id generation_id command file_path'
).split(' ')

it('answers an event with any value in any field, or says in one line why it cannot', async () => {
  const { skill, write, runtime, project } = makeFixture()
  skill('saw', [['^/saw', 'a.md']])
  write('.agents/skills/saw/a.md', 'TEXT')
  write(
    '.config/skillrail/triggers.yaml',
    "saw:\n  - command: '^git push'\n    inject: a.md\n    require: true\n  - paths: ['src/']\n    inject: a.md\n",
  )
  write('.config/skillrail/a.md', 'TEXT')
  const tool = { tool_name: 'Bash', tool_input: { command: 'git push' } }
  const whole = {
    session_id: 's',
    cwd: project,
    hook_event_name: 'PreToolUse',
    prompt: '/saw',
    ...tool,
  }
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(
      '/saw',
      'git push',
      'Bash',
      'Edit',
      project,
      '',
      '\0',
      '__proto__',
      'PreToolUse',
    ),
  )
  const changes = fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 3 })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...platforms), changes, fc.boolean(), async (...row) => {
      const [platform, changed, isWhole] = row
      const input = JSON.stringify(isWhole ? { ...whole, ...changed } : changed)
      const answer = await runHook({ platform, part: { number: 1, of: 1 }, input, runtime })
      if (answer.stdout !== '') JSON.parse(answer.stdout)
      expect(answer.stderr).toMatch(/^(?:skillrail: [^\n]*\n)*$/)
    }),
    { numRuns: 500 },
  )
})
