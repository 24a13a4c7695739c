import { expect, it } from 'vitest'
import { makeSession } from './_session.ts'

const chain = {
  ship: {
    top: ['triggers:', '  - match: ship|rail status', '    inject: notes.md'],
    metadata: ['chain: |', '  build'],
  },
  build: { body: 'BUILD IT.' },
}

it('shows the line about references beside the step, and the line of the rail instead of it', async () => {
  const session = makeSession(chain)
  session.write('.claude/skills/ship/notes.md', 'THE NOTES.')
  Object.assign(session.env, { SKILLRAIL_HOOKS_NOTICE: 'line' })
  const started = await session.prompt('/ship')
  expect(started?.hookSpecificOutput?.additionalContext).toMatch(/BUILD IT\.[^]*THE NOTES\./)
  expect(started?.systemMessage).toBe('Skillrail added ship/notes.md')
  const status = await session.prompt('rail status')
  expect(status?.hookSpecificOutput?.additionalContext).toContain('THE NOTES.')
  expect(status?.systemMessage).toContain('build')
  expect(status?.systemMessage).not.toContain('Skillrail added')
})
