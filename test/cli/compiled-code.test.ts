import { execFileSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const keeper = new URL('../../src/cli/_compiled-code.ts', import.meta.url).href

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'skillrail-compiled-'))
  write('yes')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function write(answer: string): void {
  writeFileSync(join(home, 'part.cjs'), `exports.answer = () => '${answer}' + (() => __filename)()`)
}

/** Loads the file in a process of its own and says what it answers. */
function load(env: Record<string, string> = {}): string {
  const program = `
import { createRequire } from 'node:module'
import { keepCompiledCode } from '${keeper}'
const keep = keepCompiledCode({ env: process.env, home: ${JSON.stringify(home)} })
console.log(createRequire(import.meta.url)(${JSON.stringify(join(home, 'part.cjs'))}).answer())
keep()`
  const answer = execFileSync(
    process.execPath,
    ['--no-warnings', '--input-type=module', '-e', program],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], ...env } },
  )
  return answer.replace(join(home, 'part.cjs'), '').trim()
}

const directory = (): string => {
  const versions = join(home, '.cache/skillrail/compiled')
  return join(versions, readdirSync(versions)[0] ?? '')
}
const kept = (): string => join(directory(), 'part.cjs.bin')

it('is kept among the private files of the user, and used again', () => {
  expect(load()).toBe('yes')
  expect(statSync(kept()).mode & 0o777).toBe(0o600)
  expect(statSync(directory()).mode & 0o777).toBe(0o700)
  const { ino } = statSync(kept())
  expect(load()).toBe('yes')
  expect(statSync(kept()).ino).toBe(ino)
})

it('is not kept for the files of a library', () => {
  mkdirSync(join(home, 'library'))
  writeFileSync(join(home, 'library/index.cjs'), `exports.answer = () => 'theirs'`)
  writeFileSync(join(home, 'part.cjs'), `exports.answer = require('./library/index.cjs').answer`)
  expect(load()).toBe('theirs')
  expect(readdirSync(directory())).toEqual(['part.cjs.bin'])
})

it('does not count for another text, not even of the same length', () => {
  load()
  write('no!')
  expect(load()).toBe('no!')
  expect(load()).toBe('no!')
})

it('does not count when it is damaged, and is made anew', () => {
  load()
  const whole = readFileSync(kept())
  for (const damaged of [whole.subarray(0, 200), flipped(whole), Buffer.alloc(0)]) {
    writeFileSync(kept(), damaged)
    expect(load()).toBe('yes')
    expect(readFileSync(kept()).length).toBeGreaterThan(200)
    expect(readFileSync(kept())).not.toEqual(damaged)
  }
})

it.runIf(process.getuid?.() === 0)('does not count when it belongs to somebody else', () => {
  load()
  chownSync(kept(), 12345, 12345)
  expect(load()).toBe('yes')
  expect(statSync(kept()).uid).toBe(0)
})

it('is not kept where the compile cache of Node is not wanted, nor where nothing can be written', () => {
  expect(load({ NODE_DISABLE_COMPILE_CACHE: '1' })).toBe('yes')
  expect(existsSync(join(home, '.cache'))).toBe(false)
  writeFileSync(join(home, '.cache'), 'no directory')
  expect(load()).toBe('yes')
})

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  const middle = Math.floor(copy.length / 2)
  copy.writeUInt8(copy.readUInt8(middle) ^ 1, middle)
  return copy
}
