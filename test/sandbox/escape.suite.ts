import { execFileSync, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Grants, noGrants } from '../../src/exec/sandbox/grants.ts'
import { openSandbox } from '../../src/exec/sandbox/open-sandbox.ts'
import { type Attempt, attempts, escapes } from './_attempts.ts'
import type { AttemptRequest, AttemptResult } from './attempt.ts'
import { escapeTable } from './_escape-table.ts'
import { makeOutside, nobody, type Outside, type User } from './_outside.ts'

const isRoot = process.getuid?.() === 0

/** Root becomes somebody ordinary too; somebody ordinary cannot become root. */
const users: readonly User[] = isRoot
  ? [
      { name: 'as root', prefix: [] },
      { name: 'as an ordinary user', prefix: nobody },
    ]
  : [{ name: 'as an ordinary user', prefix: [] }]

const outcomes = new Map<string, Map<string, boolean>>()
const probe = await openSandbox()

describe.each(users)('an untrusted script, run $name', (user) => {
  let outside: Outside
  const seen = new Map<string, boolean>()
  beforeAll(async () => {
    outside = await makeOutside(user)
    outcomes.set(user.name, seen)
  })
  afterAll(async () => outside.remove())

  it.runIf(probe.ok).each(attempts)('does not $script: $tries', async (attempt) => {
    seen.set(attempt.script, false)
    const grants = { ...noGrants, ...attempt.grants?.(outside) }
    const result = await tryIt(attempt, outside, user, grants)
    const { kind, code } = result.end
    const end = attempt.ends === undefined ? `${kind} ${code}` : kind
    expect(end).toMatch(attempt.ends ?? /^exit 0$/)
    expect(result.stdout).toContain('tried')
    expect(escapes(result, outside)).toEqual([])
    seen.set(attempt.script, true)
  })

  it.runIf(probe.ok).each(attempts.filter(({ harmless }) => harmless === true))(
    'would escape with $script without the sandbox',
    async (attempt) => {
      const { stdout } = await tryIt(attempt, outside, user, undefined)
      expect(stdout).toContain('ESCAPED')
    },
  )
})

it.skipIf(probe.ok)(`refuses a script if no sandbox works: ${probe.ok ? '' : probe.reason}`, () => {
  expect(probe).toMatchObject({ ok: false, hint: expect.stringMatching(/./) })
})

afterAll(() => {
  const tried = [...outcomes.values()].every(({ size }) => size === attempts.length)
  if (!probe.ok || !tried || outcomes.size < 2) return
  const version = execFileSync(probe.program, ['--version'], { encoding: 'utf8' }).trim()
  const versions = `${version}, Linux ${release().replace(/-.*/, '')}, ${process.arch}`
  process.stdout.write(escapeTable(outcomes, versions))
})

const runner = fileURLToPath(new URL('attempt.ts', import.meta.url))

/** With a directory left open, a secret in the environment, and as another user where asked. */
function tryIt(
  attempt: Attempt,
  outside: Outside,
  { prefix }: User,
  grants: Grants | undefined,
): Promise<AttemptResult> {
  const request: AttemptRequest = {
    skillDirectory: outside.skill,
    script: attempt.script,
    arguments: attempt.arguments?.(outside) ?? [],
    files: join(outside.base, 'files', attempt.script),
    timeoutMs: attempt.timeoutMs ?? 15_000,
    grants,
  }
  const [file, ...args] = [...prefix, process.execPath, '--no-warnings', runner]
  const directory = openSync(outside.base, 'r')
  const child = spawn(file ?? '', [...args, JSON.stringify(request)], {
    cwd: '/',
    env: { PATH: process.env['PATH'], HOME: outside.base, SECRET: outside.secret },
    // As a shell's `40</` would leave it. Of the lowest numbers Node itself closes what it gets.
    stdio: [
      'ignore',
      'pipe',
      'pipe',
      ...Array.from({ length: 37 }, () => 'ignore' as const),
      directory,
    ],
  })
  closeSync(directory)
  return new Promise((resolve, reject) => {
    let [stdout, stderr] = ['', '']
    child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(stdout))
      else reject(new Error(`the runner ended with ${code}: ${stderr}`))
    })
  })
}
