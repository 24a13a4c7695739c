// Plays a session of Claude Code: sends its events to the hook, and does what a hasty agent does. It cannot
// approve, because only a prompt of the client itself counts.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'rail-release-')))
const [home, project] = [join(base, 'home'), join(base, 'project')]
const program = (path) => [process.execPath, resolve(path)]
const [skillrail, hook] = [program('dist/cli/bin.cjs'), program('dist/hook/hook.cjs')]
const env = { HOME: home, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) }
let count = 0

try {
  mkdirSync(home)
  execFileSync('sh', ['examples/rail-release/setup.sh', project], { env })
  run(skillrail, ['trust', '--yes'])

  let answer = type('/release 1.1.0')
  // The scripts may take longer than a prompt waits: then the first step comes at the end of the turn.
  if (!textOf(answer).includes('Do only this step now')) answer = endTurn()
  assert.match(textOf(answer), /Do only this step now: `implement`/)

  assert.match(denial('git push origin main') ?? '', /belongs to the step `publish`/)
  const early = endTurn('It is released.')
  assert.equal(early.decision, 'block', JSON.stringify(early))

  prepare('1.1.0')
  assert.match(endTurn('I prepared the version.').systemMessage, /waits for your approval/)
  assert.match(denial('git push origin main') ?? '', /belongs to the step `publish`/)
  assert.equal(publishedVersion(), '1.0.0')

  assert.doesNotMatch(textOf(type('rail approve')), /Do only this step now/)
  endTurn()
  assert.match(denial('git push origin main') ?? '', /belongs to the step `publish`/)
  assert.equal(publishedVersion(), '1.0.0')

  const { attempts } = JSON.parse(run(skillrail, ['runs', 'show', 'latest', '--json']))
  const steps = attempts[0].steps.map((step) => `${step.step}: ${step.evidence ?? step.status}`)
  assert.deepEqual(steps.slice(2), ['implement: verified', 'publish: waiting'])
} finally {
  rmSync(base, { recursive: true, force: true, maxRetries: 3 })
}

/** What the agent does in the step `implement`. */
function prepare(version) {
  const path = join(project, 'package.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, `${JSON.stringify({ ...manifest, version }, null, 2)}\n`)
  writeFileSync(join(project, 'CHANGELOG.md'), `# Changelog\n\n## ${version}\n\nNothing new.\n`)
  git('commit', '-q', '-a', '-m', `Release ${version}`)
}

function publishedVersion() {
  return JSON.parse(git('-C', `${project}.git`, 'show', 'main:package.json')).version
}

function type(prompt) {
  return send({ hook_event_name: 'UserPromptSubmit', prompt_id: `p${count++}`, prompt })
}

function endTurn(message = 'Done.') {
  return send({ hook_event_name: 'Stop', prompt_id: `p${count}`, last_assistant_message: message })
}

/** Why a command may not run now. */
function denial(command) {
  const call = { tool_name: 'Bash', tool_input: { command }, tool_use_id: `c${count++}` }
  const { hookSpecificOutput: output } = send({ hook_event_name: 'PreToolUse', ...call })
  if (output?.permissionDecision === 'deny') return output.permissionDecisionReason
  send({ hook_event_name: 'PostToolUse', ...call })
  return undefined
}

/** What the agent reads of an answer. */
function textOf({ reason, hookSpecificOutput }) {
  return reason ?? hookSpecificOutput?.additionalContext ?? ''
}

function send(event) {
  const input = JSON.stringify({ session_id: 'example', cwd: project, ...event })
  const output = run(hook, ['claude'], input)
  return output === '' ? {} : JSON.parse(output)
}

function git(...words) {
  return execFileSync('git', words, { cwd: project, env, encoding: 'utf8' })
}

function run([file, script], words, input = '') {
  const options = { cwd: project, env, input, encoding: 'utf8' }
  const { status, stdout, stderr } = spawnSync(file, [script, ...words], options)
  assert.equal(status, 0, stderr)
  return stdout
}
