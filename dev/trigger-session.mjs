// One kind of trigger in a session of the real Claude Code. To record it:
//
//   npm run pictures -- --only trigger-paths
//
// Everything is real but the model: a server on 127.0.0.1 that follows the script below. What follows
// a `#` is said by this script; "the model read" lines are from the requests that the client sent.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { installClients } from '../test/clients/cache.ts'
import { recipes } from '../test/clients/clients.ts'
import { makeHome } from '../test/clients/home.ts'
import { startModelServer } from '../test/model-server/server.ts'

const bin = fileURLToPath(new URL('../src/cli/bin.ts', import.meta.url))
const recipe = recipes.claude
const edit = (home) => recipe.edit(home.project, 'src/button.tsx', 'export const Button = 1\n')
const push = (home) => recipe.shell(home.project, 'git push')

/** The trigger, its reference, the prompt, and the calls that the model makes, one an answer. */
const kinds = {
  match: {
    trigger: 'match: ^/ship( |$)',
    reference: 'Ask for the version before anything else.',
    prompts: ['/ship the api', 'what is in this folder?'],
    calls: () => [],
  },
  examples: {
    trigger: 'examples: [ship the service to staging, roll out the new version]',
    reference: 'Ask for the version before anything else.',
    prompts: ['please roll out the new version of the api', 'what is in this folder?'],
    calls: () => [],
  },
  paths: {
    trigger: 'paths: [src/**/*.tsx]',
    require: true,
    reference: 'Components are functions with typed properties.',
    prompts: ['add a button'],
    calls: (home) => [edit(home), edit(home)],
  },
  command: {
    trigger: 'command: ^git push',
    require: true,
    reference: 'Run the tests before a push.',
    prompts: ['push my branch'],
    calls: (home) => [push(home), push(home)],
  },
}

const kind = kinds[process.argv[2]]
if (kind === undefined) {
  console.error(`usage: node dev/trigger-session.mjs ${Object.keys(kinds).join('|')}`)
  process.exitCode = 2
} else await session(kind)

async function session({ trigger, require, reference, prompts, calls }) {
  const { program } = installClients(['claude'], { latest: false }).get('claude')
  let left = []
  const read = []
  const model = await startModelServer(({ body }) => {
    if (!body.includes('"tools"')) return 'ok'
    read.push(body.includes(reference))
    const call = left.shift()
    return call === undefined ? 'Done.' : { calls: [call], delayMs: 1500 }
  })
  const home = makeHome(recipe, model.url)
  try {
    const skill = join(home.project, '.claude/skills/ship')
    const more = require ? '    require: true\n' : ''
    const list = `triggers:\n  - ${trigger}\n    inject: rules.md\n${more}`
    write(
      join(skill, 'SKILL.md'),
      `---\nname: ship\ndescription: Ships and builds this project.\n${list}---\n# Ship\n`,
    )
    write(join(skill, 'rules.md'), `${reference}\n`)
    console.log(`# .claude/skills/ship/SKILL.md\n${list}`)
    await skillrail(home, ['hooks', 'install', 'claude'], 1)
    await skillrail(home, ['trust', '--yes'])
    for (const prompt of prompts) {
      left = calls(home)
      read.length = 0
      const args = recipe.prompt(prompt, true)
      await run(home, ['claude', program], args, recipe.environment(model.url), Infinity)
      for (const [index, has] of read.entries())
        console.log(
          `# request ${index + 1}: the model read ${has ? JSON.stringify(reference) : 'no reference'}`,
        )
    }
    await skillrail(home, ['hooks', 'log'])
  } finally {
    await model.close()
    rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** @param lines of its output that are shown; all of them by default. */
function skillrail(home, args, lines = Infinity) {
  return run(home, ['skillrail', process.execPath, '--no-warnings', bin], args, {}, lines)
}

async function run({ home, project, path }, [name, program, ...before], args, more, lines) {
  const shown = args.map((word) => (/[\s/]/.test(word) ? JSON.stringify(word) : word)).join(' ')
  console.log(`\n$ ${name} ${shown}`)
  const env = { PATH: path, HOME: home, TERM: 'xterm-256color', ...more }
  const stdio = ['ignore', 'pipe', 'inherit']
  const child = spawn(program, [...before, ...args], { cwd: project, env, stdio })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const all = output.replaceAll(project, '/project').replaceAll(home, '~').trimEnd().split('\n')
  console.log(all.slice(0, lines).join('\n') + (all.length > lines ? '\n…' : ''))
  if (code !== 0) process.exitCode = code ?? 1
}

function write(file, content) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}
