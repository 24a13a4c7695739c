// What the installed hook costs a prompt: the command as a client calls it, launcher included, with
// every SKILL.md stat-checked, in multiples of `node -e 0` of the same Node. A prompt matches nothing,
// a trigger of plain text, a pattern, for which RE2 is loaded, or, where each skill has five examples,
// an example.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { interleave } from './_measure.mjs'

const data = process.env.SKILLRAIL_BENCH ?? resolve('../shared/bench')
const generator = join(data, 'generate-skills.mjs')
/** Skills, and how many times `node -e 0` a prompt may cost that matches nothing, or a trigger. */
const cases = [
  [10, 1.3, 1.9],
  [1000, 1.6, 2],
  [10_000, 3.3, 4],
]

if (!existsSync(generator)) {
  console.log(`skipped: ${generator} is not there`)
} else {
  for (const [skills, quiet, matching] of cases) {
    measure(skills, { nothing: quiet, text: matching, pattern: matching })
  }
  const most = (limit) => Math.round(limit * 130) / 100
  for (const [skills, quiet, matching] of cases) {
    measure(skills, { nothing: most(quiet), text: most(matching), example: most(matching) })
  }
}

/** Five sentences for each skill, of the words of its name and of its own. */
function addExamples(directory) {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name, 'SKILL.md')
    const [verb, thing, number] = name.split('-')
    const sentences = [
      `${verb} the ${thing} number ${number}`,
      `could you ${verb} my ${thing} of yesterday`,
      `I have a ${thing} to ${verb}, the one called ${number}`,
      `what is wrong with ${thing} ${number}`,
      `${verb} everything about ${thing} ${number} again`,
    ]
    const trigger = `  - examples: ${JSON.stringify(sentences)}\n    inject: references/faq.md\n`
    const text = readFileSync(path, 'utf8').replace('triggers:\n', `triggers:\n${trigger}`)
    writeFileSync(path, text)
  }
}

function measure(skills, limits) {
  const home = mkdtempSync(join(tmpdir(), 'skillrail-bench-'))
  try {
    const project = join(home, 'project')
    mkdirSync(project)
    const directory = join(home, '.claude/skills')
    execFileSync(process.execPath, [generator, directory, String(skills), '--triggers'])
    if (limits.example !== undefined) addExamples(directory)
    // Skills that changed in the last seconds are read again, as they may be changing still.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500)
    const env = { HOME: home, XDG_DATA_HOME: '', XDG_CACHE_HOME: '', XDG_STATE_HOME: '' }
    const cli = resolve('dist/cli/bin.cjs')
    execFileSync(process.execPath, [cli, 'hooks', 'install', 'claude', '--quiet'], {
      cwd: project,
      env: { ...process.env, ...env },
      stdio: 'ignore',
    })
    const hook = join(home, '.local/share/skillrail/hook/skillrail-hook')
    const [name] = readdirSync(directory)
      .toSorted()
      .slice(skills / 2)
    const prompts = {
      nothing: ['hello with care', undefined],
      example: [
        `Please ${name.split('-')[0]} the ${name.split('-')[1]} number ${name.split('-')[2]}`,
        'faq',
      ],
      text: [`/${name} program with care`, 'guide'],
      pattern: [`/${name} amend --now with care`, 'api'],
    }
    for (const [kind, limit] of Object.entries(limits)) {
      const [prompt, file] = prompts[kind]
      const input = JSON.stringify({
        session_id: 'bench',
        cwd: project,
        hook_event_name: 'UserPromptSubmit',
        prompt,
      })
      const answer = execFileSync(hook, ['claude'], {
        cwd: project,
        env: { ...process.env, ...env },
        input,
      })
      const injected = /<!-- injected: references\/(\w+)/.exec(answer.toString())?.[1]
      if (injected !== file) throw new Error(`a wrong answer to ${prompt}`)
      const commands = { base: [process.execPath, '-e', '0'], hook: [hook, 'claude'] }
      const options = { base: 'base', rounds: 21, cwd: project, env, input }
      const { cpu, ratio } = interleave(commands, options).find((row) => row.name === 'hook')
      const verdict = ratio <= limit ? `at most ${limit}` : `OVER ${limit}`
      console.log(
        `${String(skills).padStart(6)} skills  ${limits.example === undefined ? '' : 'with examples  '}${kind.padEnd(7)}  ${cpu.toFixed(1).padStart(6)} ms  ${ratio.toFixed(2)} x node -e 0  (${verdict})`,
      )
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
