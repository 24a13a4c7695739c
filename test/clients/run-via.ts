import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { agentClis, isAgentCli } from '../../src/exec/agent-clients.ts'
import { installClients, type InstalledClient, type TestedClient } from './cache.ts'
import { recipes } from './clients.ts'
import { inParallel } from './in-parallel.ts'
import { makeHome, type TestHome, write } from './home.ts'
import { isTried } from './short.ts'
import { startModelServer } from '../model-server/server.ts'
import { bin } from '../command-line.ts'

// Real clients as the executor of a chain's step, against a mock model. Arguments: names of clients.
const names = process.argv.slice(2)
const usual = Object.keys(agentClis).filter(isTried)
const clients = (names.length > 0 ? names : usual).filter(isAgentCli)
let failed = 0

/** From the body, the arguments, the state, and the reference of a trigger. */
const marks = ['REVIEW WITH CARE', 'src/a.ts', '42 files', 'THE STRICT RULES']

await inParallel([...installClients(clients, { latest: false })], async ([client, program]) => {
  const first = await checkClient(client, program)
  // Real clients stumble now and then: what fails twice has failed.
  const problems = first.length === 0 ? first : await checkClient(client, program)
  console.log(`${problems.length === 0 ? 'ok' : 'FAILED'} --via ${client} ${program.version}`)
  for (const problem of problems) console.log(`  ${problem.replaceAll('\n', '\n  ')}`)
  failed += problems.length
})
process.exitCode = failed === 0 ? 0 : 1

/** The model saw all of the skill, and only an answer with an output block is a success. */
async function checkClient(client: TestedClient, installed: InstalledClient): Promise<string[]> {
  const recipe = recipes[client]
  const problems: string[] = []
  let answer =
    'I looked at it.\n\n```yaml\noutput:\n  status: success\n  result: seven findings\n```'
  const model = await startModelServer(() => answer)
  const home = makeHome(recipe, model.url)
  symlinkSync(installed.program, join(home.home, 'bin', client))
  spawnSync('git', ['init', '-q', home.project])
  writeProject(home, client)
  const run = (): Promise<{ code: number | null; stdout: string; stderr: string }> =>
    runChain(home, client, recipe.environment(model.url))
  try {
    const good = await run()
    const promptBodies = model.prompts().map(({ body }) => body)
    if (!promptBodies.some((body) => marks.every((mark) => body.includes(mark)))) {
      problems.push(`the model was not told everything, in ${promptBodies.length} requests`)
    }
    if (good.code !== 0 || !good.stdout.includes('seven findings')) {
      problems.push(`the step did not succeed: ${good.code} ${good.stdout}${good.stderr}`)
    }
    answer = 'All done, everything is perfect.'
    const silent = await run()
    if (silent.code !== 1 || !silent.stdout.includes('output-missing')) {
      problems.push(`an answer without an output block passed: ${silent.code} ${silent.stdout}`)
    }
  } finally {
    await model.close()
    rmSync(home.home, { recursive: true, force: true })
  }
  return problems
}

function writeProject({ home, project }: TestHome, client: TestedClient): void {
  const skills = join(project, '.skillrail/skills')
  write(
    join(skills, 'main/SKILL.md'),
    '---\nname: main\ndescription: Reviews. Use when testing.\nmetadata:\n  chain: "count review"\n---\n',
  )
  write(
    join(skills, 'count/SKILL.md'),
    '---\nname: count\ndescription: Counts. Use when testing.\n---\n',
  )
  write(join(skills, 'count/scripts/run.sh'), '#!/bin/sh\necho "42 files"\n', 0o755)
  write(
    join(skills, 'review/SKILL.md'),
    '---\nname: review\ndescription: Reviews. Use when testing.\ntriggers:\n  - match: "^/review strictly"\n    inject: references/strict.md\n---\nREVIEW WITH CARE the file $1.\n',
  )
  write(join(skills, 'review/references/strict.md'), 'THE STRICT RULES\n')
  if (client !== 'gemini') return
  // A headless Gemini CLI refuses a folder that its user has not trusted.
  write(join(home, '.gemini/trustedFolders.json'), JSON.stringify({ [project]: 'TRUST_FOLDER' }))
  mkdirSync(join(home, '.gemini'), { recursive: true })
}

async function runChain(
  { home, project, path }: TestHome,
  client: TestedClient,
  environment: Readonly<Record<string, string>>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const words = [
    'run',
    'main',
    '--via',
    client,
    '--json',
    '--max-time',
    '120',
    'strictly',
    'src/a.ts',
  ]
  const child = spawn(process.execPath, ['--no-warnings', bin, '--trust-workspace', ...words], {
    cwd: project,
    env: {
      PATH: path,
      HOME: home,
      SKILLRAIL_RUN_ENVIRONMENT: 'MOCK_KEY',
      GEMINI_MODEL: 'gemini-2.5-flash',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', (status) => resolve(status))
  })
  return { code, stdout, stderr }
}
