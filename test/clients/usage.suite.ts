import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Usage } from '../../src/project/usage.ts'
import type { ModelTurn } from '../model-server/turn.ts'
import { installClients } from './cache.ts'
import { recipes } from './clients.ts'
import type { TestHome } from './home.ts'
import { commandLine, railSession, type RailTools, type Script } from './rail-session.ts'

const wanted = process.env['CLIENTS']?.split(',')
const clients = (['claude', 'codex'] as const).filter((one) => wanted?.includes(one) !== false)
const cost = { input: 1000, cached: 400, output: 30, reasoning: 10 }

it.each(clients)(
  'reports the tokens, the files and the rail that a session of %s had',
  async (name) => {
    const recipe = recipes[name]
    const client = installClients([name], { latest: false }).get(name)
    if (!client) throw new Error(`${name} is not installed`)
    let home: TestHome | undefined
    let answers = 0
    let usage: Usage | undefined
    const turn = (answer: ModelTurn): ModelTurn => ({ ...answer, usage: cost })
    const read = (tools: RailTools) => {
      const place = join(home?.home ?? '', recipe.skills)
      return tools.shell(`cd ${place}/publish-it && head -3 SKILL.md && ls ../saw`)
    }
    const script: Script = [
      (tools) => turn({ calls: [tools.publish()] }),
      (tools) => turn({ calls: [read(tools)] }),
      () => turn({ text: 'It is done.' }),
      (tools) => turn({ calls: [tools.work()] }),
      ...Array.from({ length: 6 }, () => () => turn({ text: 'I wrote done.txt.' })),
    ]
    await railSession(name, client, recipe, script, {
      later: ['go on'],
      onEvent(event) {
        if (event.kind === 'start') home = event.home
        if (event.kind === 'model') answers++
        if (event.kind === 'end' && home) usage = usageIn(home)
      },
    })
    expect(usage?.diagnostics).toEqual([])
    const own = usage?.clients.filter(({ client: one }) => one === name)
    expect(own).toMatchObject([
      {
        client: name,
        transcripts: 'read',
        sessions: 1,
        models: [
          {
            model: 'mock',
            calls: answers,
            tokens: {
              input: 600 * answers,
              cacheRead: 400 * answers,
              cacheWrite: 0,
              output: 30 * answers,
            },
          },
        ],
      },
    ])
    // Codex brings skills of its own.
    const uses = (usage?.skills ?? []).map(({ name: skill, read: opened, ran }) => {
      return [skill, [opened, ran]] as const
    })
    expect(Object.fromEntries(uses)).toMatchObject({
      ship: [1, 1],
      implement: [0, 1],
      'publish-it': [1, 0],
      saw: [0, 0],
    })
    expect(usage?.rails).toMatchObject([
      {
        chain: 'ship',
        client: name,
        version: client.version,
        status: 'waiting',
        denied: 1,
        keptWorking: 1,
      },
    ])
    expect(own?.[0]?.injected.events).toBeGreaterThanOrEqual(3)
  },
)

function usageIn({ home, project, path }: TestHome): Usage {
  const env = { HOME: home, PATH: path, NO_COLOR: '1' }
  const words = [commandLine, 'usage', '--json']
  return JSON.parse(execFileSync(process.execPath, words, { cwd: project, env, encoding: 'utf8' }))
}
