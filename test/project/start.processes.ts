import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const repository = fileURLToPath(new URL('../..', import.meta.url))

it('shows with npm start what the product is for, and recommends commands that work', () => {
  const home = mkdtempSync(join(tmpdir(), 'skillrail-start-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }))
  const options = {
    cwd: repository,
    env: { PATH: process.env['PATH'], HOME: home },
    encoding: 'utf8',
  } as const
  const before = execFileSync('git', ['status', '--porcelain'], options)
  const { status, stdout, stderr } = spawnSync(process.execPath, ['dev/start.mjs'], options)
  expect([status, stderr]).toEqual([0, ''])
  const text = stdout.replaceAll(/\s+/g, ' ')
  expect(text).toContain('references/release-flow.md')
  expect(text).toContain('ended with exit code 1')
  expect(text).toContain('ended: success (verified)')
  expect(text).toContain('waits for the approval of the user')
  const lines = stdout.split('\n').filter((line) => line.startsWith('  npm run -s skillrail -- '))
  expect(lines.length).toBeGreaterThanOrEqual(3)
  for (const line of lines) {
    const { status: code, stderr: problem } = spawnSync('sh', ['-c', line], options)
    expect([line, code, code === 0 ? '' : problem]).toEqual([line, 0, ''])
  }
  expect(execFileSync('git', ['status', '--porcelain'], options)).toBe(before)
})
