import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { answerOf, engines, say, steps, useEngine } from './_engines.ts'

/** The behaviour of a chain on any engine. */
describe.each(engines)('on the engine %s, a chain', (engine) => {
  const { project, write, run } = useEngine(engine)

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

  it('passes the state to later steps, adds metrics, and shows the same result later', async () => {
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
    const report = answerOf(await project.cli(['runs', 'show', result.runId, '--json']))
    expect(report).toMatchObject({ ...result, code: 0 })
    const listed = await project.cli(['runs', 'list', '--json'])
    expect(JSON.parse(listed.stdout).runs[0]).toMatchObject({
      runId: result.runId,
      status: 'success',
      finishedSteps: 2,
    })
  })

  it('runs the steps of a group at once within its limit, and reports them in the order of the plan', async () => {
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

  it('ends the other steps of a race after the first success', async () => {
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

  it('stops a group at the first failure, and ends its running steps', async () => {
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

  it('runs nested chains as one step, also in parallel', async () => {
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
      { step: 'nest-in', status: 'success', result: 'a', metrics: { n: 2 } },
      {
        step: 'nest-fails',
        status: 'failure',
        steps: [{ step: 'nest-fails/nest-bad' }, { status: 'not_run' }],
      },
      { step: 'nest-a', status: 'success' },
    ])
  })

  it('repeats, groups, skips and always runs steps as the options of one file require', async () => {
    write({
      'op-left': { run: 'echo left' },
      'op-flaky': { run: `${say('try')}; [ "$SKILLRAIL_ATTEMPT" -ge 3 ]` },
      'op-stage': { run: 'echo "$#:$*"' },
      'op-odd': { run: 'exit 3' },
      'op-never': { run: say('op-never') },
      'op-slow': { run: 'sleep 60' },
      'op-clean': { run: 'cat "$SKILLRAIL_STATE" > op-state.json; echo clean' },
      'op-in': { metadata: ['chain: op-left op-stage'] },
      op: {
        metadata: [
          'continue_on_error: false',
          'chain: |',
          '  op-left & op-flaky retry=3 backoff=0.1',
          '  op-in args="--to \\"a b\\"" timeout=30 retry=2 backoff=0.1',
          '  op-odd allow-failure',
          '  op-never always when=op-in.failure',
          '  op-slow timeout=0.7 when=!op-never.success',
          '  op-never id=last',
          '  op-clean always',
        ],
      },
    })
    const result = await run('op')
    expect(result).toMatchObject({ code: 1, status: 'failure' })
    const resultSteps = steps(result)
    expect(resultSteps.map(({ step, status }) => [step, status])).toEqual([
      ['op-left', 'success'],
      ['op-flaky', 'success'],
      ['op-in', 'success'],
      ['op-odd', 'failure'],
      ['op-never', 'skipped'],
      ['op-slow', 'failure'],
      ['last', 'not_run'],
      ['op-clean', 'success'],
    ])
    expect(resultSteps[1]?.tries?.map(({ status }) => status)).toEqual(['failure', 'failure'])
    expect(resultSteps[2]?.result).toBe('2:--to a b')
    expect(resultSteps[5]?.errors[0]?.code).toBe('timeout')
    expect(project.log().filter((line) => line === 'try')).toHaveLength(3)
    expect(project.log()).not.toContain('op-never')
    const seen = JSON.parse(readFileSync(join(project.directory, 'op-state.json'), 'utf8'))
    expect(seen.chain_state.previous_outputs.map(({ step }: { step: string }) => step)).toEqual([
      'op-left',
      'op-flaky',
      'op-in/op-left',
      'op-in/op-stage',
      'op-in',
      'op-odd',
      'op-slow',
    ])
    const report = answerOf(await project.cli(['runs', 'show', result.runId, '--json']))
    expect(steps(report)).toEqual(resultSteps)
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

  it('repeats a chain until it succeeds, or exactly as often as its policy requires', async () => {
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

  it('fails at the step of a missing skill if the chain requires that', async () => {
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

  it('verifies a step and a chain with their scripts/verify', async () => {
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
})
