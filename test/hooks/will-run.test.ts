import { expect, it } from 'vitest'
import type { FolderTrust } from '../../src/hooks/folder-trust.ts'
import type { Platform } from '../../src/hooks/adapters.ts'
import { type WillRun, willRun } from '../../src/hooks/will-run.ts'

const facts = {
  cwd: '/work',
  workspace: '/work',
  launcher: 'current',
  scope: 'user',
  platform: 'gemini',
  folder: { state: 'trusted', reason: 'r' },
} as const

type Row = [Platform, FolderTrust['state'], WillRun['answer'], WillRun['answer']]

const rows: Row[] = [
  ['claude', 'trusted', 'yes', 'yes'],
  ['claude', 'open', 'once-trusted', 'once-trusted'],
  ['copilot', 'open', 'yes', 'no'],
  ['copilot', 'trusted', 'yes', 'yes'],
  ['gemini', 'open', 'once-trusted', 'once-trusted'],
  ['gemini', 'untrusted', 'no', 'no'],
  ['gemini', 'not-asked', 'yes', 'yes'],
  ['qwen', 'not-asked', 'yes', 'yes'],
  ['qwen', 'open', 'yes', 'once-trusted'],
  ['qwen', 'untrusted', 'yes', 'no'],
  ['opencode', 'not-asked', 'yes', 'yes'],
  ['pi', 'not-asked', 'yes', 'yes'],
  ['cursor', 'unknown', 'unknown', 'unknown'],
]

it.each(rows)('judges %s in a folder that is %s', (platform, state, user, project) => {
  const folder = { state, reason: 'r' }
  expect(willRun({ ...facts, platform, folder }).answer).toBe(user)
  expect(willRun({ ...facts, platform, folder, scope: 'project' }).answer).toBe(project)
})

it.each([
  ['untrusted', 'trusted', 'no', '/hooks and trust'],
  ['modified', 'trusted', 'no', '/hooks and trust'],
  ['disabled', 'trusted', 'no', '/hooks and switch'],
  ['unknown', 'trusted', 'unknown', '/hooks'],
  ['trusted', 'untrusted', 'no', 'Set trust_level to "trusted" for /work'],
  ['trusted', 'open', 'no', 'Start codex in /work'],
] as const)(
  'judges a project’s hook that Codex has as %s in a folder %s',
  (codex, state, answer, step) => {
    const folder = { state, reason: 'r' }
    const run = willRun({ ...facts, platform: 'codex', scope: 'project', codex, folder })
    expect(run).toMatchObject({ answer, step: expect.stringContaining(step) })
  },
)

it('says of a folder below a project which clients look up from there', () => {
  const below = { ...facts, scope: 'project', cwd: '/work/deep' } as const
  const answers = (['claude', 'gemini', 'pi', 'qwen', 'copilot', 'opencode'] as const).map(
    (platform) => willRun({ ...below, platform }).answer,
  )
  expect(answers).toEqual(['no', 'no', 'no', 'no', 'yes', 'yes'])
  expect(willRun({ ...below, platform: 'pi' })).toMatchObject({
    step: 'Start pi in /work, or run: skillrail hooks install pi --user',
  })
})

it('says that nothing runs without the launcher', () => {
  expect(willRun({ ...facts, launcher: 'missing' })).toMatchObject({
    answer: 'no',
    step: 'Run: skillrail hooks install',
  })
})
