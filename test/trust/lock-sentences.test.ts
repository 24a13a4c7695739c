import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import { currentSkills, nearestLock } from '../../src/trust/lock.ts'
import { LockStore } from '../../src/trust/lock-store.ts'
import { parseLock, readLock, serializeLock } from '../../src/trust/lock-file.ts'
import { treeDigest } from '../../src/trust/skill-files.ts'
import { trustOfMany } from '../../src/trust/skill-trust.ts'
import { runtimeIn, skillIn, temporaryDirectory, writeFiles } from './_project.ts'

const file = sha256('a')
const good = { path: 'a', name: 'a', digest: treeDigest([['f', file]]), files: { f: file } }

/** What is said of a lock of version 1 with one skill to a line, and on which line. */
function said(...skills: readonly unknown[]): unknown {
  const lines = skills.map((skill) => JSON.stringify(skill, undefined, 1).replaceAll('\n', ' '))
  const parsed = parseLock(`{"version": 1, "skills": [\n${lines.join(',\n')}\n]}`)
  return parsed.ok ? 'is read' : [parsed.problem, parsed.newer]
}

const invalid = 'has invalid paths, digests or executable files, or no name, in skill 2'

describe('a lock', () => {
  it.each([
    ['is not an object', [], 'must have the version 1 or 2', false],
    ['has no version', {}, 'must have the version 1 or 2', false],
    ['has a version in words', { version: '2' }, 'must have the version 1 or 2', false],
    ['has version 0', { version: 0 }, 'must have the version 1 or 2', false],
    ['is newer', { version: 3 }, 'has version 3; this Skillrail knows 2', true],
    ['has no list', { version: 2, skills: {} }, 'must have a list of skills', false],
  ])('is refused with a sentence if it %s', (_, value, message, newer) => {
    const parsed = parseLock(JSON.stringify(value))
    expect(parsed).toMatchObject({ ok: false, newer, problem: message })
  })

  it.each([
    ['no object', 'x', invalid],
    ['a list', [], invalid],
    ['no path', { ...good, path: 1 }, invalid],
    ['an absolute path', { ...good, path: '/a' }, invalid],
    ['a path upwards', { ...good, path: 'a/../b' }, invalid],
    ['a path with a dot', { ...good, path: './a' }, invalid],
    ['an empty path', { ...good, path: '' }, invalid],
    ['a NUL in its path', { ...good, path: 'a\0' }, invalid],
    ['no name', { ...good, name: undefined }, invalid],
    ['no files', { ...good, files: [] }, invalid],
    ['a file upwards', { ...good, files: { '../f': file } }, invalid],
    ['a file without digest', { ...good, files: { f: 'x' } }, invalid],
    ['no digest', { ...good, digest: 1 }, invalid],
    [
      'another digest',
      { ...good, digest: file },
      'has a digest that is not that of the files in skill 2',
    ],
  ])("is refused if a skill has %s, with the skill's number", (_, skill, message) => {
    expect(said({ ...good, path: 'first' }, skill)).toEqual([message, false])
  })

  it('is refused if a path occurs twice, and read without the second one', () => {
    expect(said(good, { ...good, name: 'b' })).toEqual(['has the path of skill 2 twice', false])
    expect(said(good, { ...good, path: 'b' })).toBe('is read')
    expect(said({ ...good, path: '.' })).toBe('is read')
  })

  it('is written in the order of paths, whatever the input order is', () => {
    const files = new Map([
      ['z', file],
      ['b', file],
    ])
    const skills = ['c', 'a', 'b'].map((path) => {
      return { path, name: path, digest: treeDigest([...files]), files, executable: undefined }
    })
    const written = serializeLock(skills)
    expect(written).toBe(serializeLock(skills.toReversed()))
    expect(written.indexOf('"a"')).toBeLessThan(written.indexOf('"c"'))
    expect(written.indexOf('"b":')).toBeLessThan(written.indexOf('"z":'))
    expect(() => serializeLock([...skills, ...skills])).toThrow(
      'is there twice, so nothing was locked',
    )
  })

  it('reports that .skillrail is a file', () => {
    const workspace = temporaryDirectory()
    writeFiles(workspace, { '.skillrail': 'x' })
    expect(readLock(workspace)).toMatchObject({
      state: 'unreadable',
      diagnostics: [
        {
          code: 'lock-directory',
          message: `${join(workspace, '.skillrail')} is not a directory, so there can be no lock file in it`,
        },
      ],
    })
  })

  it('reports a link or an unreadable file, with a hint', () => {
    const workspace = temporaryDirectory()
    writeFiles(workspace, { elsewhere: '{}', '.skillrail/x': '' })
    const path = join(workspace, '.skillrail/skills.lock.json')
    symlinkSync(join(workspace, 'elsewhere'), path)
    expect(readLock(workspace)).toMatchObject({
      state: 'unreadable',
      diagnostics: [{ code: 'lock-file-link', message: `${path} is reached through a link` }],
    })
    const other = temporaryDirectory()
    mkdirSync(join(other, '.skillrail/skills.lock.json'), { recursive: true })
    const [problem] = diagnosticsOf(readLock(other))
    expect(problem).toMatchObject({
      code: 'lock-file-unreadable',
      message: expect.stringContaining('skills.lock.json'),
      hint: expect.stringContaining('Fix it or take it from version control again'),
    })
  })

  it('has another hint for a newer version', () => {
    const workspace = temporaryDirectory()
    writeFiles(workspace, { '.skillrail/skills.lock.json': '{"version": 9, "skills": []}' })
    const [problem] = diagnosticsOf(readLock(workspace))
    expect(problem).toMatchObject({
      code: 'lock-file-newer',
      message: 'the lock file has version 9; this Skillrail knows 2',
      hint: 'Use the newer Skillrail; the file was not touched.',
    })
  })
})

function diagnosticsOf(reading: ReturnType<typeof readLock>): readonly object[] {
  return reading.state === 'unreadable' ? reading.diagnostics : []
}

/** A locked project with one skill. */
async function locked() {
  const root = temporaryDirectory()
  const workspace = join(root, 'project')
  const runtime = runtimeIn(root)
  writeFiles(workspace, { 'skills/a/SKILL.md': '---\nname: a\ndescription: A.\n---\n' })
  const skill = { name: 'a', realDirectory: join(workspace, 'skills/a') }
  const store = new LockStore(runtime, workspace)
  const current = () => currentSkills(workspace, [skill])
  await store.write(current())
  return { root, workspace, runtime, store, current, skill }
}

describe('the lock of a folder above', () => {
  it('is named for a project without a lock, and not for its own project', async () => {
    const { workspace } = await locked()
    const inner = join(workspace, 'deep/inner')
    mkdirSync(inner, { recursive: true })
    expect(nearestLock(inner)).toMatchObject({ place: workspace, reading: { state: 'read' } })
    expect(nearestLock(workspace).place).toBe(workspace)
    expect(nearestLock(temporaryDirectory()).reading.state).toBe('none')
  })

  it('decides the level of each skill below its folder', async () => {
    const { workspace, runtime } = await locked()
    const skill = skillIn(join(workspace, 'skills/a'))
    const level = trustOfMany(runtime, { workspace, workspaceTrust: 'trusted', trustedPaths: [] })
    expect(level(skill)).toMatchObject({ level: 'trusted' })
    writeFiles(workspace, { 'skills/a/SKILL.md': '---\nname: a\ndescription: B.\n---\n' })
    expect(level(skill)).toMatchObject({
      level: 'untrusted',
      hint: expect.stringContaining('skillrail trust'),
    })
  })
})

describe('the data that a user keeps about a lock', () => {
  it('are its texts and its existence, until the lock is removed', async () => {
    const { store, current, workspace } = await locked()
    const [{ tree } = { tree: { files: [] } }] = current()
    const [digest = ''] = tree.files.map((each) => each.digest)
    expect(store.wasLocked()).toBe(true)
    expect(store.texts.read(digest)).toContain('description: A.')
    expect(await store.remove()).toBe(true)
    expect(existsSync(store.path)).toBe(false)
    expect([store.wasLocked(), store.texts.read(digest)]).toEqual([false, undefined])
    expect(await store.remove()).toBe(false)
    await store.keep(current())
    expect(store.texts.read(digest)).toContain('description: A.')
    expect(existsSync(join(workspace, '.skillrail/skills.lock.json'))).toBe(false)
  })

  it('are readable by the user alone, and name the project', async () => {
    const { root, workspace } = await locked()
    const marks = join(root, 'home/.local/state/skillrail/trust-lock')
    const [mark = ''] = readdirSync(marks).filter((name) => name.endsWith('.locked'))
    expect(mark).toMatch(/^[0-9a-f]{32}\.locked$/)
    expect(readFileSync(join(marks, mark), 'utf8')).toBe(`${workspace}\n`)
    expect(statSync(join(marks, mark)).mode & 0o777).toBe(0o600)
  })

  it('contain no text that seems to contain a secret', async () => {
    const { store, current, workspace } = await locked()
    const secret = ['gh', 'p_', 'q7R8'.repeat(9)].join('')
    writeFiles(workspace, { 'skills/a/notes.md': `The key is ${secret}\n` })
    await store.write(current())
    const digest = sha256(`The key is ${secret}\n`)
    expect(store.texts.read(digest)).toBeUndefined()
  })

  it.each([
    ['a lock that cannot be read', '{', 'the lock was not touched: the lock file is not JSON'],
    ['a newer one', '{"version": 9}', 'the lock was not touched: the lock file has version 9'],
  ])('are not written over %s', async (_, text, message) => {
    const { store, current } = await locked()
    writeFileSync(store.path, text)
    await expect(store.write(current())).rejects.toMatchObject({
      code: 'lock-file-unreadable',
      message: expect.stringContaining(message),
      hint: expect.stringContaining('skillrail trust --unlock removes it'),
    })
    expect(readFileSync(store.path, 'utf8')).toBe(text)
  })

  it('are not written through a link in the place of .skillrail', async () => {
    const root = temporaryDirectory()
    const workspace = join(root, 'project')
    writeFiles(workspace, { 'skills/a/SKILL.md': 'x' })
    mkdirSync(join(root, 'other'))
    symlinkSync(join(root, 'other'), join(workspace, '.skillrail'))
    const store = new LockStore(runtimeIn(root), workspace)
    await expect(store.remove()).rejects.toMatchObject({
      code: 'lock-file-link',
      message: expect.stringContaining(`is a link to ${join(root, 'other')}`),
      hint: 'Put a directory in the place of the link.',
    })
  })
})
