import { appendFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { installClients, type TestedClient } from './cache.ts'
import { recipes } from './clients.ts'
import { type Behaviour, behaviours, faults, happened, outcomeOf } from './rail-behaviours.ts'
import type { TestHome } from './home.ts'
import type { Outcome } from './rail-page.ts'
import {
  newRailScene,
  newRailScript,
  publishedVersion,
  releaseScene,
  releaseScript,
} from './rail-example.ts'
import { railSession, type Script } from './rail-session.ts'

const all = ['claude', 'codex', 'copilot', 'gemini', 'opencode', 'pi', 'qwen'] as const
/** `CLIENTS=claude,pi` tries these alone. */
const wanted = process.env['CLIENTS']?.split(',')
const clients: readonly TestedClient[] = all.filter((one) => wanted?.includes(one) !== false)
const installed = installClients(clients, { latest: false })

/** `SKILLRAIL_TEST_RAILS=short`: what differs in one client, and one behaviour in each other one. */
function behavioursFor(client: TestedClient): [string, Behaviour][] {
  const tried = Object.entries(behaviours)
  if (process.env['SKILLRAIL_TEST_RAILS'] !== 'short') return tried
  if (client === 'claude') return tried.filter(([, { isSimilar }]) => isSimilar !== true)
  return tried.filter(([title]) => title === 'makes the guarded call first')
}

/** Client, behaviour, and what happened: in all detail, and as it is published. */
const rows: string[][] = []
const outcomes: Outcome[] = []

afterAll(() => {
  console.log(rows.map((row) => `| ${row.join(' | ')} |`).join('\n'))
  const path = process.env['RAIL_ROWS']
  if (path !== undefined) {
    const lines = outcomes.map((outcome) => `${JSON.stringify(outcome)}\n`)
    appendFileSync(path, lines.join(''))
  }
})

it.runIf(clients.includes('claude'))(
  'denies the first push of examples/rail-release in Claude Code, and allows it after `rail approve`',
  async () => {
    const client = installed.get('claude')
    if (!client) throw new Error('claude is not installed')
    const published: string[] = []
    let place: TestHome | undefined
    const result = await railSession('claude', client, recipes.claude, releaseScript, {
      scene: releaseScene,
      later: ['rail approve'],
      onEvent(event) {
        if (event.kind === 'start') place = event.home
        if (event.kind !== 'start' && place) published.push(publishedVersion(place))
      },
    })
    // Before each prompt and each answer of the model, and at the end: only the last push was executed.
    const before = published.slice(0, published.indexOf('1.1.0'))
    expect(before.every((version) => version === '1.0.0')).toBe(true)
    expect(before.length).toBeGreaterThan(5)
    expect(published.at(-1)).toBe('1.1.0')
    expect(result.requests[1]).toContain('belongs to the step `publish`')
    expect(result.steps).toEqual({
      lint: 'success (exit-code)',
      'unit-tests': 'success (exit-code)',
      implement: 'success (verified)',
      publish: 'success (verified)',
    })
    expect(result.rail).toBeUndefined()
  },
)

it.runIf(clients.includes('claude'))(
  'runs the chain that `new --rail` writes in Claude Code: the failed check keeps the agent, and the user approves',
  async () => {
    const client = installed.get('claude')
    if (!client) throw new Error('claude is not installed')
    const versions: string[] = []
    let place: TestHome | undefined
    const { requests, steps, rail } = await railSession(
      'claude',
      client,
      recipes.claude,
      newRailScript,
      {
        scene: newRailScene,
        later: ['rail approve'],
        onEvent(event) {
          if (event.kind === 'start') place = event.home
          if (place) versions.push(publishedVersion(place))
        },
      },
    )
    expect(requests[1]).toContain('belongs to the step `release-publish`')
    expect(requests[2]).toContain('the check `grep -q 1.1.0 package.json` ended with exit code 1')
    // The end of the session is the only event after the push.
    expect(versions.slice(0, -2).every((version) => version === '1.0.0')).toBe(true)
    expect(versions.at(-1)).toBe('1.1.0')
    expect([steps, rail]).toEqual([
      { 'release-prepare': 'success (verified)', 'release-publish': 'success (verified)' },
      undefined,
    ])
  },
)

describe.each(clients)('a chain in %s', (name) => {
  const client = installed.get(name)
  const recipe = recipes[name]
  if (!client) throw new Error(`${name} is not installed`)

  it.each(behavioursFor(name))(
    'enforces its guards and checks with a model that %s',
    async (title, behaviour) => {
      const result = await railSession(name, client, recipe, behaviour.script, behaviour)
      rows.push([name, title, happened(result)])
      outcomes.push([name, title, outcomeOf(result)])
      expect(result.requests[0]).toContain('Do only this step now: `implement`')
      expect(faults(behaviour, result)).toEqual([])
    },
  )

  it.runIf(name === 'claude' || process.env['SKILLRAIL_TEST_RAILS'] !== 'short')(
    'accepts `rail approve` from its user, and not from a client that its agent starts',
    async () => {
      const words = recipe.resume('WORDS').map((word) => (word === 'WORDS' ? '"$W"' : `'${word}'`))
      // No tool may be called with the words themselves.
      const spelled = `W=$(printf 'rail%sapprove' ' ')`
      const nested = `${spelled}; '${client.program}' ${words.join(' ')} </dev/null`
      const work: Script = [(tools) => ({ calls: [tools.work()] }), () => 'Done.']
      const byAgent = await railSession(
        name,
        client,
        recipe,
        [...work, (tools) => ({ calls: [tools.shell(nested)] })],
        { later: ['go on'] },
      )
      expect(byAgent.published).toBe(0)
      expect(byAgent.rail?.standing).toBe('approval')
      const byUser = await railSession(name, client, recipe, work, { later: ['rail approve'] })
      expect(byUser.steps).toMatchObject({ 'publish-it': 'success (verified)' })
    },
  )
})
