import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isInside, readRegularFile, resolveInside } from '../../src/core/read-files.ts'
import { userDirectories } from '../../src/core/runtime.ts'

let directory: string

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-files-')))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

describe('readRegularFile', () => {
  it('reads text and its size', () => {
    const path = join(directory, 'file')
    writeFileSync(path, 'Grüße')
    expect(readRegularFile(path, { maxBytes: 7 })).toMatchObject({
      ok: true,
      text: 'Grüße',
      size: 7,
    })
  })

  it('leaves a byte-order mark out of the text, unless the caller keeps it', () => {
    const path = join(directory, 'file')
    writeFileSync(path, '\ufeff{}')
    expect(readRegularFile(path, { maxBytes: 9 })).toMatchObject({ text: '{}', size: 5 })
    expect(readRegularFile(path, { maxBytes: 9, keepMark: true })).toMatchObject({
      text: '\ufeff{}',
    })
  })

  it.runIf(process.platform !== 'win32')('does not wait on a FIFO', () => {
    const path = join(directory, 'fifo')
    execFileSync('mkfifo', [path])
    expect(readRegularFile(path, { maxBytes: 10 })).toMatchObject({ code: 'file-not-regular' })
  })

  it.each([
    ['missing', 'file-missing'],
    ['file/below', 'file-missing'],
    ['folder', 'file-not-regular'],
    ['large', 'file-too-large'],
    ['latin1', 'file-not-utf8'],
    ['loop', 'file-not-regular'],
  ])('reports %s with the code %s', (name, code) => {
    writeFileSync(join(directory, 'file'), 'x')
    mkdirSync(join(directory, 'folder'))
    writeFileSync(join(directory, 'large'), 'x'.repeat(101))
    writeFileSync(join(directory, 'latin1'), Buffer.from([0xe4]))
    symlinkSync('loop', join(directory, 'loop'))
    const reading = readRegularFile(join(directory, name), { maxBytes: 100 })
    expect(reading).toMatchObject({ ok: false, code })
    expect(!reading.ok && reading.message).toContain(name.split('/')[0])
  })

  it('refuses a symbolic link if the caller says so, and a device always', () => {
    writeFileSync(join(directory, 'file'), 'x')
    symlinkSync('file', join(directory, 'link'))
    const path = join(directory, 'link')
    expect(readRegularFile(path, { maxBytes: 9 }).ok).toBe(true)
    expect(readRegularFile(path, { maxBytes: 9, followSymlinks: false }).ok).toBe(false)
    expect(readRegularFile('/dev/zero', { maxBytes: 9 })).toMatchObject({
      code: 'file-not-regular',
    })
  })

  it.runIf(process.platform === 'linux')('reads files that report no size, up to the limit', () => {
    expect(readRegularFile('/proc/self/status', { maxBytes: 100_000 })).toMatchObject({ ok: true })
    expect(readRegularFile('/proc/self/status', { maxBytes: 10 })).toMatchObject({
      code: 'file-too-large',
    })
  })
})

describe('isInside', () => {
  it.each([
    ['/a', '/a', true],
    ['/a', '/a/b', true],
    ['/a', '/a/..b', true],
    ['/a', '/ab', false],
    ['/a', '/a/../b', false],
    ['/a/b', '/a', false],
    ['/', '/x', true],
  ])('decides for %s and %s: %s', (root, path, expected) => {
    expect(isInside(root, path)).toBe(expected)
  })

  it('agrees with the resolved paths for any text', () => {
    const part = fc.constantFrom('', '.', '..', '...', 'a', 'b', '.git', 'a.')
    const path = fc.array(part, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`)
    fc.assert(
      fc.property(path, path, fc.boolean(), (root, rest, below) => {
        const asked = below ? `${root}${rest}` : rest
        const way = relative(root, asked)
        expect(isInside(root, asked)).toBe(way !== '..' && !way.startsWith('../'))
      }),
    )
  })
})

describe('resolveInside', () => {
  beforeEach(() => {
    mkdirSync(join(directory, 'skill/references'), { recursive: true })
    mkdirSync(join(directory, 'skill-other'))
    writeFileSync(join(directory, 'skill/references/a.md'), 'a')
    writeFileSync(join(directory, 'skill/references/.a.md.swp'), 'a')
    mkdirSync(join(directory, 'skill/.git'))
    writeFileSync(join(directory, 'skill/.git/config'), 'a')
    writeFileSync(join(directory, 'skill-other/secret'), 's')
    symlinkSync('../../skill-other/secret', join(directory, 'skill/references/out'))
    symlinkSync('a.md', join(directory, 'skill/references/in'))
    symlinkSync('../skill-other', join(directory, 'skill/other'))
  })

  it.each([
    ['references/a.md', 'references/a.md'],
    ['./references/../references/a.md', 'references/a.md'],
    ['references/in', 'references/a.md'],
  ])('finds %s', (path, real) => {
    const root = join(directory, 'skill')
    expect(resolveInside(root, path)).toEqual({ ok: true, path: join(root, real) })
  })

  it.each([
    ['references/a.md', 'references/a.md'],
    ['references/in', 'references/a.md'],
    ['refs/a.md', 'references/a.md'],
  ])('finds %s through a link to the skill, as its real path', (path, real) => {
    symlinkSync('references', join(directory, 'skill/refs'))
    symlinkSync('skill', join(directory, 'linked'))
    for (const root of ['linked', 'skill']) {
      const found = { ok: true, path: join(directory, 'skill', real) }
      expect(resolveInside(join(directory, root), path)).toEqual(found)
    }
  })

  it('leaves out files without a digest, also through a link to the skill', () => {
    symlinkSync('skill', join(directory, 'linked'))
    symlinkSync('.git', join(directory, 'skill/history'))
    for (const path of ['.git/config', 'history/config']) {
      const left = { ok: false, code: 'path-left-out' }
      expect(resolveInside(join(directory, 'linked'), path)).toMatchObject(left)
      expect(resolveInside(join(directory, 'skill'), path)).toMatchObject(left)
    }
  })

  it('refuses a link to a neighbour or to a folder above the skill', () => {
    symlinkSync('skill-other', join(directory, 'linked'))
    symlinkSync('..', join(directory, 'skill/up'))
    const root = join(directory, 'linked')
    expect(resolveInside(root, 'secret')).toEqual({
      ok: true,
      path: join(directory, 'skill-other/secret'),
    })
    expect(resolveInside(root, '../skill/references/a.md')).toMatchObject({ code: 'path-escapes' })
    for (const path of ['up/skill-other/secret', 'up/linked/secret']) {
      expect(resolveInside(join(directory, 'skill'), path)).toMatchObject({ code: 'path-escapes' })
    }
    expect(resolveInside(join(directory, 'skill'), 'up/skill/references/a.md').ok).toBe(true)
  })

  it.each([
    ['../skill-other/secret', 'path-escapes'],
    ['references/out', 'path-escapes'],
    ['other/secret', 'path-escapes'],
    ['references/../../skill-other/secret', 'path-escapes'],
    ['references\\a.md', 'path-escapes'],
    ['/etc/passwd', 'path-absolute'],
    ['C:/x', 'path-absolute'],
    ['missing.md', 'path-missing'],
    ['references/a.md/x', 'path-missing'],
    ['references', 'path-not-regular'],
    ['references/.a.md.swp', 'path-left-out'],
    ['references/../.git/config', 'path-left-out'],
    ['a\0b', 'path-nul'],
  ])('refuses %j as %s', (path, code) => {
    expect(resolveInside(join(directory, 'skill'), path)).toMatchObject({ ok: false, code })
  })
})

describe('userDirectories', () => {
  it('follows absolute XDG variables and ignores relative ones', () => {
    const env = { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: 'relative', XDG_CACHE_HOME: '' }
    expect(userDirectories({ env, home: '/home/a', cwd: '/home/a/app' })).toEqual({
      config: '/c/skillrail',
      state: '/home/a/.local/state/skillrail',
      cache: '/home/a/.cache/skillrail',
      data: '/home/a/.local/share/skillrail',
    })
  })
})
