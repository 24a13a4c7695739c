import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSealer } from '../../src/core/project-state.ts'
import { projectStateDirectory, stateDirectory } from '../../src/core/runtime.ts'

function place(directory = '', env: Record<string, string> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'skillrail-state-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  return {
    home,
    runtime: { home, env, cwd: join(home, 'app') },
    settings: { state: { directory } },
  }
}

it('assigns each project its own directory, by its real path', () => {
  const where = place()
  const a = join(where.home, 'a/app')
  const b = join(where.home, 'b/app')
  mkdirSync(a, { recursive: true })
  mkdirSync(b, { recursive: true })
  const [one, other] = [projectStateDirectory(a, where), projectStateDirectory(b, where)]
  expect(one).toMatch(/\.local\/state\/skillrail\/projects\/app-[0-9a-f]{16}$/)
  expect(other).not.toBe(one)
  expect(projectStateDirectory(`${b}/../../a/app`, where)).toBe(one)
})

it('moves with an absolute setting, and refuses a relative one', () => {
  expect(stateDirectory(place('/ci/state'))).toBe('/ci/state')
  expect(() => stateDirectory(place('state'))).toThrow('must be an absolute path, not "state"')
})

it('creates a private key once, and seals with it', () => {
  const where = place()
  const seal = openSealer(where)
  expect(seal('a', 'b')).toMatch(/^[0-9a-f]{64}$/)
  const path = join(where.home, '.local/state/skillrail/key')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(openSealer(where)('a', Buffer.from('b'))).toBe(seal('ab'))
  expect(openSealer(place())('ab')).not.toBe(seal('ab'))
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, 20))
  expect(() => openSealer(where)('a')).toThrow('is damaged')
})

it('uses the key of SKILLRAIL_STATE_KEY, and creates no file', () => {
  const env = { SKILLRAIL_STATE_KEY: 'shared' }
  const one = openSealer(place('', env))('x')
  expect(openSealer(place('', env))('x')).toBe(one)
})

it('creates one key, however many processes run at once', () => {
  const where = place()
  const source = new URL('../../src/core/project-state.ts', import.meta.url).href
  const script = `import(${JSON.stringify(source)}).then(({ openSealer }) => console.log(openSealer(${JSON.stringify(where)})('x')))`
  const all = `for i in 1 2 3 4 5 6; do "$0" -e "$1" & done; wait`
  const { stdout } = spawnSync('sh', ['-c', all, process.execPath, script], { encoding: 'utf8' })
  const codes = stdout.trim().split('\n')
  expect(codes).toHaveLength(6)
  expect(new Set(codes).size).toBe(1)
})
