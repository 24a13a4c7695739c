import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeProject } from '../chain/_project.ts'
import { runInProcess } from '../run-in-process.ts'
import { readRegularFile } from '../../src/core/read-files.ts'
import { writeFileAtomicSync } from '../../src/core/write-files.ts'

const isRoot = process.getuid?.() === 0

function store(): string {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-store-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'state', 'store.json')
  writeFileAtomicSync(path, '{}', { mode: 0o600 })
  return path
}

const codeOf = (path: string): string => {
  const reading = readRegularFile(path, { maxBytes: 100, own: true })
  return reading.ok ? 'read' : reading.code
}

describe.skipIf(process.platform === 'win32')('a store of the user', () => {
  it('is read if only the user can write it', () => {
    expect(codeOf(store())).toBe('read')
  })

  it.each([0o620, 0o602, 0o666])('is refused with the mode %o', (mode) => {
    const path = store()
    chmodSync(path, mode)
    expect(codeOf(path)).toBe('file-shared')
  })

  it('is refused in a directory that others can write', () => {
    const path = store()
    chmodSync(join(path, '..'), 0o777)
    expect(codeOf(path)).toBe('file-shared')
  })

  it('is refused as a link', () => {
    const path = store()
    renameSync(path, `${path}.real`)
    symlinkSync(`${path}.real`, path)
    expect(codeOf(path)).toBe('file-not-regular')
  })

  it.runIf(isRoot)('is refused if it belongs to another account', () => {
    const path = store()
    chownSync(path, 65_534, 65_534)
    expect(codeOf(path)).toBe('file-shared')
  })
})

it.skipIf(process.platform === 'win32')(
  'a record of trust that others can write trusts nothing',
  async () => {
    const project = makeProject({ a: { run: 'echo a' } })
    onTestFinished(() => project.remove())
    const home = join(project.directory, '../home')
    const run = (...words: string[]) =>
      runInProcess(words, { cwd: project.directory, home, env: {} })
    mkdirSync(home, { recursive: true })
    expect((await run('trust', '--yes')).code).toBe(0)
    const record = join(home, '.local/state/skillrail/trust.json')
    expect((await run('trust', '--dry-run')).stdout).toContain('trusted, and nothing')
    chmodSync(record, 0o666)
    const { code, stderr } = await run('trust', '--dry-run')
    expect(code).toBe(1)
    expect(stderr).toContain(`another account can write ${record}`)
    expect(stderr).toContain('chmod go-w')
    const plan = await run('chain', 'plan', 'a')
    expect(plan.stdout).toContain('untrusted')
    expect((await run('list', '--json')).stdout).toContain('"trust": "untrusted"')
  },
)
