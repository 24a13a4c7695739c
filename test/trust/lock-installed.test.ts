import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import {
  gitTreeHash,
  installedStates,
  readInstalledLock,
  readUserInstalledLock,
  userSkillDirectory,
} from '../../src/trust/installed-lock.ts'
import { temporaryDirectory, writeFiles } from './_project.ts'

// Made by skills 1.7.4, `skills add ./pack -a codex`, from the files below.
const recorded = 'e5fb81deda80974207f877c39a970906793d2ff388b29484447d4ca763fce52a'
const files = {
  'SKILL.md': '---\nname: alpha\ndescription: Alpha. Use when asked.\n---\nDo it.\n',
  'scripts/run.sh': 'echo a\n',
  'A.txt': 'x\n',
  'b.txt': 'y\n',
  '_c.txt': 'z\n',
  'ä.txt': 'ü\n',
}

function installed(lock: unknown = { version: 1, skills: { alpha: { computedHash: recorded } } }) {
  const project = temporaryDirectory()
  const directory = join(project, '.agents/skills/alpha')
  writeFiles(directory, files)
  const text = typeof lock === 'string' ? lock : JSON.stringify(lock, undefined, 2)
  writeFiles(project, { 'skills-lock.json': text })
  const reading = () => readInstalledLock(project)
  const states = (...directories: string[]) =>
    installedStates(reading().skills, directories.length === 0 ? [directory] : directories)
  return { project, directory, reading, states }
}

describe('skills-lock.json', () => {
  it('has the hash that the skills command gave, in its own order of files', () => {
    const { states } = installed()
    expect(states()).toMatchObject([{ name: 'alpha', state: 'same' }])
  })

  it('does not count what the command does not: links, .git, node_modules', () => {
    const { directory, states } = installed()
    writeFiles(directory, { '.git/config': 'x', 'node_modules/x/index.js': 'x' })
    symlinkSync('b.txt', join(directory, 'link.txt'))
    expect(states()).toMatchObject([{ state: 'same' }])
  })

  it.each([
    ['one byte', (directory: string) => writeFileSync(join(directory, 'b.txt'), 'Y\n')],
    ['a file more', (directory: string) => writeFileSync(join(directory, 'new.txt'), '')],
    ['a file less', (directory: string) => rmSync(join(directory, '_c.txt'))],
  ])('says that a skill is not as installed: %s', (_, change) => {
    const { directory, states } = installed()
    change(directory)
    expect(states()).toMatchObject([{ state: 'changed', directories: [directory] }])
  })

  it('compares every copy, finds a skill by the name of its directory, and misses one that is gone', () => {
    const { project, directory, states } = installed({
      version: 1,
      skills: { 'Al pha!': { source: 'a/b', computedHash: recorded } },
    })
    expect(states()).toMatchObject([{ state: 'missing', source: 'a/b', directories: [] }])
    const copies = ['.claude', '.codex'].map((place) => join(project, place, 'skills/al-pha'))
    for (const copy of copies) writeFiles(copy, files)
    expect(states(directory, ...copies)).toMatchObject([{ state: 'same', directories: copies }])
    writeFiles(copies[1] ?? '', { 'b.txt': 'other' })
    expect(states(directory, ...copies)).toMatchObject([
      { state: 'changed', directories: [copies[1]] },
    ])
  })

  it.skipIf(process.getuid?.() === 0)('says why a copy cannot be read', () => {
    const { directory, states } = installed()
    chmodSync(join(directory, 'b.txt'), 0)
    expect(states()).toMatchObject([{ state: 'changed', problem: 'b.txt cannot be read: EACCES' }])
  })

  it.each([
    ['a newer version', { version: 2, skills: {} }, 'installed-lock-version', 2],
    ['no version', { skills: {} }, 'installed-lock-version', 1],
    ['no skills', { version: 1, skills: [] }, 'installed-lock-corrupt', 3],
    ['no JSON', '{\n"version": 1', 'installed-lock-corrupt', 2],
    ['a name twice', '{"version": 1, "skills": {"a": {},\n"a": {}}}', 'installed-lock-corrupt', 2],
  ])('with %s is a diagnostic with its line', (_, lock, code, line) => {
    expect(installed(lock).reading()).toMatchObject({
      state: 'unreadable',
      skills: [],
      diagnostics: [{ code, line, severity: 'error' }],
    })
  })

  it('loses only the entry that has no hash', () => {
    const { reading } = installed(
      `{"version": 1, "skills": {"alpha": {"computedHash": "${recorded}"},\n"beta": {"computedHash": "../x"},\n"__proto__": {"computedHash": "${recorded}"}}}`,
    )
    const { skills, diagnostics } = reading()
    expect(skills.map(({ name }) => name)).toEqual(['__proto__', 'alpha'])
    expect(diagnostics).toMatchObject([{ code: 'installed-lock-entry', line: 2 }])
  })

  it('is none where there is none, and unreadable where it is a link', () => {
    const { project, reading } = installed()
    const path = join(project, 'skills-lock.json')
    rmSync(path)
    expect(reading()).toMatchObject({ state: 'none', diagnostics: [] })
    writeFiles(project, { 'other.json': sha256('x') })
    symlinkSync('other.json', path)
    expect(reading()).toMatchObject({ state: 'unreadable' })
    rmSync(path)
    mkdirSync(path)
    expect(reading()).toMatchObject({ state: 'unreadable' })
  })
})

describe('.skill-lock.json, of what a user installed for all projects', () => {
  // `git rev-parse HEAD:alpha` of a repository with the files below.
  const tree = 'd8e7749dfc439ca40ea1a177ba0b3bc3008e15ac'

  function installedFor(entry: object, env: Record<string, string> = {}) {
    const home = temporaryDirectory()
    const directory = userSkillDirectory('alpha', { home })
    writeFiles(directory, files)
    chmodSync(join(directory, 'scripts/run.sh'), 0o755)
    writeFiles(directory, { 'scripts/lib/x.sh': 'y\n', 'scripts.md': 's\n' })
    symlinkSync('scripts.md', join(directory, 'link'))
    mkdirSync(join(directory, 'empty/below'), { recursive: true })
    writeFiles(directory, { '.git/config': 'x' })
    const state = env['XDG_STATE_HOME']
    const place = state === undefined ? join(home, '.agents') : join(state, 'skills')
    const lock = { version: 3, skills: { alpha: { source: 'a/b', ...entry } }, dismissed: {} }
    writeFiles(place, { '.skill-lock.json': JSON.stringify(lock) })
    const reading = () => readUserInstalledLock({ home, env })
    const states = () => installedStates(reading().skills, [directory])
    return { directory, reading, states }
  }

  it('has the name that Git gives the tree of a skill', () => {
    const { directory, states } = installedFor({ skillFolderHash: tree })
    expect(states()).toMatchObject([{ name: 'alpha', source: 'a/b', state: 'same' }])
    chmodSync(join(directory, 'scripts/run.sh'), 0o644)
    expect(states()).toMatchObject([{ state: 'changed', directories: [directory] }])
    chmodSync(join(directory, 'scripts/run.sh'), 0o755)
    writeFileSync(join(directory, 'b.txt'), 'Y\n')
    expect(states()).toMatchObject([{ state: 'changed' }])
  })

  it('lies in the state directory where that is set, and may have no hash of a skill', () => {
    const { states, reading } = installedFor(
      { skillFolderHash: '' },
      { XDG_STATE_HOME: temporaryDirectory() },
    )
    expect(reading()).toMatchObject({ state: 'read', diagnostics: [] })
    expect(states()).toMatchObject([{ state: 'unrecorded' }])
  })

  it('has the hash of the files where there was no tree', () => {
    const { states } = installedFor({ skillFolderHash: recorded })
    expect(states()).toMatchObject([{ state: 'changed' }])
  })

  it('is a diagnostic where an entry cannot be read', () => {
    const { reading } = installedFor({ skillFolderHash: 'main' })
    expect(reading()).toMatchObject({
      skills: [],
      diagnostics: [{ code: 'installed-lock-entry', message: expect.stringContaining('64 or 40') }],
    })
  })

  it('counts bytes and entries of a tree, and stops at the limit', () => {
    const { directory } = installedFor({ skillFolderHash: tree })
    expect(gitTreeHash(directory, { entries: 3, bytes: 1000 })).toEqual({
      ok: false,
      problem: 'has more than 3 entries',
    })
    expect(gitTreeHash(directory, { entries: 100, bytes: 0 })).toMatchObject({ ok: false })
    expect(gitTreeHash(join(directory, 'none'), { entries: 1, bytes: 1 })).toEqual({
      ok: false,
      problem: 'cannot be listed: ENOENT',
    })
  })
})
