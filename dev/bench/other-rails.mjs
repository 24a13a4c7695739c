// What rails of other sessions cost a session: the installed hook as a client calls it, in a home without rails and
// in one with 200, in turns. The bar is 3 ms of CPU.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { systemRuntime } from '../../src/core/runtime.ts'
import { addRail } from '../../src/rail/session.ts'
import { cpuOf, median } from './_measure.mjs'

const rails = 200
const rounds = 21
const maxAdded = 3

/** None of them matters to a session of the folder `project` that another client began. */
const kinds = [
  { standing: 'ended', folder: 'project' },
  { standing: 'failed', folder: 'project' },
  { standing: 'working', folder: 'other' },
]
const tool = { tool_name: 'Bash', tool_input: { command: 'npm test && git status --short' } }
const events = {
  'a prompt': { hook_event_name: 'UserPromptSubmit', prompt: 'hello with care' },
  'before a command': { hook_event_name: 'PreToolUse', tool_use_id: 'c1', ...tool },
}

const homes = { without: makeHome(), railed: makeHome() }
try {
  addRails(homes.railed)
  for (const [kind, event] of Object.entries(events)) measure(kind, event)
} finally {
  for (const { home } of Object.values(homes)) rmSync(home, { recursive: true, force: true })
}

function measure(kind, event) {
  const pairs = []
  for (let round = 0; round <= rounds; round++) {
    const names = round % 2 === 0 ? ['without', 'railed'] : ['railed', 'without']
    const pair = Object.fromEntries(names.map((name) => [name, cpu(homes[name], event, round)]))
    if (round > 0) pairs.push(pair)
  }
  const without = median(pairs.map((pair) => pair.without))
  const added = median(pairs.map((pair) => pair.railed - pair.without))
  const verdict = added <= maxAdded ? `at most ${maxAdded}` : `OVER ${maxAdded}`
  const difference = `${added < 0 ? '' : '+'}${added.toFixed(1)} ms (${verdict})`
  console.log(`${kind.padEnd(17)} ${without.toFixed(1)} ms, with ${rails} rails ${difference}`)
}

function addRails({ home, project }) {
  const runtime = systemRuntime({ home, cwd: project, env: {} })
  for (let index = 0; index < rails; index++) {
    const { standing, folder } = kinds[index % kinds.length]
    addRail(runtime, railOf(`other${index}`, join(home, folder), standing))
  }
}

function makeHome() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-bench-')))
  const project = join(home, 'project')
  mkdirSync(project)
  mkdirSync(join(home, 'other'))
  const env = { HOME: home, XDG_DATA_HOME: '', XDG_CACHE_HOME: '', XDG_STATE_HOME: '' }
  execFileSync(process.execPath, [resolve('dist/cli/bin.cjs'), 'hooks', 'install', 'claude'], {
    cwd: project,
    env: { ...process.env, ...env },
    stdio: 'ignore',
  })
  const hook = join(home, '.local/share/skillrail/hook/skillrail-hook')
  return { home, project, env, hook }
}

function cpu({ hook, project, env }, event, round) {
  const input = JSON.stringify({
    session_id: 'own',
    cwd: project,
    prompt_id: `t${round}`,
    ...event,
  })
  return cpuOf([hook, 'claude'], { cwd: project, env, input })
}

function railOf(session, workspace, standing) {
  return {
    version: 1,
    session,
    client: 'claude',
    workspace,
    runId: session,
    chain: 'release',
    standing,
    reason: '',
    steps: ['build', 'publish'],
    guards: [{ step: 'publish', calls: 'Bash(git push:*)', isOpen: false }],
    checkFiles: {},
    turn: { id: 't1', receivedStep: false, worked: false, blocks: 0 },
    clientProcess: { pid: 1, startedAt: 'never' },
    sequence: 0,
  }
}
