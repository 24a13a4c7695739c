// What the installed hook costs a prompt: the command as a client calls it, launcher included, with
// every SKILL.md stat-checked, in multiples of `node -e 0` of the same Node. A prompt matches nothing,
// a trigger of plain text, or a pattern, for which RE2 is loaded.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
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
  for (const [skills, quiet, matching] of cases)
    measure(skills, { nothing: quiet, text: matching, pattern: matching })
}

function measure(skills, limits) {
  const home = mkdtempSync(join(tmpdir(), 'skillrail-bench-'))
  try {
    const project = join(home, 'project')
    mkdirSync(project)
    const directory = join(home, '.claude/skills')
    execFileSync(process.execPath, [generator, directory, String(skills), '--triggers'])
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
      text: [`/${name} program with care`, 'guide'],
      pattern: [`/${name} amend --now with care`, 'api'],
    }
    for (const [kind, [prompt, file]] of Object.entries(prompts)) {
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
      const limit = limits[kind]
      const verdict = ratio <= limit ? `at most ${limit}` : `OVER ${limit}`
      console.log(
        `${String(skills).padStart(6)} skills  ${kind.padEnd(7)}  ${cpu.toFixed(1).padStart(6)} ms  ${ratio.toFixed(2)} x node -e 0  (${verdict})`,
      )
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
