import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bin, fromSources } from '../command-line.ts'

/** Containers can run a process under a number that the account database does not have. */
const numberWithoutEntry = 54_321
const isRoot = process.getuid?.() === 0

const hookProgram = fileURLToPath(
  new URL(
    fromSources ? '../../src/rail/hook-main.ts' : '../../dist/hook/hook.cjs',
    import.meta.url,
  ),
)

interface Place {
  cwd: string
  home?: string
  input?: string
}

function run(args: readonly string[], options: Place, program = bin) {
  const { PATH } = process.env
  const { home } = options
  return spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args], {
    cwd: options.cwd,
    input: options.input ?? '',
    encoding: 'utf8',
    uid: numberWithoutEntry,
    gid: numberWithoutEntry,
    env: { ...(PATH === undefined ? {} : { PATH }), ...(home === undefined ? {} : { HOME: home }) },
  })
}

function makeFolders() {
  const base = mkdtempSync(join(tmpdir(), 'skillrail-account-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [project, home] = [join(base, 'project'), join(base, 'home')]
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(home)
  for (const path of [base, project, home]) chmodSync(path, 0o777)
  return { project, home }
}

const input = JSON.stringify({ session_id: 's', prompt: 'hello' })

describe.skipIf(!isRoot)('an account without an entry', () => {
  it('keeps its files below HOME', () => {
    const { project, home } = makeFolders()
    const { status } = run(['claude'], { cwd: project, home, input }, hookProgram)
    expect(status).toBe(0)
    expect(run(['list', '--json'], { cwd: project, home }).status).toBe(0)
    expect(statSync(join(home, '.cache/skillrail')).uid).toBe(numberWithoutEntry)
  })

  it.each(['no HOME', 'a HOME in the project'])(
    'is refused with %s, and blocks no prompt',
    (which) => {
      const { project } = makeFolders()
      const place = { cwd: project, ...(which === 'no HOME' ? {} : { home: project }) }
      const listed = run(['list', '--json'], place)
      expect(listed.status).toBe(2)
      expect(JSON.parse(listed.stdout)).toMatchObject({ error: { code: 'home-missing' } })
      const hook = run(['claude'], { ...place, input }, hookProgram)
      expect([hook.status, hook.stdout]).toEqual([0, ''])
      expect(hook.stderr).toMatch(/^skillrail: .*home directory/)
    },
  )
})
