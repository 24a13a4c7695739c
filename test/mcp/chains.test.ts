import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fingerprint } from '../../src/core/fingerprint.ts'
import { runInProcess } from '../run-in-process.ts'
import { type Connected, modern } from './_project.ts'
import { servedProject } from './_served-project.ts'
import { runsOf } from '../chain/_project.ts'

const project = servedProject('block', ({ skill }) => {
  skill('ship', 'metadata:\n  chain: [look, build, tell]\n', 'The whole way.')
  skill('look', '', 'Look at $ARGUMENTS.')
  skill('build', 'run: scripts/build.mjs\n', 'Builds.', {
    'scripts/build.mjs': 'import { writeFileSync } from "node:fs"\nwriteFileSync("built", "yes")\n',
  })
  skill('tell', '', 'Tell everybody.')
  skill('hurried', 'metadata:\n  chain: [look, tell]\n  timeout: 1\n', 'In a hurry.')
  skill('gated', 'metadata:\n  chain: [look, tell]\n  gates: tell\n', 'Asks first.')
  skill('mine', 'disable-model-invocation: true\nmetadata:\n  chain: [look]\n', 'By hand.')
  skill('press', 'disable-model-invocation: true\n', 'Press the button.')
  skill('loud', 'disable-model-invocation: true\nrun: scripts/go.mjs\n', 'Loud.', {
    'scripts/go.mjs': 'import { writeFileSync } from "node:fs"\nwriteFileSync("heard", "yes")\n',
  })
  skill('within', 'metadata:\n  chain: [look, press]\n', 'Within.')
  skill('around', 'metadata:\n  chain: [look, within]\n', 'Around.')
  skill('noisy', 'metadata:\n  chain: [loud, tell]\n', 'Noisy.')
})

let asked: string[] = []
let reply: Record<string, unknown> | undefined

const answerSchema = z.object({
  run: z.string().default(''),
  status: z.string().default(''),
  next: z.array(z.object({ step: z.string() })).optional(),
  waiting: z.object({ step: z.string(), line: z.string() }).optional(),
  dismissed: z.object({ step: z.string(), code: z.string() }).optional(),
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

it('hands out one step after the other, runs scripts itself, and continues after a restart', async () => {
  const first = await project.start({ args: ['--trust-workspace', '--yes'] })
  const begun = await ask(first, 'chain_start', { skill: 'ship', arguments: ['the wood'] })
  expect(begun).toMatchObject({ status: 'next', next: [{ step: 'look' }] })
  expect(begun.text).toContain('Look at the wood.')
  expect(begun.text).not.toContain('Tell everybody')
  const early = { run: begun.run, step: 'tell', status: 'success' }
  const refused = (await ask(first, 'chain_report', early)).text
  expect(refused).toContain('waits for a report about look')
  // It has a tool for that, and no command line.
  expect(refused).toContain('\nSee: chain_next')
  await first.client.close()

  const second = await project.start({ args: ['--trust-workspace', '--yes'] })
  expect(await ask(second, 'chain_next', { run: begun.run })).toMatchObject({
    next: [{ step: 'look' }],
  })
  const done = { run: begun.run, step: 'look', status: 'success', result: 'seen' }
  const told = await ask(second, 'chain_report', done)
  expect(told.text).toContain('Tell everybody.')
  expect(existsSync(join(project.project, 'built'))).toBe(true)
  const again = await ask(second, 'chain_report', done)
  expect(again.text).toContain('a report about tell')
  const end = { run: begun.run, step: 'tell', status: 'success', metrics: { people: 3 } }
  expect(await ask(second, 'chain_report', end)).toMatchObject({ status: 'success' })
  const status = await second.json('chain_status', { run: begun.run })
  expect(status).toMatchObject({ run: begun.run, status: 'success', next: [] })
})

it('stops at a gate, names the command for a person, and continues only after it', async () => {
  const agent = await project.start()
  const { run } = await ask(agent, 'chain_start', { skill: 'gated' })
  const done = { run, step: 'look', status: 'success' }
  const waiting = { status: 'waiting', waiting: { step: 'tell' } }
  const line = `skillrail runs approve ${run} --trust-workspace`
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
  const piped = await runInProcess(['runs', 'approve', run], {
    cwd: project.project,
    home: project.home,
  })
  expect(piped.code).toBe(4)
})

it('continues with secret arguments while its process runs, and then says how to continue', async () => {
  const held = `--token=ghp_${'a'.repeat(36)}`
  const agent = await project.start({ args: ['--trust-workspace', '--yes'] })
  const { run } = await ask(agent, 'chain_start', { skill: 'ship', arguments: [held] })
  const done = { run, step: 'look', status: 'success' }
  expect(await ask(agent, 'chain_report', done)).toMatchObject({ next: [{ step: 'tell' }] })
  await agent.client.close()
  const later = await project.start({ args: ['--trust-workspace', '--yes'] })
  expect((await ask(later, 'chain_next', { run })).text).toContain(
    `A user can type: skillrail chain next ${run} --trust-workspace -- and those arguments`,
  )
})

it('says that a record was cut off', async () => {
  const agent = await project.start({ args: ['--trust-workspace'] })
  const { run } = await ask(agent, 'chain_start', { skill: 'gated' })
  const path = join(runsOf(project.project, project.home), `${run}.jsonl`)
  appendFileSync(path, '{"type":"done"')
  expect(await agent.json('chain_status', { run })).toMatchObject({
    diagnostics: [{ code: 'journal-torn-tail' }],
  })
  expect((await ask(agent, 'chain_next', { run })).text).toMatch(
    /^In the journal of the run, the last 14 bytes/,
  )
})

it('answers that a report came too late', async () => {
  const agent = await project.start({ args: ['--trust-workspace'] })
  const { run } = await ask(agent, 'chain_start', { skill: 'hurried' })
  await setTimeout(1100)
  const late = await ask(agent, 'chain_report', { run, step: 'look', status: 'success' })
  expect(late).toMatchObject({
    next: [{ step: 'tell' }],
    dismissed: { step: 'look', code: 'timeout' },
  })
  expect(late.text).toMatch(/^The report about look came too late and does not count/)
})

describe('a chain with a step that only a person may start', () => {
  const place = (): { cwd: string; home: string } => ({
    cwd: project.project,
    home: project.home,
  })

  it.each([
    ['within', 'press', 'press'],
    ['around', 'within/press', 'press'],
    ['noisy', 'loud', 'loud'],
  ])('refuses %s to a model, with the name of the step', async (skill, step, named) => {
    const agent = await project.start({ args: ['--trust-workspace', '--yes'] })
    const before = readRuns()
    const { text } = await ask(agent, 'chain_start', { skill })
    expect(text).toContain(`The step ${step} of ${skill} may not be started by a model`)
    expect(text).toContain(`its skill ${named} sets disable-model-invocation`)
    expect(text).toContain('[model-invocation-disabled]')
    expect(text).not.toContain('Look at')
    expect(readRuns()).toEqual(before)
    expect(existsSync(join(project.project, 'heard'))).toBe(false)
  })

  it('runs for a person', async () => {
    const run = await runInProcess(
      ['chain', 'start', 'within', '--trust-workspace', '--json'],
      place(),
    )
    expect(JSON.parse(run.stdout)).toMatchObject({ next: [{ step: 'look' }] })
    expect((await runInProcess(['run', 'loud', '--trust-workspace'], place())).code).toBe(0)
  })

  it('does not continue if a later change reserves a step for a person', async () => {
    project.skill('later', 'metadata:\n  chain: [look, soon]\n', 'Later.')
    project.skill('soon', '', 'Soon.')
    const agent = await project.start()
    const { run } = await ask(agent, 'chain_start', { skill: 'later' })
    project.skill('soon', 'disable-model-invocation: true\n', 'Soon.')
    const done = { run, step: 'look', status: 'success' }
    for (const [name, input] of [
      ['chain_next', { run }],
      ['chain_report', done],
    ] as const) {
      const { text } = await ask(agent, name, input)
      expect(text).toContain('The step soon of later may not be started by a model')
      expect(text).not.toContain('Look at')
    }
  })
})

function readRuns(): string[] {
  const runs = runsOf(project.project, project.home)
  return existsSync(runs) ? readdirSync(runs) : []
}

describe('chain_start from a model', () => {
  let agent: Connected
  beforeAll(async () => {
    agent = await project.start()
  })

  it.each([
    ['mine', 'model-invocation-disabled'],
    ['.skillrail/skills/ship', 'is a path'],
    ['/etc', 'is a path'],
    ['..', 'is a path'],
    ['nobody', 'There is no skill named nobody'],
    ['look', 'chain_report'],
  ])('does not start %s', async (skill, words) => {
    expect((await ask(agent, 'chain_start', { skill })).text).toContain(words)
  })

  it('finds no run for an ID without one', async () => {
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
    await project.start({
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
  ])('do not run when the person %s', async (_how, answer) => {
    reply = answer
    const { text } = await ask(await asking(), 'chain_start', wipe)
    expect(text).toContain('[run-declined]')
    expect(asked).toHaveLength(1)
    expect(did()).toBe('')
  })

  it('are refused if nobody can be asked, with a hint how to allow them', async () => {
    const { text } = await ask(await project.start({ client }), 'chain_start', wipe)
    expect(text).toMatch(/\[run-needs-yes\]/)
    expect(text).toContain('skillrail mcp serve --yes')
    expect(did()).toBe('')
  })

  it('run after one yes to the skill, the arguments and every script, including nested ones', async () => {
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

  it('need a yes again on another server', async () => {
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

it('does not show runs that only a person may carry out or start', async () => {
  const place = { cwd: project.project, home: project.home }
  const trust = '--trust-workspace'
  project.skill('slow', 'run: scripts/a.mjs\n', 'Slow.', { 'scripts/a.mjs': '' })
  project.skill('own', 'metadata:\n  chain: [slow]\n  gates: slow\n', 'Asks first.')
  const agent = await project.start({ args: [trust, '--yes'] })
  const carried = JSON.parse((await runInProcess(['run', 'own', trust, '--json'], place)).stdout)
  const begun = async (skill: string): Promise<string> =>
    JSON.parse((await runInProcess(['chain', 'start', skill, trust, '--json'], place)).stdout).runId
  const nobody = '0'.repeat(14)
  for (const run of [carried.runId, await begun('mine'), await begun('within')]) {
    for (const [name, more] of [
      ['chain_status', {}],
      ['chain_next', {}],
      ['chain_report', { step: 'look', status: 'success' }],
    ] as const) {
      const { text } = await ask(agent, name, { run, ...more })
      const none = await ask(agent, name, { run: nobody, ...more })
      expect(none.text).toContain('[run-not-found]')
      expect(text).toBe(none.text.replaceAll(nobody, run))
    }
  }
})

it('shows a run that is driven step by step, and leaves it alone when a person has stopped it', async () => {
  const place = { cwd: project.project, home: project.home }
  const agent = await project.start()
  const { run } = await ask(agent, 'chain_start', { skill: 'gated' })
  expect(await agent.json('chain_status', { run })).toMatchObject({ status: 'waiting' })
  await runInProcess(['runs', 'cancel', run], place)
  expect((await ask(agent, 'chain_next', { run })).text).toContain('stopped by')
  expect(await agent.json('chain_status', { run })).toMatchObject({ status: 'cancelled' })
  const typed = await runInProcess(
    ['chain', 'start', 'gated', '--trust-workspace', '--json'],
    place,
  )
  const { runId } = JSON.parse(typed.stdout)
  expect(await ask(agent, 'chain_next', { run: runId })).toMatchObject({ next: [{ step: 'look' }] })
})

it('describes the steps of an untrusted workspace, and runs no script in it', async () => {
  const loot = join(project.project, 'loot')
  project.skill('raid', 'metadata:\n  chain: [look, pillage]\n', 'In and out.')
  project.skill('pillage', 'run: scripts/go.mjs\n', 'Takes.', {
    'scripts/go.mjs': `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(loot)}, "")\n`,
  })
  const agent = await project.start({ args: ['--yes'] })
  const { text, run } = await ask(agent, 'chain_start', { skill: 'raid' })
  // Without a sandbox that works here, the whole chain is refused.
  expect(text).toMatch(/^The user does not trust the skill look|^Error: .*sandbox/)
  await ask(agent, 'chain_report', { run, step: 'look', status: 'success' })
  expect(existsSync(loot)).toBe(false)
})

it('keeps a report about a run that a rail executes until the turn of the agent ends', async () => {
  const agent = await project.start({ args: ['--trust-workspace', '--yes'] })
  const { run } = await ask(agent, 'chain_start', { skill: 'gated' })
  const rails = join(project.home, '.local/state/skillrail/rails')
  mkdirSync(rails, { recursive: true })
  const file = join(rails, `${fingerprint('s1')}.json`)
  const step = { step: 'look', attempt: 1, hasCheck: true, failedChecks: 0, maxBlocks: 3 }
  const rail = {
    version: 1,
    session: 's1',
    client: 'claude',
    workspace: project.project,
    runId: run,
    chain: 'gated',
    standing: 'working',
    reason: '',
    step: { ...step, askedForReport: false },
    steps: ['look', 'tell'],
    guards: [],
    checkFiles: {},
    turn: { id: 't', receivedStep: true, worked: false, blocks: 0 },
    sequence: 0,
  }
  writeFileSync(file, JSON.stringify(rail))
  const report = { run, step: 'look', status: 'question', result: 'Which wood?' }
  expect(await ask(agent, 'chain_report', report)).toMatchObject({ status: 'claimed' })
  expect(JSON.parse(readFileSync(file, 'utf8')).step.claim).toMatchObject({ status: 'question' })
  writeFileSync(file, '{')
  expect((await ask(agent, 'chain_report', report)).text).toContain('cannot be read')
  rmSync(file)
  expect((await ask(agent, 'chain_report', report)).text).toContain('runs as a rail')
  const done = { ...report, status: 'success' }
  expect(await ask(agent, 'chain_report', done)).toMatchObject({ waiting: { step: 'tell' } })
})
