// The command of the workflow, as a job of GitHub Actions runs it: all three reports are there.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const workflow = readFileSync(new URL('workflow.yml', import.meta.url), 'utf8')
const [, folded] = /run: >-\n((?: {10}.*\n)+)/.exec(workflow)
const words = folded.trim().split(/\s+/)
assert.deepEqual(words.splice(0, 2), ['npx', 'skillrail'])

const directory = mkdtempSync(join(tmpdir(), 'ci-workflow-'))
try {
  const summary = join(directory, 'summary.md')
  const args = words.map((word) => word.replace('reports/', `${directory}/`))
  const { status, stderr } = spawnSync(process.execPath, ['dist/cli/bin.cjs', ...args], {
    env: { ...process.env, GITHUB_STEP_SUMMARY: summary },
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  assert.match(readFileSync(summary, 'utf8'), /chain-audit: success[^]* audit-qos /)
  const junit = readFileSync(join(directory, 'audit.xml'), 'utf8')
  assert.match(junit, /<testsuites? [^>]*failures="0"/)
  assert.equal(junit.split('<testcase ').length - 1, 14)
  assert.match(readFileSync(join(directory, 'audit.html'), 'utf8'), /^<!doctype html>/)
} finally {
  rmSync(directory, { recursive: true })
}
