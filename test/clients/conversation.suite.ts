import { rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { installHook } from '../../src/hooks/install.ts'
import type { ModelRequest } from '../model-server/protocol.ts'
import { startModelServer } from '../model-server/server.ts'
import type { ModelTurn } from '../model-server/turn.ts'
import { installClients } from './cache.ts'
import { recipes } from './clients.ts'
import { makeHome, shortReference } from './home.ts'
import { runClient } from './run-client.ts'

const [reference = ''] = shortReference
const task = 'COUNT THE FILES 4712'

/** Claude Code with a hook, and what each of its runs asked the model. */
async function conversation(
  answer: (request: ModelRequest) => ModelTurn | string,
  runs: readonly (readonly string[])[],
): Promise<{ bodies: string[][]; output: string }> {
  const client = installClients(['claude'], { latest: false }).get('claude')
  if (client === undefined) throw new Error('the client is not installed')
  const recipe = recipes.claude
  const model = await startModelServer(answer)
  const home = makeHome(recipe, model.url)
  const runtime = systemRuntime({ cwd: home.project, env: { HOME: home.home } })
  const bodies: string[][] = []
  let output = ''
  try {
    await installHook(runtime, 'claude', { scope: 'user' })
    for (const args of runs) {
      model.clear()
      const run = await runClient(client, args, home, recipe.environment(model.url))
      output += run.output
      bodies.push(model.prompts().map(({ body }) => body))
    }
    return { bodies, output }
  } finally {
    await model.close()
    rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
  }
}

const timesIn = (body: string): number => body.split(reference).length - 1

it(
  'gives a subagent of Claude Code what the conversation was given',
  { timeout: 120_000 },
  async () => {
    const isOfSubagent = (body: string): boolean =>
      body.includes(task) && !body.includes('execute caching')
    let isStarted = false
    const { bodies, output } = await conversation(
      ({ body }) => {
        if (isStarted || !body.includes('execute caching') || !body.includes('"tools"'))
          return 'done'
        isStarted = true
        const name = body.includes('"name":"Agent"') ? 'Agent' : 'Task'
        const input = { description: 'Count', prompt: task, subagent_type: 'general-purpose' }
        return { calls: [{ name, input }] }
      },
      [recipes.claude.call('program execute caching')],
    )
    const own = bodies.flat().filter(isOfSubagent)
    expect({ asked: own.length > 0, output }).toMatchObject({ asked: true })
    expect(own.map(timesIn)).toEqual(own.map(() => 1))
  },
)

it(
  'gives references again after Claude Code compacts, and not before',
  { timeout: 200_000 },
  async () => {
    const { bodies, output } = await conversation(
      () => 'done',
      [
        recipes.claude.call('program execute caching'),
        ['-c', '-p', 'go on'],
        ['-c', '-p', '/compact'],
        ['-c', '-p', 'go on once more'],
      ],
    )
    const [first = [], second = [], , last = []] = bodies
    const most = (all: readonly string[]): number => Math.max(0, ...all.map(timesIn))
    expect({ times: [most(first), most(second), most(last)], output }).toMatchObject({
      times: [1, 1, 1],
    })
    expect(
      last.some((body) => body.includes('go on once more') && !body.includes('execute caching')),
    ).toBe(true)
  },
)
