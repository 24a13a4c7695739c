import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { type Scenario, type Step, stepsOf } from '../commands/_scenario.ts'

// The text that people read first. All other output is tested by its codes and its structure, in
// test/commands and with the features.

const program = "printf 'output:\\n  status: success\\n  result: 42 tests passed\\n'"

function chains({ skill }: Scenario): void {
  skill('build', { run: 'echo built' })
  skill('measure', { run: program })
  skill('fail', { run: 'echo no disk >&2\nexit 3' })
  skill('release', { metadata: ['chain: build measure'] })
  skill('stopping', { metadata: ['chain: build fail measure', 'continue_on_error: "false"'] })
  skill('gated', { metadata: ['chain: build measure', 'gates: measure'] })
  skill('circle', { metadata: ['chain: circle build'] })
}

function invalidSkill({ write }: Scenario): void {
  write('project/.skillrail/skills/broken/SKILL.md', '---\nname: Broken\n---\n')
}

function servers({ directory, write }: Scenario): void {
  const scripted = `${directory}/skillrail/test/fixtures/programs/scripted-server.mjs`
  const args = ['--disable-warning=ExperimentalWarning', scripted, `${directory}/github.json`]
  const properties = { owner: { type: 'string' }, repo: { type: 'string' } }
  const inputSchema = { type: 'object', properties, required: ['owner', 'repo'] }
  const tools = {
    list_issues: { description: 'List the issues of a repository.', inputSchema },
    take_screenshot: { description: 'Take a screenshot of a page.' },
  }
  write('github.json', JSON.stringify(tools))
  const github = { command: `${directory}/bin/node`, args: [...args, `${directory}/calls`] }
  write('project/.mcp.json', JSON.stringify({ mcpServers: { github } }))
}

const pages: Readonly<Record<string, (scenario: Scenario) => Promise<void>>> = {
  async 'help and wrong use'({ run }) {
    await run('--help')
    await run('help --all')
    await run('run --help')
    await run('runs --help')
    await run('rnu')
    await run('run')
    await run('list --bogus')
    await run('--config missing.json list')
  },
  async 'the overview'(scenario) {
    await scenario.run('')
    chains(scenario)
    await scenario.run('')
    invalidSkill(scenario)
    await scenario.run('')
  },
  async 'skills and their validation'(scenario) {
    const { run } = scenario
    chains(scenario)
    await run('list')
    await run('show build')
    await run('show biuld')
    await run('validate')
    invalidSkill(scenario)
    await run('validate')
    await run('validate nowhere')
  },
  async trust(scenario) {
    const { run, write } = scenario
    chains(scenario)
    await run('trust')
    await run('trust --dry-run')
    await run('trust --yes')
    write('project/.skillrail/skills/build/scripts/run.sh', '#!/bin/sh\necho changed\n')
    await run('trust --dry-run')
    await run('trust --list')
  },
  async 'chains and runs'(scenario) {
    const { run } = scenario
    chains(scenario)
    const trusted = '--trust-workspace'
    await run(`chain plan release ${trusted}`)
    await run(`chain plan circle ${trusted}`)
    await run(`run release ${trusted}`)
    await run('runs show RUN')
    await run(`run stopping ${trusted}`)
    await run('runs show RUN')
    await run(`run gated ${trusted}`)
    await run('runs show nothing')
    await run('run nothing')
  },
  async tools(scenario) {
    const { run } = scenario
    await run('tools list')
    servers(scenario)
    await run('tools refresh')
    await run('tools refresh --trust-workspace --quiet')
    await run('tools list --trust-workspace')
    await run('tools list --server nothing --trust-workspace')
    await run('tools search screenshot --trust-workspace')
    await run('tools search zebra --trust-workspace')
    await run('tools call list_issues owner=octo --trust-workspace')
  },
}

const hooks = async (scenario: Scenario): Promise<void> => {
  const { run } = scenario
  scenario.write('home/.claude/settings.json', '{ "theme": "dark" }\n')
  await run('hooks status')
  await run('hooks install claude')
  await run('hooks status')
  await run('hooks install nobody')
  const clients = ['codex', 'copilot', 'cursor', 'gemini', 'config/opencode', 'pi/agent', 'qwen']
  for (const folder of clients) scenario.write(`home/.${folder}/here`, '')
  await run('hooks install')
}

/** In first-read.txt and hooks.txt: what must fit on one screen, for a normal project. */
const onOneScreen = ['trust', 'trust --dry-run', 'run stopping --trust-workspace', 'hooks install']
const linesOfScreen = 24

/** `hooks install` copies a file that the build makes. */
const isBuilt = existsSync(fileURLToPath(new URL('../../dist/hook/hook.cjs', import.meta.url)))

it('prints what is recorded', { timeout: 180_000 }, async () => {
  await expectRecorded('first-read', pages)
})

it.skipIf(!isBuilt)('prints what is recorded about hooks', async () => {
  await expectRecorded('hooks', { hooks })
})

/** Compares with `NAME.txt`, or writes it with `UPDATE_GOLDEN=1`. */
async function expectRecorded(name: string, scenarios: typeof pages): Promise<void> {
  const sections: string[] = []
  for (const [title, play] of Object.entries(scenarios)) {
    const steps = await stepsOf(play)
    for (const { line, stdout, stderr } of steps) {
      if (!onOneScreen.includes(line.replace('skillrail ', ''))) continue
      // Below a terminal the output of scripts is not printed: only the lines of steps.
      const lines = `${stdout}${stderr.replaceAll(/^\[.*\n/gm, '')}`.split('\n')
      expect([line, lines.length <= linesOfScreen ? 'fits' : lines]).toEqual([line, 'fits'])
    }
    sections.push(`# ${title}\n\n${steps.map(textOf).join('\n')}`)
  }
  const text = sections.join('\n')
  const path = fileURLToPath(new URL(`${name}.txt`, import.meta.url))
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, text)
  expect(text).toBe(existsSync(path) ? readFileSync(path, 'utf8') : '')
}

function textOf({ line, code, stdout, stderr }: Step): string {
  return `$ ${line}\nexit ${code}\n${block('stdout', stdout)}${block('stderr', stderr)}`
}

function block(name: string, text: string): string {
  if (text === '') return ''
  return `--- ${name}\n${text}${text.endsWith('\n') ? '' : '\n(no newline at the end)\n'}`
}
