// Nothing is published before somebody has approved it, and no program can approve for a person.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const target = mkdtempSync(join(tmpdir(), 'gated-deploy-'))
const page = join(target, 'index.html')
const chain = 'examples/gated-deploy/release'
try {
  const waiting = skillrail('run', chain, target)
  assert.equal(waiting.status, 6)
  assert.deepEqual(statuses(waiting), ['success', 'waiting', 'not_run'])
  assert.ok(!existsSync(page))

  // Standard input is not a terminal here, so nobody can be asked.
  const { runId } = JSON.parse(waiting.stdout)
  assert.equal(skillrail('runs', 'approve', runId).status, 4)
  assert.ok(!existsSync(page))
  assert.equal(skillrail('runs', 'cancel', runId).status, 0)

  // Whoever starts the run may take it on himself.
  const approved = skillrail('run', chain, target, '--yes-gates')
  assert.equal(approved.status, 0, approved.stderr)
  assert.deepEqual(statuses(approved), ['success', 'success', 'success'])
  assert.equal(JSON.parse(approved.stdout).attempts[0].steps[1].evidence, 'verified')
  assert.ok(existsSync(page))
} finally {
  rmSync(target, { recursive: true })
}

function skillrail(...args) {
  return spawnSync(
    process.execPath,
    ['dist/cli/bin.cjs', ...args, '--trust-workspace', '--json', '--quiet'],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
  )
}

function statuses({ stdout }) {
  return JSON.parse(stdout).attempts[0].steps.map((step) => step.status)
}
