import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { type CodexTrust, codexTrust } from '../../src/hooks/codex-trust.ts'
import { makeWorld, type World } from './_world.ts'

const server = fileURLToPath(new URL('../fixtures/programs/codex-app-server.ts', import.meta.url))
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
  expect(await codexTrust(program, { cwd: world.project, env: {}, timeoutMs: 60_000 })).toEqual(
    trust,
  )
})

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
  expect(await asked).toEqual({ user: 'unknown', project: 'unknown' })
})
