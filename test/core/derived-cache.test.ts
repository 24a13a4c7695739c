import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cachePath, readCache, writeCache } from '../../src/core/derived-cache.ts'

const folder = mkdtempSync(join(tmpdir(), 'skillrail-cache-'))
const path = cachePath(
  { env: { XDG_CACHE_HOME: folder }, home: '/', cwd: '/a' },
  'library',
  '/a/skills',
)
const data = { rows: [{ path: 'ü', size: 1, mtimeMs: 2.5 }] }

describe('a cache of derived data', () => {
  it('returns the written data, from a file that only the user can read', () => {
    writeCache(path, '1', data)
    expect(readCache<unknown>(path, '1', undefined)).toEqual(data)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('is empty after it was deleted', () => {
    writeCache(path, '1', data)
    rmSync(path)
    expect(readCache<unknown>(path, '1', undefined)).toBeUndefined()
  })

  it('is empty for another version of the data or of this package', () => {
    writeCache(path, '1', data)
    expect(readCache<unknown>(path, '2', undefined)).toBeUndefined()
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(/"skillrail":"[^"]*"/, '"skillrail":"0"'),
    )
    expect(readCache<unknown>(path, '1', undefined)).toBeUndefined()
  })

  it('is empty after any byte was changed, added or removed', () => {
    writeCache(path, '1', data)
    const whole = readFileSync(path)
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 1
      for (const damaged of [changed, whole.subarray(0, at), Buffer.concat([whole, changed])]) {
        writeFileSync(path, damaged)
        expect(readCache<unknown>(path, '1', undefined)).toBeUndefined()
      }
    }
  })

  it('is empty if it is not a file, and optional if it cannot be written', () => {
    const directory = join(folder, 'directory')
    mkdirSync(directory)
    expect(() => writeCache(directory, '1', data)).not.toThrow()
    expect(readCache<unknown>(directory, '1', undefined)).toBeUndefined()
  })
})
