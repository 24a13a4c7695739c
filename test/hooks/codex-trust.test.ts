import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type CodexTrust, codexTrust } from '../../src/hooks/codex-trust.ts'
import { hooksStatus, installHook } from '../../src/hooks/index.ts'
import { makeWorld, type World } from './_world.ts'

const isBuilt = existsSync(new URL('../../dist/hook/hook.cjs', import.meta.url))
const server = fileURLToPath(new URL('../fixtures/programs/codex-app-server.ts', import.meta.url))
const client = join(
  process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  'skillrail-test-clients/node_modules/.bin/codex',
)

/** A program `codex` that speaks the protocol and lists `hooks`. */
function fakeCodex({ write, home }: World, hooks: unknown): string {
  const list = write('hooks-list.json', JSON.stringify(hooks))
  const path = write(
    'bin/codex',
    `#!/bin/sh\n[ "$1" = app-server ] || exit 2\nLIST=${list} exec ${process.execPath} ${server}\n`,
  )
  chmodSync(path, 0o755)
  expect(path.startsWith(home)).toBe(true)
  return path
}

const ours = { command: '/x/skillrail-hook codex', enabled: true }
const rows: [string, unknown[], CodexTrust][] = [
  ['nothing', [], { user: 'unknown', project: 'unknown' }],
  [
    'hooks of others',
    [{ command: 'other', enabled: true, source: 'user', trustStatus: 'trusted' }],
    { user: 'unknown', project: 'unknown' },
  ],
  [
    'one of each',
    [
      { ...ours, source: 'user', trustStatus: 'trusted' },
      { ...ours, source: 'project', trustStatus: 'untrusted' },
    ],
    { user: 'trusted', project: 'untrusted' },
  ],
  [
    'two parts, one changed',
    [
      { ...ours, source: 'user', trustStatus: 'trusted' },
      { ...ours, source: 'user', trustStatus: 'modified' },
    ],
    { user: 'modified', project: 'unknown' },
  ],
  [
    'one that is managed',
    [{ ...ours, source: 'user', trustStatus: 'managed' }],
    { user: 'trusted', project: 'unknown' },
  ],
  [
    'one that is switched off',
    [{ ...ours, source: 'user', trustStatus: 'trusted', enabled: false }],
    { user: 'disabled', project: 'unknown' },
  ],
  [
    'a word of tomorrow',
    [{ ...ours, source: 'user', trustStatus: 'blessed' }],
    { user: 'unknown', project: 'unknown' },
  ],
]

it.each(rows)('understands Codex where it lists %s', async (_, hooks, trust) => {
  const world = makeWorld()
  const program = fakeCodex(world, hooks)
  expect(await codexTrust(program, { cwd: world.project, env: {} })).toEqual(trust)
})

const nothing = { user: 'unknown', project: 'unknown' }

it.each([
  ['is gone', undefined],
  ['ends at once', '#!/bin/sh\nexit 1\n'],
  ['says no JSON', '#!/bin/sh\necho hello; cat >/dev/null\n'],
  ['never answers', '#!/bin/sh\nexec sleep 30\n'],
])('knows nothing of a Codex that %s', async (_, script) => {
  const { project, home, write } = makeWorld()
  const program = join(home, 'bin/codex')
  if (script !== undefined) chmodSync(write('bin/codex', script), 0o755)
  const asked = codexTrust(program, {
    cwd: project,
    env: { PATH: '/usr/bin:/bin' },
    timeoutMs: 400,
  })
  expect(await asked).toEqual(nothing)
})

describe.skipIf(!existsSync(client) || !isBuilt)('the real Codex', () => {
  it('is asked before and after the user has trusted the hook (needs the build and the client cache)', async () => {
    const { runtime, project, home } = makeWorld()
    writeFileSync(join(project, '.git/HEAD'), 'ref: refs/heads/main\n')
    const env = { HOME: home, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` }
    const ask = (): Promise<CodexTrust> => codexTrust(client, { cwd: project, env })
    expect(await ask()).toEqual(nothing)
    for (const scope of ['user', 'project'] as const) await installHook(runtime, 'codex', { scope })
    expect(await ask()).toEqual({ user: 'untrusted', project: 'unknown' })
    const configuration = join(home, '.codex/config.toml')
    mkdirSync(dirname(configuration), { recursive: true })
    writeFileSync(configuration, `[projects."${project}"]\ntrust_level = "trusted"\n`)
    expect(await ask()).toEqual({ user: 'untrusted', project: 'untrusted' })
    const status = await hooksStatus(
      { ...runtime, env },
      { findProgram: (name) => (name === 'codex' ? client : undefined) },
    )
    const codex = status.platforms.find(({ platform }) => platform === 'codex')
    expect(codex).toMatchObject({
      folder: { state: 'trusted' },
      trust: { user: 'untrusted', project: 'untrusted' },
      runs: { user: { answer: 'no' }, project: { answer: 'no' } },
      steps: ['Start codex, type /hooks and trust the hook of skillrail.'],
    })
    expect(readFileSync(configuration, 'utf8')).not.toContain('hooks.state')
  })
})
