import { describe, expect, it } from 'vitest'
import { globFits, pathFits, pathMayHold } from '../../../src/agent/approval/tool-patterns.ts'

describe('a path fits', () => {
  it.each([
    ['src/a.ts', 'src/**', true],
    ['src/a/b/c.ts', 'src/**', true],
    ['src', 'src/**', true],
    ['srcx/a.ts', 'src/**', false],
    ['src/a.ts', './src/**', true],
    ['src/a.ts', '/src/**', true],
    ['a.md', '*.md', true],
    ['docs/a.md', '*.md', false],
    ['docs/a.md', '**/*.md', true],
    ['a.md', '**/*.md', true],
    ['docs/a.md', 'docs/*', true],
    ['docs/a/b.md', 'docs/*', false],
    ['/etc/passwd', '**', false],
    ['/etc/passwd', '*', false],
    ['/etc/passwd', 'etc/passwd', false],
    ['/etc/passwd', '/etc/passwd', false],
    ['/etc/passwd', '//etc/passwd', true],
    ['/etc/passwd', '//etc/**', true],
    ['anything/at/all', '*', true],
    ['a/../b', 'b', false],
  ])('%s in %s: %s', (path, pattern, expected) => {
    expect(pathFits(path, [pattern])).toBe(expected)
  })

  it('is compared in reasonable time, also with many stars', () => {
    expect(globFits('a/'.repeat(200) + 'b', '**/a/'.repeat(100) + 'c')).toBe(false)
    expect(globFits('a'.repeat(5000), '*a'.repeat(1000) + 'b')).toBe(false)
  })
})

describe('a directory may hold what fits', () => {
  it.each([
    ['.', 'secrets/**', true],
    ['a', 'a/secrets/*', true],
    ['a/b', 'a/*/secrets', true],
    ['src', 'secrets/**', false],
    ['src', '**/*.pem', true],
    ['a/secrets', 'a/secrets', false],
    ['/', '//etc/shadow', true],
    ['/etc', '//etc/shadow', true],
    ['/usr', '//etc/shadow', false],
    ['/work', 'secrets/**', true],
    ['.', '//etc/shadow', false],
  ])('%s for %s: %s', (path, pattern, expected) => {
    expect(pathMayHold(path, [pattern])).toBe(expected)
  })
})
