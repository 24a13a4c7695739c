import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runCli } from '../cli/run-cli.ts'
import {
  type Connected,
  connect,
  type ConnectOptions,
  makeProject,
  type McpProject,
  modern,
} from './_project.ts'

let project: McpProject
let open: Connected[] = []

beforeAll(() => {
  project = makeProject()
  mkdirSync(join(project.project, '.skillrail/skills'), { recursive: true })
  project.skill('ship', 'metadata:\n  chain: [look, build, tell]\n', 'The whole way.')
  project.skill('look', '', 'Look at $ARGUMENTS.')
  project.skill('build', 'run: scripts/build.mjs\n', 'Builds.', {
    'scripts/build.mjs': 'import { writeFileSync } from "node:fs"\nwriteFileSync("built", "yes")\n',
  })
  project.skill('tell', '', 'Tell everybody.')
  project.skill('gated', 'metadata:\n  chain: [look, tell]\n  gates: tell\n', 'Asks first.')
  project.skill('mine', 'disable-model-invocation: true\nmetadata:\n  chain: [look]\n', 'By hand.')
})
afterAll(async () => {
  await Promise.all(open.map(({ client }) => client.close()))
  project.remove()
})

let asked: string[] = []
let reply: Record<string, unknown> | undefined

async function start(options: ConnectOptions = {}): Promise<Connected> {
  const connected = await connect(project, options)
  open.push(connected)
  return connected
}

const answerSchema = z.object({
  run: z.string().default(''),
  status: z.string().default(''),
  next: z.array(z.object({ step: z.string() })).optional(),
  waiting: z.object({ step: z.string(), line: z.string() }).optional(),
})

async function ask(
  { client }: Connected,
  name: string,
  input: Record<string, unknown>,
): Promise<z.infer<typeof answerSchema> & { text: string }> {
  const { structuredContent = {}, content } = await client.callTool({ name, arguments: input })
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
  return { ...answerSchema.parse(structuredContent), text }
}

it('hands out one step after the other, runs scripts itself, and goes on after a restart', async () => {
  const first = await start({ args: ['--trust-workspace', '--yes'] })
  const begun = await ask(first, 'chain_start', { skill: 'ship', arguments: ['the wood'] })
  expect(begun).toMatchObject({ status: 'next', next: [{ step: 'look' }] })
  expect(begun.text).toContain('Look at the wood.')
  expect(begun.text).not.toContain('Tell everybody')
  const early = { run: begun.run, step: 'tell', status: 'success' }
  expect((await ask(first, 'chain_report', early)).text).toContain(
    'waits for a report about look, not about tell',
  )
  await first.client.close()

  const second = await start({ args: ['--trust-workspace', '--yes'] })
  expect(await ask(second, 'chain_next', { run: begun.run })).toMatchObject({
    next: [{ step: 'look' }],
  })
  const done = { run: begun.run, step: 'look', status: 'success', result: 'seen' }
  const told = await ask(second, 'chain_report', done)
  expect(told.text).toContain('Tell everybody.')
  expect(existsSync(join(project.project, 'built'))).toBe(true)
  const again = await ask(second, 'chain_report', done)
  expect(again.text).toContain('not about look')
  const end = { run: begun.run, step: 'tell', status: 'success', metrics: { people: 3 } }
  expect(await ask(second, 'chain_report', end)).toMatchObject({ status: 'success' })
  const status = await second.json('chain_status', { run: begun.run })
  expect(status).toMatchObject({ run: begun.run, status: 'success', next: [] })
})

it('stops at a gate, names what a person types, and goes on only after that', async () => {
  const agent = await start()
  const { run } = await ask(agent, 'chain_start', { skill: 'gated' })
  const done = { run, step: 'look', status: 'success' }
  const waiting = { status: 'waiting', waiting: { step: 'tell' } }
  const line = `skillrail runs approve ${run}`
  expect(await ask(agent, 'chain_report', done)).toMatchObject({
    ...waiting,
    waiting: { step: 'tell', line },
  })
  // Whatever the model tries next, the gate stays where it is.
  expect(await ask(agent, 'chain_next', { run })).toMatchObject(waiting)
  const forced = { run, step: 'tell', status: 'success' }
  expect((await ask(agent, 'chain_report', forced)).text).toContain('waits for no report')
  const { tools } = await agent.client.listTools()
  expect(tools.map(({ name }) => name).filter((name) => /approve|reject/.test(name))).toEqual([])
  const piped = await runCli(['runs', 'approve', run], {
    cwd: project.project,
    home: project.home,
  })
  expect(piped.code).toBe(4)
})

describe('what a model may not start', () => {
  it.each([
    ['mine', 'model-invocation-disabled'],
    ['.skillrail/skills/ship', 'is a path'],
    ['/etc', 'is a path'],
    ['..', 'is a path'],
    ['nobody', 'There is no skill called nobody'],
    ['look', 'chain_report'],
  ])('%s', async (skill, words) => {
    const [agent = await start()] = open.slice(-1)
    expect((await ask(agent, 'chain_start', { skill })).text).toContain(words)
  })

  it('knows no run that is none', async () => {
    const [agent = await start()] = open.slice(-1)
    for (const run of ['../../etc', 'x', '%2e%2e', '0'.repeat(14)]) {
      const { text } = await ask(agent, 'chain_next', { run })
      expect(text).toMatch(/^Error: /)
    }
  })
})

describe.each([
  ['2025-11-25', {}],
  ['2026-07-28', modern],
] as const)('the scripts of a run over MCP of %s', (_version, client) => {
  const did = (): string => {
    const path = join(project.project, 'did')
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  const asking = async (): Promise<Connected> =>
    await start({
      client,
      answer(message) {
        asked.push(message)
        return reply
      },
    })
  beforeAll(() => {
    const script = {
      'scripts/a.mjs':
        'import { appendFileSync } from "node:fs"\nappendFileSync("did", process.argv.slice(2).join(" "))\n',
    }
    project.skill('wipe', 'run: scripts/a.mjs\n', 'Wipes.', script)
    project.skill('inner', 'metadata:\n  chain: [look, wipe]\n', 'Within.')
    project.skill('outer', 'metadata:\n  chain: [inner, tell]\n', 'Around.')
  })
  beforeEach(() => {
    asked = []
    reply = undefined
    rmSync(join(project.project, 'did'), { force: true })
  })
  const wipe = { skill: 'wipe', arguments: ['--all', '/'] }

  it.each([
    ['declines', undefined],
    ['leaves the box empty', {}],
    ['says no', { approve: false }],
  ])('stay where they are when the person %s', async (_how, answer) => {
    reply = answer
    const { text } = await ask(await asking(), 'chain_start', wipe)
    expect(text).toContain('[run-declined]')
    expect(asked).toHaveLength(1)
    expect(did()).toBe('')
  })

  it('are refused where nobody can be asked, with what allows them', async () => {
    const { text } = await ask(await start({ client }), 'chain_start', wipe)
    expect(text).toMatch(/\[run-needs-yes\]/)
    expect(text).toContain('skillrail mcp serve --yes')
    expect(did()).toBe('')
  })

  it('run after one yes, to the skill, the arguments and every script, nested ones too', async () => {
    reply = { approve: true }
    const agent = await asking()
    await ask(agent, 'chain_start', wipe)
    expect(did()).toBe('--all /')
    expect(asked).toHaveLength(1)
    expect(asked[0]).toContain('Skill: wipe')
    expect(asked[0]).toContain('Arguments: ["--all","/"]')
    expect(asked[0]).toContain('.skillrail/skills/wipe/scripts/a.mjs')
    const { run: runId } = await ask(agent, 'chain_start', { skill: 'outer', arguments: ['it'] })
    expect(asked).toHaveLength(2)
    expect(asked[1]).toContain('Script of inner/wipe: .skillrail/skills/wipe/scripts/a.mjs')
    const report = { run: runId, step: 'inner/look', status: 'success' }
    expect(await ask(agent, 'chain_report', report)).toMatchObject({ next: [{ step: 'tell' }] })
    expect(did()).toBe('--all /it')
    expect(asked).toHaveLength(2)
  })

  it('are asked about again by a server that was not told yes', async () => {
    reply = { approve: true }
    const { run: runId } = await ask(await asking(), 'chain_start', { skill: 'outer' })
    reply = undefined
    const later = await asking()
    const report = { run: runId, step: 'inner/look', status: 'success' }
    expect((await ask(later, 'chain_report', report)).text).toContain('[run-declined]')
    expect((await ask(later, 'chain_next', { run: runId })).text).toContain('[run-declined]')
    expect(did()).toBe('')
  })
})

it('leaves runs alone that a person carries out, has stopped, or alone may start', async () => {
  const place = { cwd: project.project, home: project.home }
  const trust = '--trust-workspace'
  project.skill('slow', 'run: scripts/a.mjs\n', 'Slow.', { 'scripts/a.mjs': '' })
  project.skill('own', 'metadata:\n  chain: [slow]\n  gates: slow\n', 'Asks first.')
  const agent = await start({ args: [trust, '--yes'] })
  const carried = JSON.parse((await runCli(['run', 'own', trust, '--json'], place)).stdout)
  for (const [name, more] of [
    ['chain_next', {}],
    ['chain_report', { step: 'slow', status: 'success' }],
  ] as const) {
    const { text } = await ask(agent, name, { run: carried.runId, ...more })
    expect(text).toContain('is not driven step by step')
  }
  const begun = JSON.parse(
    (await runCli(['chain', 'start', 'mine', trust, '--json'], place)).stdout,
  )
  expect((await ask(agent, 'chain_next', { run: begun.runId })).text).toContain(
    'model-invocation-disabled',
  )
  const done = { run: begun.runId, step: 'look', status: 'success' }
  expect((await ask(agent, 'chain_report', done)).text).toContain('model-invocation-disabled')
  const { run: runId } = await ask(agent, 'chain_start', { skill: 'gated' })
  await runCli(['runs', 'cancel', runId], place)
  expect((await ask(agent, 'chain_next', { run: runId })).text).toContain('stopped by a person')
})

it('says of the steps of an untrusted workspace what they are, and runs no script in it', async () => {
  const loot = join(project.project, 'loot')
  project.skill('raid', 'metadata:\n  chain: [look, pillage]\n', 'In and out.')
  project.skill('pillage', 'run: scripts/go.mjs\n', 'Takes.', {
    'scripts/go.mjs': `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(loot)}, "")\n`,
  })
  const agent = await start({ args: ['--yes'] })
  const { text, run } = await ask(agent, 'chain_start', { skill: 'raid' })
  // Without a sandbox that works here, the whole chain is refused.
  expect(text).toMatch(/^The skill look is not trusted by the user|^Error: .*sandbox/)
  await ask(agent, 'chain_report', { run, step: 'look', status: 'success' })
  expect(existsSync(loot)).toBe(false)
})
