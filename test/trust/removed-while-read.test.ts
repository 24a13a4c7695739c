import type * as Fs from 'node:fs'
import { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { collectActingParts } from '../../src/trust/acting-parts.ts'
import { currentSkills, lockStateOf } from '../../src/trust/lock.ts'
import { LockStore } from '../../src/trust/lock-store.ts'
import { readLock } from '../../src/trust/lock-file.ts'
import { runtimeIn, skillIn, temporaryDirectory, writeFiles } from './_project.ts'

type Call = 'lstatSync' | 'readlinkSync' | 'openSync'

/** Called before, or with `after` after, the system is asked about a path. */
const moment: { before?: (call: Call, path: string) => void; after?: (path: string) => void } = {}

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof Fs>()
  const spied =
    <A extends readonly unknown[], R>(call: Call, real: (...args: A) => R) =>
    (...args: A): R => {
      moment.before?.(call, String(args[0]))
      const result = real(...args)
      if (call === 'lstatSync') moment.after?.(String(args[0]))
      return result
    }
  return {
    ...fs,
    lstatSync: spied('lstatSync', fs.lstatSync),
    readlinkSync: spied('readlinkSync', fs.readlinkSync),
    openSync: spied('openSync', fs.openSync),
  }
})

afterEach(() => {
  delete moment.before
  delete moment.after
})

async function locked() {
  const root = temporaryDirectory()
  const workspace = join(root, 'project')
  const directory = join(workspace, 'skill')
  writeFiles(directory, { 'SKILL.md': 'text', 'lib/a.sh': 'a' })
  const store = new LockStore(runtimeIn(root), workspace)
  const now = () => currentSkills(workspace, [{ name: 'deploy', realDirectory: directory }])
  await store.write(now())
  return { workspace, directory, store, now, state: () => lockStateOf(workspace, directory) }
}

function removeAt(call: Call, name: string): void {
  moment.before = (asked, path) => {
    if (asked === call && basename(path) === name) rmSync(path, { recursive: true, force: true })
  }
}

it('an unlocked file that disappears during the read is drift', async () => {
  const { directory, now, state } = await locked()
  writeFiles(directory, { 'lib/more.sh': '' })
  removeAt('lstatSync', 'more.sh')
  expect(state()).toBe('drifted')
  writeFiles(directory, { 'lib/more.sh': '' })
  expect(now()[0]?.tree.files).toMatchObject([
    {},
    {},
    { path: 'lib/more.sh', problem: 'was removed while it was read' },
  ])
})

it.each([
  ['lstatSync', 'a.sh'],
  ['openSync', 'a.sh'],
  ['openSync', 'SKILL.md'],
] as const)('a locked file that disappears at %s of %s is drift', async (call, name) => {
  const { state } = await locked()
  removeAt(call, name)
  expect(state()).toBe('drifted')
})

it('a link that disappears during the read is drift, not a crash', async () => {
  const { directory, state } = await locked()
  symlinkSync('lib/a.sh', join(directory, 'way'))
  removeAt('readlinkSync', 'way')
  expect(state()).toBe('drifted')
})

it('a skill that disappears during the read is drift', async () => {
  const { directory, state } = await locked()
  moment.before = (call, path) => {
    if (call === 'openSync' && basename(path) === 'SKILL.md') rmSync(directory, { recursive: true })
  }
  expect(state()).toBe('drifted')
  expect(state()).toBe('drifted')
})

it('a lock that disappears during the read is unreadable, not missing', async () => {
  const { workspace, store } = await locked()
  const aside = `${store.path}.aside`
  moment.after = (path) => {
    if (path === store.path) renameSync(store.path, aside)
  }
  expect(readLock(workspace)).toMatchObject({ state: 'unreadable' })
  delete moment.after
  expect(readLock(workspace)).toMatchObject({ state: 'none' })
})

it.each(['lstatSync', 'readlinkSync', 'openSync'] as const)(
  'a workflow file that disappears at %s differs from the acceptance',
  (call) => {
    const workspace = temporaryDirectory()
    writeFiles(workspace, { 'elsewhere.json': '{}' })
    mkdirSync(join(workspace, '.skillrail'))
    const file = join(workspace, '.skillrail/workflows.json')
    symlinkSync('../elsewhere.json', file)
    const parts = () => collectActingParts(workspace, [skillIn(join(workspace, 'none'))])
    const before = parts().find(({ kind }) => kind === 'workflow')
    expect(lstatSync(file).isSymbolicLink()).toBe(true)
    moment.before = (asked, path) => {
      if (asked === call && /workflows|elsewhere/.test(path)) rmSync(path, { force: true })
    }
    const after = parts().find(({ kind }) => kind === 'workflow')
    expect(before?.digest).toMatch(/^sha256:/)
    expect(after?.digest).not.toBe(before?.digest)
  },
)
