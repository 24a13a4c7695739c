// Plays Claude Code in the project of this example: sends its events to the hook, and says what the hook answers.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Makes the project in a new folder with a home of its own, trusts it and begins a session. */
export function openSession() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'rail-release-')))
  const [home, project] = [join(base, 'home'), join(base, 'project')]
  const program = (path) => [process.execPath, join(root, path)]
  const [skillrail, hook] = [program('dist/cli/bin.cjs'), program('dist/hook/hook.cjs')]
  const env = { HOME: home, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) }
  let count = 0

  mkdirSync(home)
  execFileSync('sh', [join(root, 'examples/rail-release/setup.sh'), project], { env })
  const session = {
    home,
    project,
    /** A prompt of the user. */
    type(prompt) {
      return send({ hook_event_name: 'UserPromptSubmit', prompt_id: `p${count++}`, prompt })
    },
    endTurn(message = 'Done.') {
      const about = { prompt_id: `p${count}`, last_assistant_message: message }
      return send({ hook_event_name: 'Stop', ...about })
    },
    /** Why a command may not run now; the agent executes nothing here. */
    denial(command) {
      const call = { tool_name: 'Bash', tool_input: { command }, tool_use_id: `c${count++}` }
      const { hookSpecificOutput: output } = send({ hook_event_name: 'PreToolUse', ...call })
      if (output?.permissionDecision === 'deny') return output.permissionDecisionReason
      send({ hook_event_name: 'PostToolUse', ...call })
      return undefined
    },
    /** What the agent does in the step `implement`. */
    prepare(version) {
      const path = join(project, 'package.json')
      const manifest = JSON.parse(readFileSync(path, 'utf8'))
      writeFileSync(path, `${JSON.stringify({ ...manifest, version }, null, 2)}\n`)
      const changelog = `# Changelog\n\n## ${version}\n\nNothing new.\n`
      writeFileSync(join(project, 'CHANGELOG.md'), changelog)
      git('commit', '-q', '-a', '-m', `Release ${version}`)
    },
    publishedVersion() {
      return JSON.parse(git('-C', `${project}.git`, 'show', 'main:package.json')).version
    },
    /** What `skillrail` prints in the project. */
    skillrail: (...words) => run(skillrail, words),
    close() {
      rmSync(base, { recursive: true, force: true, maxRetries: 3 })
    },
  }
  session.skillrail('trust', '--yes')
  return session

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
}

/** What the agent reads of an answer. */
export function textOf({ reason, hookSpecificOutput }) {
  return reason ?? hookSpecificOutput?.additionalContext ?? ''
}

/** The scripts may take longer than a prompt waits: then the first step comes with a later prompt or turn. */
export function firstStep(session, answer) {
  const ways = [() => session.endTurn(), () => session.type('Continue.')]
  for (let turn = 0; turn < 60 && !textOf(answer).includes('Do only this step now'); turn++) {
    answer = ways[turn % ways.length]()
  }
  return answer
}
