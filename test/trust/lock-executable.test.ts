import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import { currentSkills, lockDrift, lockStateOf } from '../../src/trust/lock.ts'
import { LockStore } from '../../src/trust/lock-store.ts'
import { parseLock, readLock, serializeLock } from '../../src/trust/lock-file.ts'
import { treeDigest } from '../../src/trust/skill-files.ts'
import { runtimeIn, temporaryDirectory, writeFiles } from './_project.ts'

const text = 'text\n'

function project() {
  const root = temporaryDirectory()
  const workspace = join(root, 'project')
  const directory = join(workspace, 'skill')
  writeFiles(directory, { 'SKILL.md': text, 'data.csv': text, 'scripts/run.sh': text })
  chmodSync(join(directory, 'scripts/run.sh'), 0o755)
  const store = new LockStore(runtimeIn(root), workspace)
  const now = () => currentSkills(workspace, [{ name: 'deploy', realDirectory: directory }])
  const drift = () => {
    const reading = readLock(workspace)
    if (reading.state !== 'read') throw new Error(reading.state)
    return lockDrift(workspace, reading.skills, now())
  }
  const state = () => lockStateOf(workspace, directory)
  return { workspace, directory, store, now, drift, state }
}

function onWindows(): void {
  const own = process.platform
  Object.defineProperty(process, 'platform', { value: 'win32' })
  onTestFinished(() => {
    Object.defineProperty(process, 'platform', { value: own })
  })
}

describe.skipIf(process.platform === 'win32')('a lock', () => {
  it('records which files may be executed, and reports a changed bit', async () => {
    const { directory, store, now, drift, state } = project()
    await store.write(now())
    expect(JSON.parse(readFileSync(store.path, 'utf8'))).toMatchObject({
      version: 2,
      skills: [{ executable: ['scripts/run.sh'] }],
    })
    expect(state()).toBeUndefined()
    chmodSync(join(directory, 'data.csv'), 0o755)
    chmodSync(join(directory, 'scripts/run.sh'), 0o644)
    writeFiles(directory, { 'new.txt': text })
    chmodSync(join(directory, 'new.txt'), 0o755)
    expect(state()).toBe('drifted')
    expect(drift()).toMatchObject([
      {
        files: [
          { change: 'changed', path: 'data.csv', executable: true },
          { change: 'added', path: 'new.txt', executable: true },
          { change: 'changed', path: 'scripts/run.sh', executable: false },
        ],
      },
    ])
  })

  it('does not depend on the umask of a checkout', async () => {
    const { directory, store, now, state } = project()
    await store.write(now())
    chmodSync(join(directory, 'scripts/run.sh'), 0o700)
    chmodSync(join(directory, 'data.csv'), 0o600)
    expect(state()).toBeUndefined()
  })

  it('compares only contents in version 1', () => {
    const { workspace, directory, drift, state } = project()
    const files = Object.fromEntries(
      ['SKILL.md', 'data.csv', 'scripts/run.sh'].map((path) => [path, sha256(text)]),
    )
    const digest = treeDigest(Object.entries(files))
    const lock = { version: 1, skills: [{ path: 'skill', name: 'deploy', digest, files }] }
    writeFiles(workspace, { '.skillrail/skills.lock.json': JSON.stringify(lock) })
    expect(drift()).toEqual([])
    chmodSync(join(directory, 'data.csv'), 0o755)
    expect(state()).toBeUndefined()
    writeFileSync(join(directory, 'data.csv'), 'more')
    expect(state()).toBe('drifted')
  })

  it('compares only contents on Windows, where it records no executable files', async () => {
    const { directory, store, now, state } = project()
    await store.write(now())
    onWindows()
    chmodSync(join(directory, 'scripts/run.sh'), 0o644)
    expect(state()).toBeUndefined()
    await store.write(now())
    expect(readFileSync(store.path, 'utf8')).not.toContain('executable')
  })

  it.each([
    ['no list', '"scripts/run.sh"'],
    ['a path that is none of its files', '["other"]'],
    ['a path twice', '["a", "a"]'],
    ['no path', '[1]'],
    ['other paths than its digest has', '[]'],
  ])('is unreadable with %s as executable files, and the error has the line', (_, executable) => {
    const digest = treeDigest([['a', sha256('a')]], ['a'])
    const parsed = parseLock(
      `{"version": 2, "skills": [{"path": "a", "name": "a",\n"digest": "${digest}",\n"executable": ${executable},\n"files": {"a": "${sha256('a')}"}}]}`,
    )
    expect(parsed).toMatchObject({ ok: false, problem: expect.stringContaining('skill 1') })
  })

  it('is read or refused, whatever it contains as executable files', () => {
    const files = { a: sha256('a') }
    fc.assert(
      fc.property(fc.jsonValue(), (executable) => {
        const digest = treeDigest(Object.entries(files), ['a'])
        const skills = [{ path: 'a', name: 'a', digest, executable, files }]
        const parsed = parseLock(JSON.stringify({ version: 2, skills }))
        const isRight = JSON.stringify(executable) === '["a"]'
        expect(parsed.ok ? isRight : parsed.problem !== '').toBe(true)
      }),
      { examples: [[['a']], [[['a']]], [null]] },
    )
  })

  it('is read back as written, whichever files may be executed', () => {
    const path = fc.stringMatching(/^[a-z_]{1,6}(?:\/[a-z.]{3,6})?$/)
    const skill = fc.uniqueArray(path, { minLength: 1 }).chain((paths) =>
      fc.record({
        paths: fc.constant(paths),
        executable: fc.option(fc.subarray(paths), { nil: undefined }),
      }),
    )
    fc.assert(
      fc.property(skill, ({ paths, executable }) => {
        const files = new Map(paths.map((each) => [each, sha256(each)]))
        const bits = executable && new Set(executable)
        const digest = treeDigest([...files], bits)
        const locked = { path: 'a', name: 'a', digest, files, executable: bits }
        const parsed = parseLock(serializeLock([locked]))
        expect(parsed.ok && parsed.skills.get('a')).toEqual(locked)
      }),
    )
  })
})
