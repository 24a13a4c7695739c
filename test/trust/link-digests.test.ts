import { mkdirSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import { currentSkills, lockDrift, lockStateOf } from '../../src/trust/lock.ts'
import { LockStore } from '../../src/trust/lock-store.ts'
import { readLock, serializeLock } from '../../src/trust/lock-file.ts'
import { treeDigest } from '../../src/trust/skill-files.ts'
import { parseTrust, serializeTrust } from '../../src/trust/store.ts'
import { collectSkillParts } from '../../src/trust/acting-parts.ts'
import { runtimeIn, skillIn, temporaryDirectory, writeFiles } from './_project.ts'

const target = '../references/a.md'

function project() {
  const root = temporaryDirectory()
  const workspace = join(root, 'project')
  const directory = join(workspace, 'skill')
  writeFiles(directory, { 'SKILL.md': 'text', 'references/a.md': 'a' })
  mkdirSync(join(directory, 'scripts'))
  const place = join(directory, 'scripts/a')
  symlinkSync(target, place)
  const store = new LockStore(runtimeIn(root), workspace)
  const now = () =>
    currentSkills(workspace, [{ name: 'deploy', realDirectory: realpathSync(directory) }])
  return { workspace, directory, place, store, now }
}

describe('a link in a skill', () => {
  it('is locked as a link, and differs from a file with the same hashed bytes', async () => {
    const { workspace, directory, place, store, now } = project()
    await store.write(now())
    expect(lockStateOf(workspace, directory)).toBeUndefined()
    const reading = readLock(workspace)
    const locked = reading.state === 'read' ? reading.skills : new Map()
    const digest = locked.get('skill')?.files.get('scripts/a')
    expect(digest).toMatch(/^link-sha256:[0-9a-f]{64}$/)
    rmSync(place)
    writeFileSync(place, `${target}\0${sha256('a')}`)
    expect(lockStateOf(workspace, directory)).toBe('drifted')
    expect(lockDrift(workspace, locked, now())).toMatchObject([
      { files: [{ change: 'changed', path: 'scripts/a', locked: digest }] },
    ])
  })

  it('differs from a lock that has the earlier form of its digest', () => {
    const { workspace, directory, now } = project()
    const files = new Map(now()[0]?.tree.files.map(({ path, digest }) => [path, digest]))
    files.set('scripts/a', sha256(`link ${target}\n${sha256('a')}`))
    const digest = treeDigest([...files])
    const skill = { path: 'skill', name: 'deploy', digest, files, executable: undefined }
    writeFiles(workspace, { '.skillrail/skills.lock.json': serializeLock([skill]) })
    expect(readLock(workspace).state).toBe('read')
    expect(lockStateOf(workspace, directory)).toBe('drifted')
  })

  it('is read back from the record of acceptances', () => {
    const { workspace, directory } = project()
    const parts = collectSkillParts(workspace, skillIn(directory))
      .filter(({ link }) => link !== undefined)
      .map(({ owner, path, kind, digest, size }) => ({ owner, path, kind, digest, size }))
    const record = [{ workspace, acceptedAt: 't', pinned: false, parts }]
    expect(parts[0]?.digest).toMatch(/^link-/)
    expect(parseTrust(serializeTrust(record), 'f')).toEqual(record)
  })
})

it('a lock refuses a path that occurs twice, for skills and for files', async () => {
  const { store, now } = project()
  const digest = treeDigest([])
  const skill = { path: 'a', name: 'a', digest, files: new Map(), executable: undefined }
  expect(() => serializeLock([skill, { ...skill, name: 'b' }])).toThrow('a is there twice')
  const [current] = now()
  if (current === undefined) throw new Error('no skill')
  const files = current.tree.files.flatMap((file) => [file, file])
  const twice = { ...current, tree: { ...current.tree, files } }
  await expect(store.write([twice])).rejects.toMatchObject({ code: 'lock-path-twice' })
})

it('a skill with a file of a terabyte has drifted without being read, and is not locked', async () => {
  const { workspace, directory, store, now } = project()
  await store.write(now())
  truncateSync(join(directory, 'references/a.md'), 2 ** 40)
  expect(lockStateOf(workspace, directory)).toBe('drifted')
  await expect(store.write(now())).rejects.toThrow('is too large to vouch for: more than 64 MiB')
})

it("a skill that is the workspace is locked without the workspace's own .git and .skillrail", async () => {
  const { workspace, store } = project()
  writeFiles(workspace, { '.git/config': '', '.skillrail/runs/a': '', 'x/.git/config': '' })
  const now = currentSkills(workspace, [{ name: 'whole', realDirectory: workspace }])
  await store.write(now)
  const paths = now[0]?.tree.files.map(({ path }) => path)
  expect(paths).toContain('x/.git/config')
  expect(paths?.filter((path) => /^\.(?:git|skillrail)\//.test(path))).toEqual([])
})
