import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runInProcess } from '../run-in-process.ts'

let root: string
let skill: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-validate-'))
  skill = join(root, '.agents/skills/ops')
  mkdirSync(join(skill, 'references'), { recursive: true })
  writeFileSync(join(skill, 'references/a.md'), 'TEXT '.repeat(2000))
})
afterAll(() => rmSync(root, { recursive: true }))

function write(pattern: string, body: string): void {
  const trigger = `  - match: "${pattern}"\n    inject: references/a.md\n`
  const text = `---\nname: ops\ndescription: Operates things. Use for tests.\ntriggers:\n${trigger}---\n${body}`
  writeFileSync(join(skill, 'SKILL.md'), text)
}

async function cli(...args: readonly string[]) {
  return await runInProcess(args, { cwd: root, home: root })
}

const body = '# ops\n\nWhen it is blocked, wait.\n'

it.each([
  ['^/ops a', 0],
  ['is (blocked|stuck)', 1],
  ['blocked|failed', 1],
  ['^When', 1],
  ['[0-9]+ hosts', 0],
])('exports a script that tests %j on the body as triggers check does', async (pattern, status) => {
  write(pattern, '# ops\n')
  expect((await cli('triggers', 'export', 'ops')).code).toBe(0)
  write(pattern, body)
  const check = await cli('triggers', 'check', 'ops')
  const script = join(skill, 'scripts/validate-triggers')
  for (const args of [[script], [script, skill]]) {
    const result = spawnSync('sh', args, { encoding: 'utf8', input: '' })
    expect({ status: result.status, stdout: result.stdout }).toEqual({
      status,
      stdout: check.stdout,
    })
  }
  expect(check.code).toBe(status)
})
