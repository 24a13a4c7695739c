import { expect, it } from 'vitest'
import type { Platform } from '../../src/hooks/adapters.ts'
import { willRun } from '../../src/hooks/status.ts'

const facts = {
  cwd: '/work',
  workspace: '/work',
  launcher: 'current',
} as const

type Answer = ReturnType<typeof willRun>['answer']

it.each<[Platform, Answer, Answer]>([
  ['claude', 'yes', 'unknown'],
  ['codex', 'unknown', 'unknown'],
  ['copilot', 'yes', 'unknown'],
  ['cursor', 'yes', 'yes'],
  ['gemini', 'unknown', 'unknown'],
  ['opencode', 'yes', 'yes'],
  ['pi', 'yes', 'unknown'],
  ['qwen', 'yes', 'yes'],
])('reports whether %s will run the hook', (platform, user, project) => {
  expect(willRun(platform, 'user', facts).answer).toBe(user)
  expect(willRun(platform, 'project', facts).answer).toBe(project)
})

it('reports for a folder below a project which clients search the folders above', () => {
  const below = { ...facts, cwd: '/work/deep' }
  const answers = (['claude', 'gemini', 'pi', 'qwen', 'copilot', 'opencode'] as const).map(
    (platform) => willRun(platform, 'project', below).answer,
  )
  expect(answers).toEqual(['no', 'no', 'no', 'no', 'unknown', 'yes'])
  expect(willRun('pi', 'project', below)).toMatchObject({
    step: 'Start pi in /work, or run: skillrail hooks install pi --user',
  })
})

it('reports that nothing runs without the launcher', () => {
  const run = willRun('gemini', 'user', { ...facts, launcher: 'missing' })
  expect(run).toMatchObject({ answer: 'no', step: 'Run: skillrail hooks install' })
})
