import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { installHook } from '../../src/hooks/install.ts'
import type { ModelRequest } from '../model-server/protocol.ts'
import { startModelServer } from '../model-server/server.ts'
import type { ModelToolCall, ModelTurn } from '../model-server/turn.ts'
import { installClients, type TestedClient } from './cache.ts'
import { type ClientRecipe, recipes } from './clients.ts'
import { makeHome, shortReference, type TestHome, write } from './home.ts'
import { runInProcess } from '../run-in-process.ts'
import { runClient } from './run-client.ts'
import { isTried } from './short.ts'

const [reference = ''] = shortReference
const rules = 'RULES 4711 OF after.'
const task = 'COUNT THE FILES 4712'
const work = 'please edit the files'

/** The requests of a client to the model in each of its runs, and the log of the hook. */
interface Conversation {
  bodies: string[][]
  /** One line for each time that the hook gave something: its event. */
  given: string[]
  output: string
}

/** A client with a hook, in an empty home; the skill `rules` has a trigger on the files `after/**`. */
async function conversation(
  name: TestedClient,
  answer: (request: ModelRequest, home: TestHome) => ModelTurn | string,
  runs: readonly (readonly string[])[],
  settings: Readonly<Record<string, (text: string) => string>> = {},
  inspect: (home: TestHome) => Promise<void> = async () => undefined,
): Promise<Conversation> {
  const client = installClients([name], { latest: false }).get(name)
  if (client === undefined) throw new Error('the client is not installed')
  const recipe: ClientRecipe = recipes[name]
  const model = await startModelServer((request) => answer(request, home))
  const home = makeHome(recipe, model.url)
  const head = '---\nname: rules\ndescription: Rules for files.\nmetadata:\n'
  const skill = join(home.home, '.agents/skills/rules')
  write(
    join(skill, 'SKILL.md'),
    `${head}  triggers: "paths: after/** => after.md"\n---\n\n# Rules\n`,
  )
  write(join(skill, 'after.md'), `${rules}\n`)
  write(join(home.project, 'after/.keep'), '')
  for (const [path, change] of Object.entries(settings)) {
    const file = join(home.home, path)
    write(file, change(existsSync(file) ? readFileSync(file, 'utf8') : ''))
  }
  const runtime = systemRuntime({ cwd: home.project, env: { HOME: home.home } })
  const bodies: string[][] = []
  let output = ''
  try {
    await installHook(runtime, name, { scope: 'user' })
    for (const args of runs) {
      model.clear()
      const run = await runClient(client, args, home, recipe.environment(model.url))
      output += run.output
      bodies.push(model.prompts().map(({ body }) => body))
    }
    await inspect(home)
    return { bodies, given: givenIn(home), output }
  } finally {
    await model.close()
    rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
  }
}

function givenIn({ home }: TestHome): string[] {
  const path = join(home, '.local/state/skillrail/hooks/log.jsonl')
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
  return lines.flatMap((line) => {
    const { event, injected }: { event?: unknown; injected?: unknown } = JSON.parse(line)
    return Array.isArray(injected) && injected.length > 0 ? [String(event)] : []
  })
}

const timesIn = (body: string, text = reference): number => body.split(text).length - 1
const hasTools = (body: string): boolean => /"(?:tools|functionDeclarations)"/.test(body)

it.each([
  ['claude', () => ({ name: 'Skill', input: { skill: 'saw' } })],
  ['codex', ({ home }) => recipes.codex.shell(home, `cat ${home}/.agents/skills/saw/SKILL.md`)],
] as const satisfies readonly (readonly [TestedClient, (home: TestHome) => ModelToolCall])[])(
  'suggests triggers from the prompts in transcripts of %s before which a skill was used',
  { timeout: 240_000 },
  async (client, call) => {
    const work = ['cut the planks', 'trim two boards', 'split this beam', 'shorten the table legs']
    const others = ['say hello', 'explain this error', 'rename the file', 'write a test']
    const called = new Set<string>()
    let suggested: unknown
    await conversation(
      client,
      ({ body }, home) => {
        const prompt = work.find((text) => body.includes(text))
        if (prompt === undefined || !hasTools(body) || called.has(prompt)) return 'done'
        called.add(prompt)
        return { calls: [call(home)] }
      },
      [...work, ...others].map((text) => recipes[client].prompt(text, true)),
      {},
      async ({ home, project }) => {
        const args = ['triggers', 'suggest', 'saw', '--json']
        const { stdout } = await runInProcess(args, { cwd: project, home })
        suggested = JSON.parse(stdout)
      },
    )
    expect(suggested).toMatchObject({
      transcripts: 8,
      suggestions: [{ skill: 'saw', prompts: { used: 4, others: 4 } }],
      diagnostics: [],
    })
    expect(JSON.stringify(suggested)).toContain('examples: [')
  },
)

describe('gives a subagent the context of the conversation', () => {
  const starts: readonly [TestedClient, (body: string) => ModelToolCall][] = [
    [
      'claude',
      (body) => ({
        name: body.includes('"name":"Agent"') ? 'Agent' : 'Task',
        input: { description: 'Count', prompt: task, subagent_type: 'general-purpose' },
      }),
    ],
    [
      'codex',
      () => ({ namespace: 'multi_agent_v1', name: 'spawn_agent', input: { message: task } }),
    ],
    [
      'copilot',
      () => ({
        name: 'task',
        input: { name: 'count', description: 'Count', prompt: task, agent_type: 'general-purpose' },
      }),
    ],
    [
      'opencode',
      () => ({
        name: 'task',
        input: { description: 'Count', prompt: task, subagent_type: 'general' },
      }),
    ],
  ]

  for (const [client, start] of starts.filter(([name]) => isTried(name))) {
    it(`${client} does`, { timeout: 120_000 }, async () => {
      const isOfSubagent = (body: string): boolean =>
        body.includes(task) && !body.includes('execute caching')
      let isStarted = false
      const { bodies, output } = await conversation(
        client,
        ({ body }) => {
          if (isOfSubagent(body)) return 'three'
          if (!body.includes('execute caching') || !hasTools(body)) return 'done'
          // A subagent in the background needs its time before its parent ends.
          if (isStarted) return { text: 'done', delayMs: 3000 }
          isStarted = true
          return { calls: [start(body)] }
        },
        [recipes[client].call('program execute caching')],
      )
      const subagentRequests = bodies.flat().filter((body) => isOfSubagent(body) && hasTools(body))
      expect({ asked: subagentRequests.length > 0, output }).toMatchObject({ asked: true })
      expect(subagentRequests.map((body) => timesIn(body))).toEqual(subagentRequests.map(() => 1))
    })
  }
})

describe('injects a reference again after the client compacts, and not before', () => {
  it('claude compacts by its command', { timeout: 200_000 }, async () => {
    const { bodies, output } = await conversation('claude', () => 'done', [
      recipes.claude.call('program execute caching'),
      ['-c', '-p', 'go on'],
      ['-c', '-p', '/compact'],
      ['-c', '-p', 'go on once more'],
    ])
    const [first = [], second = [], , last = []] = bodies
    const most = (all: readonly string[]): number =>
      Math.max(0, ...all.map((body) => timesIn(body)))
    expect({ times: [most(first), most(second), most(last)], output }).toMatchObject({
      times: [1, 1, 1],
    })
    expect(
      last.some((body) => body.includes('go on once more') && !body.includes('execute caching')),
    ).toBe(true)
  })

  interface Limit {
    client: TestedClient
    /** That the second answer claims to have used. */
    tokens: number
    events: readonly string[]
    settings?: Readonly<Record<string, (text: string) => string>>
  }
  const limits: readonly Limit[] = [
    {
      client: 'codex',
      tokens: 190_000,
      events: ['before', 'compact'],
      settings: {
        '.codex/config.toml': (text) => `model_auto_compact_token_limit = 5000\n${text}`,
      },
    },
    { client: 'copilot', tokens: 150_000, events: ['after', 'after'] },
    {
      client: 'opencode',
      tokens: 199_000,
      events: ['after', 'after'],
      settings: {
        '.config/opencode/opencode.json': (text) =>
          text.replace(
            '"name": "mock"',
            '"name": "mock", "limit": { "context": 200000, "output": 4096 }',
          ),
      },
    },
    { client: 'qwen', tokens: 168_000, events: ['after', 'after'] },
  ]

  for (const { client, tokens, events, settings } of limits.filter((one) => isTried(one.client))) {
    it(`${client} compacts by itself`, { timeout: 120_000 }, async () => {
      const { bodies, given, output } = await conversation(
        client,
        editingModel(client, tokens, 5),
        [recipes[client].prompt(work, true)],
        settings,
      )
      const summaries = bodies.flat().filter(asksForSummary)
      const last = bodies.flat().findLast((body) => hasTools(body) && !asksForSummary(body)) ?? ''
      expect({ summaries: summaries.length, output }).toMatchObject({ summaries: 1 })
      expect(timesIn(summaries[0] ?? '', rules)).toBe(1)
      expect({ given, output }).toMatchObject({ given: events })
      expect(timesIn(last, rules)).toBe(1)
    })
  }

  it('pi compacts between two prompts', { timeout: 120_000 }, async () => {
    let turn = 0
    const { bodies, given, output } = await conversation(
      'pi',
      ({ body }, { project }) => {
        if (asksForSummary(body)) return 'ok'
        turn++
        const call = recipes.pi.edit(project, `after/${turn}.txt`, 'x\n')
        if (turn % 3 === 0)
          return { text: 'done', usage: { input: turn === 3 ? 199_000 : 9, output: 1 } }
        return { calls: [call] }
      },
      [[...recipes.pi.prompt(work), 'now the others']],
      {
        '.pi/agent/settings.json': () =>
          '{ "compaction": { "enabled": true, "reserveTokens": 16384, "keepRecentTokens": 10 } }\n',
      },
    )
    expect({ given, output }).toMatchObject({ given: ['after', 'after'] })
    expect(bodies.flat().filter(asksForSummary).length).toBeGreaterThan(0)
  })

  it.runIf(isTried('gemini'))(
    'gemini compacts without a report',
    { timeout: 120_000 },
    async () => {
      const { bodies, given, output } = await conversation(
        'gemini',
        editingModel('gemini', 10, 53),
        [recipes.gemini.prompt(work, true)],
      )
      expect({ given, output }).toMatchObject({ given: ['after', 'after'] })
      expect(timesIn(bodies.flat().at(-1) ?? '', rules)).toBe(2)
    },
  )
})

/** Edits one file after another; its second answer claims `tokens` of the context. */
function editingModel(client: TestedClient, tokens: number, edits: number) {
  let edit = 0
  return ({ body }: ModelRequest, { project }: TestHome): ModelTurn | string => {
    if (asksForSummary(body)) {
      const text = `<state_snapshot>${work}</state_snapshot>`
      return { text, usage: { input: tokens, output: 20 } }
    }
    if (!body.includes(work) || !hasTools(body)) return 'ok'
    edit++
    if (edit > edits) return 'done'
    const call = recipes[client].edit(project, `after/${edit}.txt`, 'x\n')
    // A summary is written beside the next call, so that this one waits for it.
    const delayMs = tokens > 1000 && edit > 2 ? 1000 : 0
    return { calls: [call], delayMs, usage: { input: edit === 2 ? tokens : 10, output: 5 } }
  }
}

/** The last message, and in pi the only one, asks for a summary of the conversation. */
function asksForSummary(body: string): boolean {
  const { messages, input, contents }: Readonly<Record<string, unknown>> = JSON.parse(body)
  const all = [messages, input, contents].find((list) => Array.isArray(list)) ?? []
  return /summar|state_snapshot|checkpoint compaction/i.test(JSON.stringify(all.at(-1)))
}
