import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import type { Platform } from '../../src/hooks/adapters.ts'
import { type FolderTrust, folderTrust, type WillRun, willRun } from '../../src/hooks/will-run.ts'
import { makeWorld } from './_world.ts'

const facts = {
  cwd: '/work',
  workspace: '/work',
  launcher: 'current',
  folder: { state: 'trusted', reason: 'r' },
} as const

type Answer = WillRun['answer']

it.each<[Platform, FolderTrust['state'], Answer, Answer]>([
  ['claude', 'trusted', 'yes', 'yes'],
  ['claude', 'open', 'once-trusted', 'once-trusted'],
  ['codex', 'unknown', 'unknown', 'unknown'],
  ['copilot', 'open', 'yes', 'once-trusted'],
  ['cursor', 'unknown', 'yes', 'yes'],
  ['gemini', 'untrusted', 'no', 'no'],
  ['gemini', 'not-asked', 'yes', 'yes'],
  ['opencode', 'not-asked', 'yes', 'yes'],
  ['pi', 'unknown', 'yes', 'unknown'],
  ['qwen', 'not-asked', 'yes', 'yes'],
])('judges the hook of %s in a folder that is %s', (platform, state, user, project) => {
  const folder = { state, reason: 'r' }
  expect(willRun(platform, 'user', { ...facts, folder }).answer).toBe(user)
  expect(willRun(platform, 'project', { ...facts, folder }).answer).toBe(project)
})

it('says of a folder below a project which clients look up from there', () => {
  const below = { ...facts, cwd: '/work/deep' }
  const answers = (['claude', 'gemini', 'pi', 'qwen', 'copilot', 'opencode'] as const).map(
    (platform) => willRun(platform, 'project', below).answer,
  )
  expect(answers).toEqual(['no', 'no', 'no', 'no', 'yes', 'yes'])
  expect(willRun('pi', 'project', below)).toMatchObject({
    step: 'Start pi in /work, or run: skillrail hooks install pi --user',
  })
})

it('says that nothing runs without the launcher', () => {
  const run = willRun('gemini', 'user', { ...facts, launcher: 'missing' })
  expect(run).toMatchObject({ answer: 'no', step: 'Run: skillrail hooks install' })
})

const accepted = (folder: string): object => ({
  projects: { [folder]: { hasTrustDialogAccepted: true } },
})

/** `HOME` and `PROJECT` stand for the real paths. */
it.each<[Platform, Readonly<Record<string, object | string>>, FolderTrust['state']]>([
  ['claude', {}, 'open'],
  ['claude', { '.claude.json': accepted('PROJECT') }, 'trusted'],
  ['claude', { '.claude.json': accepted('HOME') }, 'trusted'],
  ['claude', { '.claude.json': accepted('HOME/other') }, 'open'],
  ['claude', { '.claude.json': '{ "projects": ' }, 'unknown'],
  ['copilot', { '.copilot/config.json': '// managed\n{ "trustedFolders": ["HOME"] }' }, 'trusted'],
  ['copilot', { '.copilot/config.json': { trustedFolders: ['HOME/pro'] } }, 'open'],
  ['gemini', {}, 'open'],
  ['gemini', { '.gemini/trustedFolders.json': { HOME: 'TRUST_FOLDER' } }, 'trusted'],
  [
    'gemini',
    { '.gemini/trustedFolders.json': { HOME: 'TRUST_FOLDER', PROJECT: 'DO_NOT_TRUST' } },
    'untrusted',
  ],
  ['opencode', {}, 'not-asked'],
  ['pi', {}, 'unknown'],
  ['qwen', {}, 'not-asked'],
])('reads what %s says in %j', (platform, files, state) => {
  const { runtime, home, project } = makeWorld()
  for (const [name, value] of Object.entries(files)) {
    const path = join(home, name)
    mkdirSync(dirname(path), { recursive: true })
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    writeFileSync(path, text.replaceAll('PROJECT', project).replaceAll('HOME', home))
  }
  expect(folderTrust(platform, project, runtime).state).toBe(state)
})
