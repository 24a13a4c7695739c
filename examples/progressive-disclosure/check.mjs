// One prompt loads one flow, on every layer alike; the others stay on disk.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const example = 'examples/progressive-disclosure'
const scratch = mkdtempSync(join(tmpdir(), 'skillrail-example-'))
const skill = join(scratch, 'deploy-service')
cpSync(`${example}/deploy-service`, skill, { recursive: true })
const prompt = '/deploy-service release search-api'

try {
  const injected = run(process.execPath, [
    'dist/cli/bin.cjs',
    'inject',
    '--skill',
    skill,
    '--',
    prompt,
  ])
  assert.match(injected, /^<!-- injected: references\/release-flow\.md -->\n# Release\n/)
  assert.doesNotMatch(injected, /# Rollback/)

  const checked = skillrail('triggers', 'check', skill, '--prompts', `${example}/prompts.json`)
  assert.match(checked, /3 triggers checked, 0 false-positive risk\(s\)/)
  assert.match(checked, /4 prompts checked, 0 wrong/)

  const [{ tokens }] = JSON.parse(skillrail('triggers', 'list', skill, '--tokens', '--json')).skills
  assert.ok(tokens.withTriggers < tokens.withoutTriggers)
  assert.ok(tokens.discovery <= 60)

  if (process.platform !== 'win32') {
    skillrail('triggers', 'export', skill)
    assert.equal(run('sh', [`${skill}/scripts/inject-context`, prompt]), injected)
  }
} finally {
  rmSync(scratch, { recursive: true })
}

function skillrail(...args) {
  return run(process.execPath, ['dist/cli/bin.cjs', ...args])
}

function run(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', input: '' })
  assert.equal(status, 0, stderr + stdout)
  return stdout
}
