// Measures subagents, in process, against a model that answers at once:
//  - delegations of three model calls and two calls of tools, in turns with the bare tool loop of
//    the AI SDK with the same model, tools and prompt (limit: 15 % above it): when the compiler is
//    done, and the first 1,000 of a process. The bare loop is measured twice: as a program writes
//    it, and without its telemetry, which a delegation never has and which is more than half of
//    what the loop costs when a model answers at once;
//  - making one with 20 tools and 3 skills, without asking its model (limit: 5 ms;
//    6.1 row 4 of the requirements allows 50);
//  - the memory that is left after 1,000 finished delegations (limit: 5 MB), which needs
//    `--expose-gc` and so starts a process of its own.
// ROUNDS sets the rounds (default 15), of 3,000 delegations after 2,000 and of the first 1,000.
// SOURCE=src measures the sources.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isStepCount, jsonSchema, tool, ToolLoopAgent } from 'ai'
import { median } from './_measure.mjs'

const root = path.resolve(import.meta.dirname, '../..')
const [folder, ending] = process.env.SOURCE === 'src' ? ['src', 'ts'] : ['dist', 'js']
const entry = (name) => path.join(root, folder, `entries/${name}.${ending}`)
const rounds = Number(process.env.ROUNDS ?? 15)

if (!existsSync(entry('agent'))) {
  console.log('skipped: dist/ is not built (npm run build)')
  process.exit(0)
}
globalThis.AI_SDK_LOG_WARNINGS = false
const { Agent } = await import(entry('agent'))
const { systemRuntime } = await import(entry('index'))

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
}
/** Calls two tools, one after the other, then answers. Remembers nothing of what it was asked. */
const model = {
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'instant',
  supportedUrls: {},
  async doGenerate({ prompt }) {
    const calls = prompt.filter(({ role }) => role === 'tool').length
    const answered = calls === 2
    const called = { toolCallId: `c${calls}`, toolName: `tool_${calls}`, input: '{"text":"a"}' }
    const content = [answered ? { type: 'text', text: 'Done.' } : { type: 'tool-call', ...called }]
    const unified = answered ? 'stop' : 'tool-calls'
    return { content, finishReason: { unified, raw: unified }, usage, warnings: [] }
  },
}
const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const instructions = 'You work with tools.'
const names = Array.from({ length: 20 }, (_, index) => `tool_${index}`)
const tools = names.map((name) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: schema,
  readOnly: true,
  origin: { kind: 'program' },
  execute: async ({ text }) => `said ${text}`,
}))

const [part, way, before, measured] = process.argv.slice(2)
if (part === 'memory') await measureMemory()
else if (part === 'way') await measureWay(way, Number(before), Number(measured))
else if (part === undefined) {
  const limit = 'limit 1.15'
  const ways = ['bare', 'quiet', 'delegate']
  compare('delegations', { before: 2000, measured: 3000, inRounds: rounds, ways, limit })
  const first = { before: 1, measured: 1000, inRounds: rounds, ways: ['bare', 'delegate'] }
  compare('  the first 1,000 of a process', { ...first, limit })
  await measureSpawn()
  inProcess(['--expose-gc'], ['memory'], 'inherit')
}

/** This file once more, in a process of its own. */
function inProcess(flags, args, stdout) {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const command = [...flags, import.meta.filename, ...args]
  return spawnSync(process.execPath, command, { stdio: ['ignore', stdout, 'inherit'], env }).stdout
}

function agentWith(options = {}) {
  const config = { name: 'worker', description: 'Works.', systemPrompt: instructions }
  const subagents = [{ ...config, tools: names, skills: options.skills }]
  return new Agent({ model, tools, discover: false, ...options.agent, subagents })
}

async function measureSpawn() {
  const home = mkdtempSync(path.join(tmpdir(), 'skillrail-bench-'))
  try {
    const skills = ['one', 'two', 'three']
    for (const name of skills) {
      const directory = path.join(home, '.skillrail/skills', name)
      mkdirSync(directory, { recursive: true })
      const body = 'Do it well.\n'.repeat(200)
      writeFileSync(
        path.join(directory, 'SKILL.md'),
        `---\nname: ${name}\ndescription: Does ${name}. Use when asked.\n---\n${body}`,
      )
    }
    const runtime = systemRuntime({ home, cwd: home, env: {} })
    const agent = agentWith({ skills, agent: { runtime, skills, discover: true } })
    const samples = []
    for (let round = 0; round < 200; round++) {
      const began = performance.now()
      await agent.subagentManager.spawn('worker', 'Work.')
      samples.push(performance.now() - began)
    }
    const [first] = samples
    console.log(
      `spawn with 20 tools and 3 skills: median ${median(samples).toFixed(2)} ms, first ${first.toFixed(2)} ms (limit 5)`,
    )
    await agent.close()
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** What is compared; each way is three model calls and two calls of tools. */
function waysOf(agent) {
  const bareTools = Object.fromEntries(
    names.map((name) => [
      name,
      tool({
        description: `The tool ${name}.`,
        inputSchema: jsonSchema(schema),
        execute: async ({ text }) => `said ${text}`,
      }),
    ]),
  )
  const bareLoop = async (options) => {
    const loop = { model, instructions, tools: bareTools, stopWhen: isStepCount(50), ...options }
    const { steps } = await new ToolLoopAgent(loop).generate({ prompt: 'Work.' })
    if (steps.length !== 3) throw new Error('the bare loop did something else')
  }
  return {
    bare: () => bareLoop({}),
    quiet: () => bareLoop({ telemetry: { isEnabled: false } }),
    delegate: async () => {
      const { success, result } = await agent.delegate('worker', 'Work.')
      if (!success || result.turns !== 3) throw new Error('a delegation did something else')
    },
  }
}

/**
 * One process a way, in turns, whose order is reversed from round to round; the ratio is the median
 * of those of the rounds. In one process the ways pay for each other: who comes next collects what
 * the last one left behind, and what one keeps makes every collection longer. That alone moved the
 * ratio between 0.84 and 1.27.
 */
function compare(title, { before, measured, inRounds, ways, limit }) {
  const times = Object.fromEntries(ways.map((name) => [name, []]))
  for (let round = 0; round < inRounds; round++) {
    for (const name of round % 2 === 0 ? ways : ways.toReversed()) {
      const text = inProcess([], ['way', name, before, measured], 'pipe').toString()
      times[name].push(Number(text))
    }
  }
  const ms = (name) => `${median(times[name]).toFixed(3)} ms`
  const against = (name) => {
    const ratios = times.delegate.map((value, round) => value / times[name][round])
    const [low, high] = [0.25, 0.75].map((part) => quantile(ratios, part).toFixed(2))
    return `ratio ${median(ratios).toFixed(2)}, half of the rounds ${low} to ${high}`
  }
  console.log(
    `${title}: ${ms('delegate')} each, bare loop ${ms('bare')}, ${against('bare')} (${limit})`,
  )
  if ('quiet' in times) {
    console.log(`  without its telemetry: ${ms('quiet')}, ${against('quiet')} (no limit)`)
  }
}

function quantile(values, part) {
  return values.toSorted((a, b) => a - b)[Math.floor(part * (values.length - 1))]
}

/** Prints the milliseconds of CPU that one takes, after so many others. */
async function measureWay(name, before, measured) {
  const agent = agentWith()
  const work = waysOf(agent)[name]
  for (let index = 0; index < before; index++) await work()
  console.log(await cpuOf(work, measured))
  await agent.close()
}

/** Milliseconds of CPU that one of so many takes. */
async function cpuOf(work, times) {
  const began = process.cpuUsage()
  for (let index = 0; index < times; index++) await work()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1000 / times
}

async function measureMemory() {
  const agent = agentWith()
  const delegate = async (count) => {
    for (let index = 0; index < count; index++) await agent.delegate('worker', 'Work.')
    for (let index = 0; index < 5; index++) {
      globalThis.gc()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return process.memoryUsage().heapUsed / 1024 / 1024
  }
  const before = await delegate(100)
  const after = await delegate(1000)
  console.log(
    `memory after 1,000 delegations: ${(after - before).toFixed(2)} MB more than before (limit 5)`,
  )
  await agent.close()
}
