// What a rail adds to the events of a session: the installed hook as a client calls it, launcher included,
// in a session with a rail and in one without, in turns. The bar is 10 ms of CPU at a prompt. Starting a
// rail, and an end of a turn that runs a check, start a process of their own.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { cpuOf, median } from './_measure.mjs'

const data = process.env.SKILLRAIL_BENCH ?? resolve('../shared/bench')
const generator = join(data, 'generate-skills.mjs')
const rounds = 21
const maxAtPrompt = 10
const maxToStartMs = 2000

if (!existsSync(generator)) {
  console.log(`skipped: ${generator} is not there`)
} else {
  for (const skills of [10, 1000]) measure(skills)
}

function measure(skills) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-bench-')))
  try {
    const directory = join(home, '.claude/skills')
    execFileSync(process.execPath, [generator, directory, String(skills), '--triggers'])
    const [name] = readdirSync(directory)
    const project = makeProject(home)
    const env = {
      HOME: home,
      XDG_DATA_HOME: '',
      XDG_CACHE_HOME: '',
      XDG_STATE_HOME: '',
      SKILLRAIL_WORKSPACE_TRUST: 'trusted',
    }
    execFileSync(process.execPath, [resolve('dist/cli/bin.cjs'), 'hooks', 'install', 'claude'], {
      cwd: project,
      env: { ...process.env, ...env },
      stdio: 'ignore',
    })
    // Skills that changed in the last seconds are read again, as they may be changing still.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500)
    const hook = join(home, '.local/share/skillrail/hook/skillrail-hook')
    let turn = 0
    const inputOf = (session, event) =>
      JSON.stringify({ session_id: session, cwd: project, ...event })
    const send = (session, event) =>
      execFileSync(hook, ['claude'], {
        cwd: project,
        env: { ...process.env, ...env },
        input: inputOf(session, event),
      }).toString()
    const cpu = (session, event) =>
      cpuOf([hook, 'claude'], { cwd: project, env, input: inputOf(session, event) })
    const prompt = (text) => ({
      hook_event_name: 'UserPromptSubmit',
      prompt_id: `t${turn++}`,
      prompt: text,
    })

    send('warm', prompt('hello'))
    const starts = Array.from({ length: 5 }, (_, index) => {
      const before = performance.now()
      const answer = send(`start${index}`, prompt('/release 1.2'))
      if (!answer.includes('Do only this step now')) throw new Error(`no rail starts: ${answer}`)
      return performance.now() - before
    })
    const started = median(starts)
    const verdict = started <= maxToStartMs ? `at most ${maxToStartMs}` : `OVER ${maxToStartMs}`
    print(skills, 'a rail starts', `${started.toFixed(0)} ms of time (${verdict})`)

    send('rail', prompt('/release 1.2'))
    const bash = { tool_name: 'Bash', tool_input: { command: 'npm test && git status --short' } }
    const read = { tool_name: 'Read', tool_input: { file_path: join(project, 'a.txt') } }
    const call = (name, about) => ({
      hook_event_name: name,
      tool_use_id: `c${turn++}`,
      ...about,
    })
    const stop = { hook_event_name: 'Stop', last_assistant_message: 'Done.' }
    // In the order of a session; a turn that runs something ends with a check.
    const events = {
      'a prompt': () => prompt('hello with care'),
      'a prompt with a trigger': () => prompt(`/${name} program with care`),
      'the end of a turn without work': () => stop,
      'before a read': () => call('PreToolUse', read),
      'after a read': () => call('PostToolUse', read),
      'before a command': () => call('PreToolUse', bash),
      'after a command': () => call('PostToolUse', bash),
      'the end of a turn with a check': () => stop,
    }
    const samples = Object.fromEntries(Object.keys(events).map((kind) => [kind, []]))
    for (let round = 0; round <= rounds; round++) {
      send('rail', prompt('rail retry'))
      for (const [kind, eventOf] of Object.entries(events)) {
        const event = eventOf()
        const [railed, free] =
          round % 2 === 0
            ? [cpu('rail', event), cpu('free', { ...event, prompt_id: `f${turn}` })]
            : [cpu('free', { ...event, prompt_id: `f${turn}` }), cpu('rail', event)].toReversed()
        if (round > 0) samples[kind].push({ railed, free })
      }
    }
    for (const [kind, pairs] of Object.entries(samples)) {
      const free = median(pairs.map((pair) => pair.free))
      const added = median(pairs.map((pair) => pair.railed - pair.free))
      const isBound = kind.startsWith('a prompt')
      const within = added <= maxAtPrompt ? `at most ${maxAtPrompt}` : `OVER ${maxAtPrompt}`
      print(
        skills,
        kind,
        `${free.toFixed(1)} ms, with a rail ${added < 0 ? '' : '+'}${added.toFixed(1)} ms${isBound ? ` (${within})` : ''}`,
      )
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function makeProject(home) {
  const project = join(home, 'project')
  const skill = (name, lines = []) => {
    const path = join(project, '.claude/skills', name, 'SKILL.md')
    mkdirSync(dirname(path), { recursive: true })
    const head = [`name: ${name}`, `description: Does ${name}. Use when asked.`, ...lines]
    writeFileSync(path, `---\n${head.join('\n')}\n---\nDo ${name}.\n`)
  }
  skill('release', [
    'metadata:',
    '  chain: |',
    '    implement check="test -f done.txt" max-blocks=9',
    '    publish gate guard="Bash(git push:*) mcp__host__merge"',
  ])
  skill('implement')
  skill('publish')
  execFileSync('git', ['init', '-q', project])
  return project
}

function print(skills, kind, text) {
  console.log(`${String(skills).padStart(6)} skills  ${kind.padEnd(31)}  ${text}`)
}
