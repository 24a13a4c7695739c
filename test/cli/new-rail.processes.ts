import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { inTerminal } from './_terminal-session.ts'

it.each([
  ['cargo test\r', 'cargo test'],
  ['\r', 'git diff --stat --exit-code HEAD'],
])('new --rail asks for the check at a terminal, and %j gives %s', async (typed, check) => {
  const base = mkdtempSync(join(tmpdir(), 'skillrail-new-rail-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true, maxRetries: 3 }))
  const [project, home] = [join(base, 'project'), join(base, 'home')]
  mkdirSync(join(home, '.claude'), { recursive: true })
  execFileSync('git', ['init', '-q', project])
  const terminal = inTerminal(['new', '--rail', 'release'], { cwd: project, home })
  await terminal.until('Which command must succeed before anything is published?')
  terminal.type(typed)
  expect(await terminal.code).toBe(0)
  const text = readFileSync(join(project, '.claude/skills/release/SKILL.md'), 'utf8')
  expect(text).toContain(`release-prepare check="${check}"`)
})
