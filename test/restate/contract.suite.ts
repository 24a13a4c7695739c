import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Server } from '../../scripts/restate.mjs'
import type { RunResult, StepResult } from '../../src/chain/index.ts'
import { makeProject, type ProjectSkill, type TestProject } from '../chain/_project.ts'
import { eventually, onServer, ownServer, startWorkerOf, type WorkerProcess } from './_fleet.ts'

/** What both engines must do alike. */
const say = (text: string): string => `echo ${text} >> log; echo ${text}`

describe.each(['journal', 'restate'] as const)('on the engine %s', (engine) => {
  let project: TestProject
  let server: Server | undefined
  let worker: WorkerProcess | undefined
  let chosen: string[] = []

  beforeAll(async () => {
    project = makeProject()
    if (engine === 'journal') return
    server = await ownServer()
    worker = await startWorkerOf(project, { server })
    chosen = onServer(server)
  })

  afterAll(async () => {
    worker?.kill('SIGTERM')
    await worker?.ended
    await server?.stop()
    server?.cleanUp()
    project.remove()
  })

  function write(skills: Record<string, ProjectSkill>): void {
    for (const [name, content] of Object.entries(skills)) project.write(name, content)
  }

  async function run(skill: string, ...more: string[]): Promise<RunResult & { code: number }> {
    return answer(await project.cli(['run', skill, '--json', ...chosen, ...more]))
  }

  it('runs steps in order, with the arguments of the run', async () => {
    write({
      'order-a': { run: `${say('a')}; echo "got $1 $2"` },
      'order-b': { run: say('b') },
      order: { metadata: ['chain: "order-a order-b order-a"'] },
    })
    const result = await run('order', '--', 'one', '--two')
    expect(result).toMatchObject({ code: 0, skill: 'order', status: 'success' })
    expect(steps(result).map(({ step, result }) => [step, result])).toEqual([
      ['order-a', 'got one --two'],
      ['order-b', 'b'],
      ['order-a#2', 'got one --two'],
    ])
    expect(project.log().slice(-3)).toEqual(['a', 'b', 'a'])
  })

  it('passes the state on, adds metrics, and shows the same result later', async () => {
    write({
      'state-a': {
        run: `echo '{"status":"success","result":"seven","metrics":{"count":7,"name":"x"}}'`,
      },
      'state-b': { run: 'cat > state.json; echo \'{"status":"success","metrics":{"count":3}}\'' },
      state: { metadata: ['chain: "state-a state-b"', 'pass_state: true'] },
    })
    const result = await run('state')
    const seen = JSON.parse(readFileSync(join(project.directory, 'state.json'), 'utf8'))
    expect(seen.chain_state.previous_outputs).toMatchObject([{ step: 'state-a', result: 'seven' }])
    expect(result.attempts[0]?.chain_state.total_metrics).toEqual({ count: 10, name: 1 })
    const shown = answer(await project.cli(['runs', 'show', result.runId, '--json']))
    expect(shown).toEqual({ ...result, code: 0 })
    const listed = await project.cli(['runs', 'list', '--json'])
    expect(JSON.parse(listed.stdout).runs[0]).toMatchObject({
      runId: result.runId,
      status: 'success',
      finishedSteps: 2,
    })
  })

  it('runs a group at once within its limit, and reports in the order of the plan', async () => {
    const meet = (own: string, other: string): string =>
      `touch ${own}; for i in $(seq 100); do [ -e ${other} ] && echo met && exit 0; sleep 0.1; done; exit 1`
    write({
      'par-a': { run: `sleep 0.3; ${meet('pa', 'pb')}` },
      'par-b': { run: meet('pb', 'pa') },
      'par-c': { run: 'ls pa pb' },
      par: { metadata: ['chain: "par-a par-b par-c"', 'async: true', 'parallel_limit: 2'] },
    })
    const result = await run('par')
    expect(steps(result).map(({ step, status }) => [step, status])).toEqual([
      ['par-a', 'success'],
      ['par-b', 'success'],
      ['par-c', 'success'],
    ])
  })

  it('lets the first success win a race, and ends the others', async () => {
    write({
      'race-slow': { run: 'trap "echo ended > race-ended; exit 1" TERM; sleep 60 & wait' },
      'race-bad': { run: 'exit 3' },
      'race-fast': { run: 'sleep 0.7; echo done' },
      race: {
        metadata: ['chain: "race-slow race-bad race-fast"', 'async: true', 'race_mode: true'],
      },
    })
    const result = await run('race')
    expect(result).toMatchObject({ code: 0, status: 'success', winner: 'race-fast' })
    expect(steps(result).map(({ status }) => status)).toEqual(['cancelled', 'failure', 'success'])
    expect(steps(result)[0]?.reason).toBe('race-fast had won the race')
    expect(existsSync(join(project.directory, 'race-ended'))).toBe(true)
  })

  it('stops a group at the first failure, and ends what runs', async () => {
    write({
      'stop-slow': { run: 'sleep 60' },
      'stop-bad': { run: 'sleep 0.3; exit 1' },
      'stop-never': { run: say('never') },
      stop: {
        metadata: [
          'chain: "stop-slow stop-bad stop-never"',
          'async: true',
          'parallel_limit: 2',
          'early_exit_on: failure',
        ],
      },
    })
    const result = await run('stop')
    expect(result).toMatchObject({ code: 1, status: 'failure' })
    expect(steps(result).map(({ status }) => status)).toEqual(['cancelled', 'failure', 'not_run'])
  })

  it('runs nested chains as one step, side by side too', async () => {
    write({
      'nest-a': { run: `echo '{"status":"success","result":"a","metrics":{"n":1}}'` },
      'nest-bad': { run: 'exit 1' },
      'nest-in': { metadata: ['chain: "nest-a nest-a"'] },
      'nest-fails': { metadata: ['chain: "nest-bad nest-a"', 'continue_on_error: false'] },
      nest: { metadata: ['chain: "nest-in nest-fails nest-a"', 'async: true'] },
    })
    const result = await run('nest')
    expect(result).toMatchObject({ code: 1, status: 'failure' })
    expect(steps(result)).toMatchObject([
      { step: 'nest-in', status: 'success', result: '2 of 2 steps succeeded', metrics: { n: 2 } },
      {
        step: 'nest-fails',
        status: 'failure',
        steps: [{ step: 'nest-fails/nest-bad' }, { status: 'not_run' }],
      },
      { step: 'nest-a', status: 'success' },
    ])
  })

  it('ends a step and a nested chain that take too long', async () => {
    write({
      'time-slow': { run: 'sleep 60' },
      'time-quick': { run: 'echo quick' },
      'time-in': { metadata: ['chain: "time-quick time-slow"'] },
      time: { metadata: ['chain: "time-slow time-in time-quick"', 'timeout: 1'] },
    })
    const result = await run('time')
    expect(steps(result)).toMatchObject([
      { status: 'failure', errors: [{ code: 'timeout' }] },
      {
        status: 'failure',
        errors: [{ code: 'timeout' }],
        steps: [{ status: 'success' }, { status: 'cancelled' }],
      },
      { status: 'success' },
    ])
  })

  it('repeats a chain until it succeeds, or exactly as often as it says', async () => {
    write({
      'rep-third': { run: 'echo x >> rep; [ $(wc -l < rep) -ge 3 ] && echo ok' },
      'rep-until': {
        metadata: ['chain: "rep-third"', 'retry_until: success', 'retry_count: 5'],
      },
      'rep-same': { run: 'echo same; exit 1' },
      'rep-stable': { metadata: ['chain: "rep-same"', 'retry_until: stable', 'retry_count: 5'] },
      'rep-twice': { metadata: ['chain: "rep-until"', 'retry_count: 2'] },
    })
    const until = await run('rep-until')
    expect(until.attempts.map(({ status }) => status)).toEqual(['failure', 'failure', 'success'])
    expect(until).toMatchObject({ code: 0, status: 'success' })
    const stable = await run('rep-stable')
    expect(stable.attempts).toHaveLength(2)
    expect(stable.status).toBe('failure')
    expect((await run('rep-twice')).attempts.map(({ status }) => status)).toEqual([
      'success',
      'success',
    ])
  })

  it('fails at the step of a skill that is missing, where the chain wants it so', async () => {
    write({
      'mis-a': { run: 'echo a' },
      mis: { metadata: ['chain: "mis-a mis-none mis-a"', 'validate_on_load: false'] },
    })
    expect(steps(await run('mis'))).toMatchObject([
      { status: 'success' },
      { status: 'failure', errors: [{ code: 'skill-not-found' }] },
      { status: 'success' },
    ])
  })

  it('verifies a step and a chain by their scripts/verify', async () => {
    write({
      'ver-good': { run: 'echo fine', verify: 'grep -q fine' },
      'ver-bad': { run: 'echo wrong', verify: 'grep -q fine' },
      'ver-in': { metadata: ['chain: "ver-good"'], verify: 'exit 1' },
      ver: { metadata: ['chain: "ver-good ver-bad ver-in"'] },
    })
    expect(steps(await run('ver'))).toMatchObject([
      { status: 'success', evidence: 'verified' },
      { status: 'failure', errors: [{ code: 'verification-failed' }] },
      { status: 'failure', errors: [{ code: 'verification-failed' }] },
    ])
  })

  it('cancels a running step with all its processes, and goes on later', async () => {
    write({
      'can-first': { run: say('first') },
      'can-slow': { run: '[ -e go ] && echo went && exit 0; sh -c "echo $$ > pid; sleep 60"' },
      'can-last': { run: say('last') },
      can: { metadata: ['chain: "can-first can-slow can-last"'] },
    })
    const running = project.start(['run', 'can', '--json', ...chosen])
    const pid = await eventually(() => read(project, 'pid'), 'the step runs')
    const { runs } = JSON.parse((await project.cli(['runs', 'list', '--json'])).stdout)
    const runId: string = runs[0].runId
    expect(runs[0].status).toBe('running')
    const cancelled = await project.cli(['runs', 'cancel', runId])
    expect(cancelled).toMatchObject({ code: 0 })
    expect((await running.ended).code).toBe(130)
    expect(existsSync(`/proc/${pid}`)).toBe(false)
    const shown = answer(await project.cli(['runs', 'show', runId, '--json']))
    expect(shown.status).toBe('cancelled')
    expect(steps(shown).map(({ status }) => status)).toEqual(['success', 'cancelled', 'not_run'])
    project.write('touch', { run: 'touch go' })
    await project.cli(['run', 'touch'])
    const resumed = answer(await project.cli(['runs', 'resume', runId, '--json']))
    expect(resumed).toMatchObject({ code: 0, runId, status: 'success' })
    expect(steps(resumed).map(({ result }) => result)).toEqual(['first', 'went', 'last'])
    expect(project.log().filter((line) => line === 'first')).toHaveLength(1)
  })

  it('is interrupted with the command that waits for it', async () => {
    write({
      'int-slow': { run: 'echo $$ > int-pid; exec sleep 60' },
      int: { metadata: ['chain: "int-slow"'] },
    })
    const running = project.start(['run', 'int', '--json', ...chosen])
    const pid = await eventually(() => read(project, 'int-pid'), 'the step runs')
    running.kill('SIGINT')
    const ended = answer(await running.ended)
    expect(ended).toMatchObject({ code: 130, status: 'interrupted' })
    expect(existsSync(`/proc/${pid}`)).toBe(false)
    const shown = answer(await project.cli(['runs', 'show', ended.runId, '--json']))
    expect(shown.status).toBe('interrupted')
  })

  it('repeats only what failed after a fix', async () => {
    write({
      'fix-good': { run: say('fix-good') },
      'fix-bad': { run: 'exit 1' },
      fix: { metadata: ['chain: "fix-good fix-bad"'] },
    })
    const failed = await run('fix')
    expect(failed.status).toBe('failure')
    write({ 'fix-bad': { run: 'echo mended' } })
    const retried = answer(await project.cli(['runs', 'retry', failed.runId, '--json']))
    expect(retried).toMatchObject({ code: 0, status: 'success' })
    expect(retried.runId).not.toBe(failed.runId)
    expect(steps(retried).map(({ result }) => result)).toEqual(['fix-good', 'mended'])
    expect(project.log().filter((line) => line === 'fix-good')).toHaveLength(1)
  })

  it('tells of every step while it goes on', async () => {
    write({
      'ev-a': { run: 'sleep 0.3; echo a' },
      'ev-in': { metadata: ['chain: "ev-a"'] },
      ev: { metadata: ['chain: "ev-a ev-in"'] },
    })
    const { stdout } = await project.cli(['run', 'ev', '--events', ...chosen])
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const told = events
      .filter(({ type }) => type !== 'step-output')
      .map(({ type, step = '', status = '' }) => [type, step, status].join(' ').trim())
    expect(told).toEqual([
      'run-started',
      'step-started ev-a',
      'step-finished ev-a success',
      'step-started ev-in',
      'step-started ev-in/ev-a',
      'step-finished ev-in/ev-a success',
      'step-finished ev-in success',
      'run-finished  success',
    ])
  })
})

function answer({ code, stdout }: { code: number | null; stdout: string }): RunResult & {
  code: number
} {
  return { ...JSON.parse(stdout === '' ? '{}' : stdout), code }
}

function steps(result: RunResult): readonly StepResult[] {
  return result.attempts.at(-1)?.steps ?? []
}

function read(project: TestProject, file: string): string | undefined {
  try {
    return readFileSync(join(project.directory, file), 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}
