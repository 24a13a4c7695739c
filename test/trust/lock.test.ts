import {
  chmodSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import { currentSkills, lockDrift, lockReadOnce } from '../../src/trust/lock.ts'
import { LockStore } from '../../src/trust/lock-store.ts'
import { parseLock, readLock } from '../../src/trust/lock-file.ts'
import { runtimeIn, temporaryDirectory, writeFiles } from './_project.ts'

const skill = '.claude/skills/deploy'
const document = '---\nname: deploy\ndescription: Deploys. Use when asked to.\n---\nDo it.\n'
const digest = sha256('a file')

function project(files: Readonly<Record<string, string>> = {}) {
  const root = temporaryDirectory()
  const workspace = join(root, 'project')
  writeFiles(workspace, { [`${skill}/SKILL.md`]: document, ...files })
  const store = new LockStore(runtimeIn(root), workspace)
  const now = (...paths: string[]) =>
    currentSkills(
      workspace,
      (paths.length === 0 ? [skill] : paths).map((path) => ({
        name: path.split('/').at(-1) ?? '',
        realDirectory: realpathSync(join(workspace, path)),
      })),
    )
  const drift = (...paths: string[]) => {
    const reading = readLock(workspace)
    if (reading.state !== 'read') throw new Error(reading.state)
    return lockDrift(workspace, reading.skills, now(...paths))
  }
  return { root, workspace, store, now, drift, directory: join(workspace, skill) }
}

describe('a lock', () => {
  it('is unreadable, not missing, if its folder cannot be read', () => {
    const { workspace } = project()
    expect(readLock(join(workspace, 'no such place')).state).toBe('none')
    expect(readLock(join(workspace, 'x'.repeat(300))).state).toBe('unreadable')
  })

  it('is read when a plan first needs it, and then stays the same', async () => {
    const { workspace, store, now } = project()
    const lockOf = lockReadOnce(workspace)
    await store.write(now())
    const lock = lockOf()
    expect(lock).toMatchObject({ place: workspace, reading: { state: 'read' } })
    writeFileSync(store.path, 'broken')
    expect(lockOf()).toBe(lock)
    expect(lockReadOnce(workspace)().reading.state).toBe('unreadable')
  })

  it('contains every file of a skill, text too, and is the same file for the same skills', async () => {
    const { workspace, store, now } = project({
      [`${skill}/references/guide.md`]: 'A guide.\n',
      '.git/config': 'of the workspace',
      '.agents/skills/other/SKILL.md': document,
    })
    await store.write(now(skill, '.agents/skills/other'))
    const text = readFileSync(store.path, 'utf8')
    expect(JSON.parse(text)).toMatchObject({
      version: 2,
      skills: [
        { path: '.agents/skills/other' },
        {
          path: skill,
          name: 'deploy',
          digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
          files: { 'SKILL.md': sha256(document), 'references/guide.md': sha256('A guide.\n') },
        },
      ],
    })
    expect(store.path).toBe(join(workspace, '.skillrail/skills.lock.json'))
    await store.write(now('.agents/skills/other', skill))
    expect(readFileSync(store.path, 'utf8')).toBe(text)
  })

  it('reports which files of which skills changed, were added or removed', async () => {
    const { store, now, drift, directory } = project({
      [`${skill}/a.txt`]: 'a',
      [`${skill}/b.txt`]: 'b',
      '.claude/skills/gone/SKILL.md': document,
    })
    await store.write(now(skill, '.claude/skills/gone'))
    writeFileSync(join(directory, 'a.txt'), 'A')
    renameSync(join(directory, 'b.txt'), join(directory, 'c.txt'))
    rmSync(join(directory, '../gone'), { recursive: true })
    writeFiles(join(directory, '../fresh'), { 'SKILL.md': document })
    expect(drift(skill, '.claude/skills/fresh')).toMatchObject([
      {
        change: 'changed',
        path: skill,
        files: [
          { change: 'changed', path: 'a.txt', locked: sha256('a'), file: { text: 'A' } },
          { change: 'removed', path: 'b.txt', locked: sha256('b') },
          { change: 'added', path: 'c.txt', file: { text: 'b' } },
        ],
      },
      { change: 'added', path: '.claude/skills/fresh', files: [{ path: 'SKILL.md' }] },
      { change: 'removed', path: '.claude/skills/gone', files: [] },
    ])
  })

  it('compares a locked skill at its locked path, even if discovery missed it', async () => {
    const { workspace, store, now, drift } = project({
      'sub/.claude/skills/far/SKILL.md': document,
    })
    const far = 'sub/.claude/skills/far'
    await store.write(now(skill, far))
    expect(drift(skill)).toEqual([])
    writeFileSync(join(workspace, far, 'SKILL.md'), 'no frontmatter any more')
    expect(drift(skill)).toMatchObject([{ change: 'changed', path: far }])
  })

  it('does not accept a link in the place of a locked directory', async () => {
    const { workspace, store, now, drift, directory } = project()
    await store.write(now())
    renameSync(directory, join(workspace, 'elsewhere'))
    symlinkSync(join(workspace, 'elsewhere'), directory)
    expect(drift('elsewhere')).toMatchObject([
      { change: 'changed', path: skill, problem: 'is reached through a link' },
      { change: 'added', path: 'elsewhere' },
    ])
  })

  it('leaves out itself and the files of runs if the workspace is a skill', async () => {
    const { workspace, store, now, drift } = project({ 'SKILL.md': document })
    await store.write(now('.'))
    writeFiles(workspace, { '.skillrail/runs/one.jsonl': '{}' })
    expect(drift('.')).toEqual([])
    writeFileSync(join(workspace, 'more.md'), '')
    expect(drift('.')).toMatchObject([{ path: '.', files: [{ path: 'more.md' }] }])
  })

  it('keeps texts for the user while they are needed, except texts with a secret', async () => {
    const secret = `token = "${['ghp', 'a1B2'.repeat(9)].join('_')}"\n`
    const { store, now, directory } = project({ [`${skill}/secret.txt`]: secret })
    await store.write(now())
    expect(store.texts.read(sha256(document))).toBe(document)
    expect(store.texts.read(sha256(secret))).toBeUndefined()
    writeFileSync(join(directory, 'SKILL.md'), 'changed')
    await store.write(now())
    expect(store.texts.read(sha256(document))).toBeUndefined()
    expect(await store.remove()).toBe(true)
    expect(store.texts.read(sha256('changed'))).toBeUndefined()
    expect(await store.remove()).toBe(false)
  })

  it('refuses a skill with a file that cannot be verified', async () => {
    const { store, now, directory } = project()
    symlinkSync('a', join(directory, 'b'))
    symlinkSync('b', join(directory, 'a'))
    await store.write(now())
    rmSync(join(directory, 'a'))
    mkdirSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xff, 0xfe])]))
    await expect(store.write(now())).rejects.toMatchObject({
      code: 'lock-skill-unreadable',
      message: expect.stringContaining('has a name that is not UTF-8'),
    })
  })
})

const byte = fc.integer({ min: 0, max: 255 })
const name = fc.stringMatching(/^[a-z_]{1,8}$/).filter((each) => !each.startsWith('skill'))
const tree = fc.dictionary(
  fc.oneof(
    name,
    fc.tuple(name, name).map(([a, b]) => `${a}.d/${b}`),
    fc.constant('__proto__'),
  ),
  fc.uint8Array({ minLength: 1, maxLength: 64 }),
  { minKeys: 1, maxKeys: 6 },
)

const bits = process.platform !== 'win32'

describe('a lock and any change of a skill', () => {
  it(
    'differ, for one byte and for an added, removed, renamed or executable file',
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          tree,
          fc.constantFrom('byte', 'add', 'remove', 'rename', ...(bits ? ['bit'] : [])),
          fc.nat(),
          fc.nat(),
          byte.filter((each) => each !== 0),
          async (files, kind, which, where, flip) => {
            const { store, now, drift, directory } = project()
            for (const [path, bytes] of Object.entries(files)) {
              mkdirSync(join(directory, path, '..'), { recursive: true })
              writeFileSync(join(directory, path), bytes)
            }
            await store.write(now())
            expect(drift()).toEqual([])
            const paths = Object.keys(files)
            const path = paths[which % paths.length] ?? ''
            const place = join(directory, path)
            if (kind === 'byte') {
              const bytes = readFileSync(place)
              const at = where % bytes.length
              bytes[at] = (bytes[at] ?? 0) ^ flip
              writeFileSync(place, bytes)
            } else if (kind === 'add') writeFileSync(join(directory, 'skill-added'), '')
            else if (kind === 'remove') rmSync(place)
            else if (kind === 'bit') chmodSync(place, 0o755)
            else renameSync(place, `${place}-renamed`)
            const changed = kind === 'add' ? 'skill-added' : path
            expect(drift()[0]?.files.map((file) => file.path)).toContain(changed)
            rmSync(join(directory, '../../../..'), { recursive: true, force: true })
          },
        ),
        { numRuns: 60 },
      )
    },
  )
})

describe('a lock file that another program wrote', () => {
  const entry = (path: string, files: string, over = sha256(`${digest} SKILL.md\0`)) =>
    `{"version": 1,\n "skills": [\n  {"path": ${JSON.stringify(path)}, "name": "x", "digest": "${over}",\n   "files": ${files}}]}`
  const good = `{"SKILL.md": "${digest}"}`

  it.each([
    ['no JSON', '{"version": 1,\n  oops}', 'lock-file-corrupt'],
    ['a list', '[]', 'lock-file-corrupt'],
    ['a newer one', '{\n"version": 3, "skills": "new"}', 'lock-file-newer'],
    ['no version', '{"skills": []}', 'lock-file-corrupt'],
    ['no list of skills', '{"version": 1,\n"skills": {}}', 'lock-file-corrupt'],
    ['an absolute path', entry('/etc', good), 'lock-file-corrupt'],
    ['a path that leaves', entry('a/../../b', good), 'lock-file-corrupt'],
    ['a path spelled twice', entry('a//b', good), 'lock-file-corrupt'],
    ['a file that leaves', entry('a', `{"../x": "${digest}"}`), 'lock-file-corrupt'],
    ['a NUL in a name', entry('a', `{"x\\u0000y": "${digest}"}`), 'lock-file-corrupt'],
    ['no digest', entry('a', '{"SKILL.md": "md5:1"}'), 'lock-file-corrupt'],
    ['a digest of other files', entry('a', good, digest), 'lock-file-corrupt'],
    [
      'a key twice',
      entry('a', `{"SKILL.md": "${digest}", "SKILL\\u002emd": "${digest}"}`),
      'lock-file-corrupt',
    ],
    ['a conflict of versions', `<<<<<<< HEAD\n${entry('a', good)}`, 'lock-file-corrupt'],
    [
      'deep nesting',
      `{"version": 1, "x":\n${'['.repeat(1e5)}${']'.repeat(1e5)}}`,
      'lock-file-corrupt',
    ],
    ['deep nesting without an end', '['.repeat(1e5), 'lock-file-corrupt'],
  ])('is unreadable with %s, and stays unchanged', async (_, text, code) => {
    const { workspace, store, now } = project()
    writeFiles(workspace, { '.skillrail/skills.lock.json': text })
    expect(readLock(workspace)).toMatchObject({
      state: 'unreadable',
      diagnostics: [{ code, severity: 'error', path: store.path }],
    })
    await expect(store.write(now())).rejects.toMatchObject({ code: 'lock-file-unreadable' })
    expect(readFileSync(store.path, 'utf8')).toBe(text)
  })

  it('is unreadable if a path occurs twice', () => {
    const { workspace } = project()
    const [one] = /\{"path"[^]*\}\}/.exec(entry('a', good)) ?? []
    writeFiles(workspace, {
      '.skillrail/skills.lock.json': `{"version": 1, "skills": [${one},\n${one}]}`,
    })
    expect(readLock(workspace)).toMatchObject({ diagnostics: [{ code: 'lock-file-corrupt' }] })
  })

  it('is read with names such as __proto__', () => {
    const { workspace } = project()
    const over = sha256([`${digest} __proto__\0`, `${digest} constructor\0`].join(''))
    writeFiles(workspace, {
      '.skillrail/skills.lock.json': entry(
        '__proto__',
        `{"__proto__": "${digest}", "constructor": "${digest}"}`,
        over,
      ),
    })
    const reading = readLock(workspace)
    const found = reading.state === 'read' ? reading.skills.get('__proto__') : undefined
    expect([...(found?.files.keys() ?? [])]).toEqual(['__proto__', 'constructor'])
    expect(Object.prototype).not.toHaveProperty('name')
  })

  it('is read with 100,000 skills', { timeout: 120_000 }, () => {
    const { workspace, drift } = project()
    const over = sha256(`${digest} SKILL.md\0`)
    const skills = Array.from({ length: 100_000 }, (_, index) => {
      return { path: `skills/${index}`, name: 'x', digest: over, files: { 'SKILL.md': digest } }
    })
    writeFiles(workspace, { '.skillrail/skills.lock.json': JSON.stringify({ version: 1, skills }) })
    const changes = drift()
    expect(changes).toHaveLength(100_001)
    expect(changes.at(0)).toMatchObject({ change: 'added', path: skill })
  })

  it('is unreadable if it is a link, and nothing is written through the link', async () => {
    const { root, workspace, store, now } = project()
    await store.write(now())
    const outside = join(root, 'outside.json')
    renameSync(store.path, outside)
    symlinkSync(outside, store.path)
    await refusesToWrite({ workspace, store, now, outside })
  })

  it('is unreadable if it is a link to nothing', () => {
    const { workspace } = project({ '.skillrail/config.json': '{}' })
    symlinkSync('nowhere', join(workspace, '.skillrail/skills.lock.json'))
    expect(readLock(workspace)).toMatchObject({ diagnostics: [{ code: 'lock-file-link' }] })
  })

  it('is unreadable below a link, and nothing is written there', async () => {
    const { root, workspace, store, now } = project()
    await store.write(now())
    const outside = join(root, 'outside')
    renameSync(join(workspace, '.skillrail'), outside)
    symlinkSync(outside, join(workspace, '.skillrail'))
    await refusesToWrite({ workspace, store, now, outside: join(outside, 'skills.lock.json') })
    rmSync(join(outside, 'skills.lock.json'))
    await expect(store.write(now())).rejects.toThrow('is a link to')
    await expect(store.remove()).rejects.toThrow('is a link to')
  })

  async function refusesToWrite({
    workspace,
    store,
    now,
    outside,
  }: Pick<ReturnType<typeof project>, 'workspace' | 'store' | 'now'> & { outside: string }) {
    const before = readFileSync(outside, 'utf8')
    expect(readLock(workspace)).toMatchObject({
      state: 'unreadable',
      diagnostics: [{ code: 'lock-file-link' }],
    })
    writeFiles(workspace, { [`${skill}/more.md`]: '' })
    await expect(store.write(now())).rejects.toThrow('the lock was not touched')
    expect(readFileSync(outside, 'utf8')).toBe(before)
  }

  it('is unreadable if it is a directory', () => {
    const { workspace } = project({ '.skillrail/skills.lock.json/x': '' })
    expect(readLock(workspace)).toMatchObject({ state: 'unreadable' })
  })
})

it('text that is not JSON is refused in linear time', () => {
  const quotes = '"\\"'.repeat(1_000_000)
  expect(parseLock(`{"a":1,${quotes}`)).toMatchObject({ ok: false, problem: 'is not JSON' })
})

it('any text is read as a lock or refused', () => {
  const pieces = fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', ' ', '1', 'a', '\n')
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      const parsed = parseLock(parts.join(''))
      expect(parsed.ok || parsed.problem !== '').toBe(true)
    }),
  )
})
