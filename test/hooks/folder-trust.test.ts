import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Platform } from '../../src/hooks/adapters.ts'
import { type FolderTrust, folderTrust } from '../../src/hooks/folder-trust.ts'
import { makeWorld } from './_world.ts'

/** `HOME` and `PROJECT` stand for the real paths. */
type Case = [
  Platform,
  string,
  Readonly<Record<string, unknown>>,
  FolderTrust['state'],
  Readonly<Record<string, string>>?,
]

const asking = { security: { folderTrust: { enabled: true } } }
const silent = { security: { folderTrust: { enabled: false } } }

const cases: Case[] = [
  ['claude', 'nothing yet', {}, 'open'],
  ['claude', 'the folder', claudeFile('PROJECT', true), 'trusted'],
  ['claude', 'a folder above', claudeFile('HOME', true), 'trusted'],
  ['claude', 'another folder', claudeFile('HOME/other', true), 'open'],
  ['claude', 'a question that was not accepted', claudeFile('PROJECT', false), 'open'],
  ['claude', 'a file that is broken', { '.claude.json': '{ "projects": ' }, 'unknown'],
  ['claude', 'a file that is a list', { '.claude.json': '[]' }, 'unknown'],
  [
    'claude',
    'a directory that a variable moved',
    { 'moved/.claude.json': { projects: { PROJECT: { hasTrustDialogAccepted: true } } } },
    'trusted',
    { CLAUDE_CONFIG_DIR: 'HOME/moved' },
  ],
  [
    'claude',
    'the older file',
    { '.claude/.config.json': { projects: { PROJECT: { hasTrustDialogAccepted: true } } } },
    'trusted',
  ],
  ['codex', 'nothing yet', {}, 'open'],
  ['codex', 'the folder', codexFile('"PROJECT"', 'trusted'), 'trusted'],
  ['codex', 'the folder as untrusted', codexFile('"PROJECT"', 'untrusted'), 'untrusted'],
  ['codex', 'a literal key', codexFile("'PROJECT'", 'trusted'), 'trusted'],
  [
    'codex',
    'an inline table',
    { '.codex/config.toml': 'projects = { "PROJECT" = { trust_level = "trusted" } }' },
    'trusted',
  ],
  ['codex', 'a folder above, which does not count', codexFile('"HOME"', 'trusted'), 'open'],
  ['codex', 'a file that is broken', { '.codex/config.toml': '[projects' }, 'unknown'],
  ['copilot', 'nothing yet', {}, 'open'],
  ['copilot', 'the folder', { '.copilot/config.json': { trustedFolders: ['PROJECT'] } }, 'trusted'],
  [
    'copilot',
    'a folder above',
    { '.copilot/config.json': { trustedFolders: ['HOME'] } },
    'trusted',
  ],
  [
    'copilot',
    'the older name',
    { '.copilot/config.json': { trusted_folders: ['PROJECT'] } },
    'trusted',
  ],
  [
    'copilot',
    'comments in the file',
    { '.copilot/config.json': '// managed\n{ "trustedFolders": ["PROJECT"] }\n' },
    'trusted',
  ],
  [
    'copilot',
    'the settings, which do not count',
    { '.copilot/settings.json': { trustedFolders: ['PROJECT'] } },
    'open',
  ],
  [
    'copilot',
    'a name that begins alike',
    { '.copilot/config.json': { trustedFolders: ['HOME/pro'] } },
    'open',
  ],
  [
    'copilot',
    'something that is not a list',
    { '.copilot/config.json': { trustedFolders: 'PROJECT' } },
    'open',
  ],
  ['gemini', 'nothing yet', {}, 'open'],
  ['gemini', 'a setting that turns it off', { '.gemini/settings.json': silent }, 'not-asked'],
  ['gemini', 'the folder', folders('gemini', { PROJECT: 'TRUST_FOLDER' }), 'trusted'],
  ['gemini', 'a folder above', folders('gemini', { HOME: 'TRUST_FOLDER' }), 'trusted'],
  ['gemini', 'a folder beside', folders('gemini', { 'HOME/other': 'TRUST_PARENT' }), 'trusted'],
  [
    'gemini',
    'the longest of two rules',
    folders('gemini', { HOME: 'TRUST_FOLDER', PROJECT: 'DO_NOT_TRUST' }),
    'untrusted',
  ],
  ['gemini', 'a level that it does not know', folders('gemini', { PROJECT: 'MAYBE' }), 'open'],
  ['gemini', 'a file that is broken', { '.gemini/trustedFolders.json': '{' }, 'unknown'],
  ['gemini', 'a variable that trusts', {}, 'trusted', { GEMINI_CLI_TRUST_WORKSPACE: 'true' }],
  ['gemini', 'a variable that does not', {}, 'untrusted', { GEMINI_CLI_TRUST_WORKSPACE: 'false' }],
  ['gemini', 'the restricted mode', {}, 'untrusted', { GEMINI_RESTRICTED_MODE: 'true' }],
  [
    'gemini',
    'a home that a variable moved',
    { 'moved/.gemini/trustedFolders.json': { PROJECT: 'TRUST_FOLDER' } },
    'trusted',
    { GEMINI_CLI_HOME: 'HOME/moved' },
  ],
  [
    'gemini',
    'a file that a variable names',
    { 'rules.json': { PROJECT: 'TRUST_FOLDER' } },
    'trusted',
    { GEMINI_CLI_TRUSTED_FOLDERS_PATH: 'HOME/rules.json' },
  ],
  ['qwen', 'nothing yet', {}, 'not-asked'],
  ['qwen', 'no rule', { '.qwen/settings.json': asking }, 'open'],
  [
    'qwen',
    'the folder',
    { '.qwen/settings.json': asking, ...folders('qwen', { PROJECT: 'TRUST_FOLDER' }) },
    'trusted',
  ],
  [
    'qwen',
    'a folder above',
    { '.qwen/settings.json': asking, ...folders('qwen', { HOME: 'TRUST_FOLDER' }) },
    'trusted',
  ],
  [
    'qwen',
    'a refusal of the folder',
    { '.qwen/settings.json': asking, ...folders('qwen', { PROJECT: 'DO_NOT_TRUST' }) },
    'untrusted',
  ],
  [
    'qwen',
    'a refusal above, which does not count',
    { '.qwen/settings.json': asking, ...folders('qwen', { HOME: 'DO_NOT_TRUST' }) },
    'open',
  ],
  [
    'qwen',
    'trust above a refusal',
    {
      '.qwen/settings.json': asking,
      ...folders('qwen', { HOME: 'TRUST_FOLDER', PROJECT: 'DO_NOT_TRUST' }),
    },
    'trusted',
  ],
  ['opencode', 'nothing', {}, 'not-asked'],
  ['pi', 'nothing', {}, 'not-asked'],
  ['cursor', 'nothing', {}, 'unknown'],
]

it.each(cases)('reads of %s: %s', async (platform, _, given, state, env = {}) => {
  const { home, project, runtime, write } = makeWorld()
  const real = (text: string): string =>
    text.replaceAll('PROJECT', project).replaceAll('HOME', home)
  for (const [path, value] of Object.entries(given)) {
    write(path, real(typeof value === 'string' ? value : JSON.stringify(value)))
  }
  const variables = Object.entries(env).map(([name, value]) => [name, real(value)])
  const before = snapshot(home)
  const trust = await folderTrust(platform, project, {
    ...runtime,
    env: { ...runtime.env, ...Object.fromEntries(variables) },
  })
  expect(trust.state).toBe(state)
  expect(trust.reason).not.toBe('')
  expect(snapshot(home)).toEqual(before)
})

it('knows a linked work tree by the repository that it belongs to', async () => {
  const { home, project, runtime, write } = makeWorld()
  const tree = join(home, 'tree')
  mkdirSync(tree)
  writeFileSync(join(tree, '.git'), `gitdir: ${project}/.git/worktrees/tree\n`)
  write(
    '.claude.json',
    JSON.stringify({ projects: { [project]: { hasTrustDialogAccepted: true } } }),
  )
  write('.codex/config.toml', `[projects."${project}"]\ntrust_level = "trusted"\n`)
  expect((await folderTrust('claude', tree, runtime)).state).toBe('trusted')
  expect((await folderTrust('codex', tree, runtime)).state).toBe('trusted')
})

function claudeFile(path: string, accepted: boolean): Record<string, unknown> {
  return { '.claude.json': { projects: { [path]: { hasTrustDialogAccepted: accepted } } } }
}

function codexFile(key: string, level: string): Record<string, unknown> {
  return { '.codex/config.toml': `model = "m"\n[projects.${key}]\ntrust_level = "${level}"\n` }
}

function folders(client: string, rules: Readonly<Record<string, string>>): Record<string, unknown> {
  return { [`.${client}/trustedFolders.json`]: rules }
}

function snapshot(home: string): Record<string, string> {
  const names = readdirSync(home, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => statSync(join(home, name)).isFile())
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(home, name), 'utf8')]))
}
