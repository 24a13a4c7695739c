import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { collectSkillParts } from '../../src/trust/acting-parts.ts'
import { currentSkills, lockStateOf } from '../../src/trust/lock.ts'
import { LockStore, lockText } from '../../src/trust/lock-store.ts'
import { runtimeIn, skillIn, temporaryDirectory, writeFiles } from './_project.ts'

async function locked() {
  const root = temporaryDirectory()
  const workspace = join(root, 'project')
  const directory = join(workspace, 'skill')
  writeFiles(directory, { 'SKILL.md': 'text', 'lib/a.sh': 'a' })
  writeFiles(workspace, { 'shared/b.sh': 'b' })
  const store = new LockStore(runtimeIn(root), workspace)
  const now = () => currentSkills(workspace, [{ name: 'deploy', realDirectory: directory }])
  await store.write(now())
  return { workspace, directory, store, now, state: () => lockStateOf(workspace, directory) }
}

it.each([
  ['a file', '../shared/b.sh'],
  ['a folder', '../shared'],
  ['the folder around it', '..'],
  ['the whole disk', '/'],
])('a link that leads out of a skill, to %s, is not locked and is drift', async (_, target) => {
  const { directory, store, now, state } = await locked()
  symlinkSync(target, join(directory, 'out'))
  expect(state()).toBe('drifted')
  await expect(store.write(now())).rejects.toMatchObject({
    code: 'lock-skill-unreadable',
    message: `skill/out is a link to ${target}, outside the skill, so it cannot be verified, so the skill cannot be locked`,
  })
  expect(() => lockText(now(), store.path)).toThrow('outside the skill')
})

it('a lock of an earlier version that recorded such links no longer matches', async () => {
  const { workspace, directory, state } = await locked()
  symlinkSync('../shared/b.sh', join(directory, 'out'))
  const parts = collectSkillParts(workspace, skillIn(directory))
  expect(parts).toMatchObject([{ path: 'skill/lib/a.sh' }, { link: '../shared/b.sh' }])
  expect(state()).toBe('drifted')
})

it('a link that leads nowhere is locked, and differs once its target exists', async () => {
  const { workspace, directory, store, now, state } = await locked()
  symlinkSync('../shared/later.sh', join(directory, 'out'))
  symlinkSync('lib/later.sh', join(directory, 'in'))
  await store.write(now())
  expect(state()).toBeUndefined()
  writeFileSync(join(workspace, 'shared/later.sh'), 'later')
  expect(state()).toBe('drifted')
  rmSync(join(workspace, 'shared/later.sh'))
  expect(state()).toBeUndefined()
  writeFileSync(join(directory, 'lib/later.sh'), 'later')
  expect(state()).toBe('drifted')
})

it('a link inside a skill is locked with its target', async () => {
  const { directory, store, now, state } = await locked()
  symlinkSync('lib', join(directory, 'way'))
  symlinkSync('lib/a.sh', join(directory, 'a.sh'))
  await store.write(now())
  expect(state()).toBeUndefined()
  writeFileSync(join(directory, 'lib/a.sh'), 'other')
  expect(now()[0]?.tree.files.map(({ path }) => path)).toContain('way/a.sh')
  expect(state()).toBe('drifted')
})
