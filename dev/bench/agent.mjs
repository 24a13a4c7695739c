// Measures what an agent costs before it works: the imports against that of the AI SDK, what skills add
// to a step of its loop, and the rows 6.1 row 1, 6.1 row 2 and 6.1 row 3 of the requirements. ROUNDS sets the rounds (default 7).
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { interleave, median } from './_measure.mjs'

const rounds = Number(process.env.ROUNDS ?? 7)
const root = join(import.meta.dirname, '../..')
if (!existsSync(join(root, 'dist/entries/agent.js'))) {
  console.log('skipped: dist/ is not built (npm run build)')
  process.exit(0)
}
const { SkillManager, systemRuntime } = await import('../../dist/entries/index.js')

const base = mkdtempSync(join(tmpdir(), 'skillrail-bench-'))
try {
  importCost()
  await stepTime()
  await skillTimes()
} finally {
  rmSync(base, { recursive: true, force: true })
}

/** CPU of whole processes that take turns. */
function importCost() {
  const load = (...names) => [
    process.execPath,
    '--input-type=module',
    '-e',
    names.map((name) => `import ${JSON.stringify(name)}`).join('; '),
  ]
  const entry = (name) => join(root, `dist/entries/${name}.js`)
  const commands = {
    ai: load('ai'),
    'ai and skillrail/ai (at most 1.3 x)': load('ai', entry('ai')),
    'skillrail/ai': load(entry('ai')),
    'skillrail/agent': load(entry('agent')),
  }
  const rows = interleave(commands, { base: 'ai', rounds: 2 * rounds, cwd: root })
  for (const { name, cpu, ratio } of rows) line(`import '${name}'`, `${cpu.toFixed(0)} ms`, ratio)
}

/** What an active skill among 50 adds to each step of an agent of the AI SDK. */
async function stepTime() {
  const { ToolLoopAgent, tool, jsonSchema } = await import('ai')
  const { createSkills } = await import('../../dist/entries/ai.js')
  const { defineSkill } = await import('../../dist/entries/index.js')
  const steps = 20
  const names = Array.from({ length: 50 }, (_, index) => `skill-${index}`)
  const skills = await createSkills({
    skills: names.map((name) =>
      defineSkill({ name, description: `Does ${name}.`, body: 'Do it.' }),
    ),
    runtime: systemRuntime({ cwd: base, home: join(base, 'home'), env: {} }),
  })
  const noop = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: async () => 'ok' })
  const tools = { noop }
  const time = async (settings) => {
    const agent = new ToolLoopAgent({ model: steppingModel(steps), ...settings })
    const samples = []
    for (let round = 0; round < 30; round++) {
      samples.push(await timed(() => agent.generate({ prompt: '/skill-1 now' })))
    }
    return median(samples) / steps
  }
  const stopWhen = ({ steps: done }) => done.length === steps
  const bare = await time({ tools, stopWhen })
  const ours = await time(skills.settings({ tools, stopWhen }))
  line('our share of a step (at most 1 ms)', `${(ours - bare).toFixed(3)} ms`, ours / bare)
}

function steppingModel(steps) {
  const usage = { inputTokens: { total: 10 }, outputTokens: { total: 2 } }
  let step = 0
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'instant',
    supportedUrls: {},
    async doGenerate() {
      const isLast = ++step % steps === 0
      const called = { toolCallId: `c${step}`, toolName: 'noop', input: '{}' }
      const content = [isLast ? { type: 'text', text: 'Done.' } : { type: 'tool-call', ...called }]
      const unified = isLast ? 'stop' : 'tool-calls'
      return { content, finishReason: { unified, raw: unified }, usage, warnings: [] }
    },
  }
}

/** What the requirements ask of skills, on a directory of 50. */
async function skillTimes() {
  const runtime = systemRuntime({ cwd: base, home: join(base, 'home'), env: {} })
  mkdirSync(join(base, '.git'))
  for (let index = 0; index < 50; index++) writeSkill(`skill-${index}`)
  const options = { runtime, workspaceTrust: 'trusted' }
  const scans = []
  const bodies = []
  for (let round = 0; round < rounds * 3; round++) {
    const manager = new SkillManager(options)
    scans.push(await timed(() => manager.discover()))
    bodies.push((await timed(() => activateAll(manager))) / 50)
  }
  const scan = median(scans)
  line('6.1 row 1: a scan of 50 skills (at most 100 ms)', `${scan.toFixed(1)} ms`)
  line('6.1 row 2: the metadata of one skill (at most 1 ms)', `${(scan / 50).toFixed(3)} ms`)
  line('6.1 row 3: the body of one skill (at most 10 ms)', `${median(bodies).toFixed(2)} ms`)
}

async function activateAll(manager) {
  for (let index = 0; index < 50; index++) await manager.activate(`skill-${index}`)
}

function writeSkill(name) {
  const directory = join(base, '.skillrail/skills', name)
  mkdirSync(directory, { recursive: true })
  const body = 'A line of instructions.\n'.repeat(200)
  const head = `name: ${name}\ndescription: Does ${name}. Use when measuring.`
  writeFileSync(join(directory, 'SKILL.md'), `---\n${head}\n---\n${body}`)
}

async function timed(work) {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function line(name, value, ratio) {
  const times = ratio === undefined ? '' : `${ratio.toFixed(2).padStart(7)} x`
  console.log(`  ${name.padEnd(62)} ${value.padStart(10)}${times}`)
}
