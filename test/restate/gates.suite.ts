import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type CommandAnswer, runCommand } from '../chain/_command.ts'
import { answerOf, contentOf, engines, say, steps, useEngine } from './_engines.ts'

/** Steps that wait for a user, on whichever engine the run is. */
describe.each(engines)('on the engine %s, a gate', (engine) => {
  const { project, chosen, write, run } = useEngine(engine)

  async function decide(
    verb: 'approve' | 'reject',
    runId: string,
    answer: string | undefined = 'y',
    ...more: string[]
  ): Promise<CommandAnswer> {
    return await runCommand(`runs ${verb}`, [runId, '--json', ...more], project, { answer })
  }

  const statuses = (answer: Parameters<typeof steps>[0]): string[] =>
    steps(answer).map(({ status }) => status)

  it('lets the run wait, with exit code 6 and the command that continues it, until a user approves', async () => {
    write({
      'ga-first': { run: say('ga-first') },
      'ga-last': { run: say('ga-last') },
      ga: { metadata: ['chain: "ga-first ga-last"', 'gates: "ga-last"'] },
    })
    const { code, stdout } = await project.cli(['run', 'ga', ...chosen])
    expect(code).toBe(6)
    const runId = /skillrail runs approve (\w+)/.exec(stdout)?.[1] ?? ''
    const report = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(report.status).toBe('waiting')
    expect(statuses(report)).toEqual(['success', 'waiting'])
    expect(
      JSON.parse((await project.cli(['runs', 'list', '--json'])).stdout).runs[0],
    ).toMatchObject({ runId, status: 'waiting' })
    const approved = await decide('approve', runId)
    expect(approved.code).toBe(0)
    expect(approved.notes.join('\n')).toContain('ga-first')
    expect(approved.json.attempts[0]?.steps.map(({ status }) => status)).toEqual([
      'success',
      'success',
    ])
    expect(project.log().filter((line) => line === 'ga-first')).toHaveLength(1)
    const after = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(after).toMatchObject({ status: 'success' })
    expect((await decide('approve', runId)).error?.code).toBe('no-gate-waits')
  })

  it('asks with the earlier failures first, and with the results of nested steps', async () => {
    write({
      'gf-bad': { run: 'echo broken >&2; exit 1' },
      'gf-good': { run: 'echo deep result' },
      'gf-in': { metadata: ['chain: gf-good'] },
      'gf-end': { run: say('gf-end') },
      gf: { metadata: ['chain: |', '  gf-bad', '  gf-in', '  gf-end gate'] },
    })
    const { runId } = await run('gf')
    const { notes } = await decide('approve', runId)
    const text = notes.join('\n')
    expect(text).toContain('FAILED before gf-end: gf-bad: exit code 1: broken')
    expect(text).toContain('gf-in/gf-good: deep result')
    expect(text.indexOf('FAILED')).toBeLessThan(text.indexOf('deep result'))
  })

  it('of a group or a nested chain is decided before any of its steps starts', async () => {
    write({
      'gg-a': { run: say('gg-a') },
      'gg-b': { run: say('gg-b') },
      'gg-in': { metadata: ['chain: gg-b'] },
      'gg-end': { run: say('gg-end') },
      gg: { metadata: ['chain: |', '  gg-a & gg-in gate', '  gg-end always'] },
    })
    const { runId, code } = await run('gg')
    expect([code, project.log().filter((line) => line.startsWith('gg'))]).toEqual([6, []])
    const approved = await decide('approve', runId)
    expect(approved.code).toBe(0)
    expect(
      project
        .log()
        .filter((line) => line.startsWith('gg'))
        .toSorted(),
    ).toEqual(['gg-a', 'gg-b', 'gg-end'])
    const second = await run('gg')
    const rejected = await decide('reject', second.runId)
    expect(rejected.code).toBe(1)
    const report = answerOf(await project.cli(['runs', 'show', second.runId, '--json']))
    expect(statuses(report)).toEqual(['not_run', 'failure', 'success'])
  })

  it('that is rejected ends the run as a failure, and no later step runs', async () => {
    write({
      'gr-first': { run: say('gr-first') },
      'gr-last': { run: say('gr-last') },
      'gr-in': { metadata: ['chain: "gr-first gr-last"', 'gates: "gr-last"'] },
      gr: { metadata: ['chain: "gr-in gr-last"', 'pass_state: true'] },
    })
    const { runId, code } = await run('gr')
    expect(code).toBe(6)
    const rejected = await decide('reject', runId)
    expect(rejected.code).toBe(1)
    expect(project.log()).not.toContain('gr-last')
    const report = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(report.status).toBe('failure')
    expect(statuses(report)).toEqual(['failure', 'not_run'])
    expect(steps(report)[0]?.steps?.[1]).toMatchObject({ errors: [{ code: 'gate-rejected' }] })
  })

  it('that is rejected leads back to the step of its `rework`, and asks again', async () => {
    write({
      'gw-plan': { run: say('gw-plan') },
      'gw-work': {
        run: 'grep -o "\\"feedback\\":\\"[^\\"]*" "$SKILLRAIL_STATE" >> log; echo gw-work >> log',
      },
      'gw-in': { metadata: ['chain: |', '  gw-work', '  gw-ask gate rework=gw-work'] },
      'gw-ask': { run: say('gw-ask') },
      'gw-end': { run: say('gw-end') },
      gw: { metadata: ['chain: |', '  gw-plan', '  gw-in', '  gw-end gate rework=gw-in'] },
    })
    const { runId, code } = await run('gw')
    const since = (): string[] => project.log().filter((line) => /gw|feedback/.test(line))
    expect([code, since()]).toEqual([6, ['gw-plan', 'gw-work']])
    const rejected = await decide('reject', runId, 'y', '--reason', 'no tests')
    expect(rejected.code).toBe(6)
    expect(since().slice(2)).toEqual(['"feedback":"no tests', 'gw-work'])
    expect((await decide('approve', runId)).code).toBe(6)
    expect((await decide('reject', runId, 'y', '--reason', 'no docs')).code).toBe(6)
    expect(since().slice(4)).toEqual(['gw-ask', '"feedback":"no docs', 'gw-work'])
    expect((await decide('approve', runId)).code).toBe(6)
    expect((await decide('approve', runId)).code).toBe(0)
    const report = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(statuses(report)).toEqual(['success', 'success', 'success'])
    expect(report.attempts[0]?.reworks).toMatchObject([
      {
        step: 'gw-end',
        to: 'gw-in',
        reason: 'no docs',
        steps: [{ step: 'gw-in', attempts: [{ reworks: [{ reason: 'no tests' }] }] }, {}],
      },
    ])
    const { stdout } = await project.cli(['runs', 'show', runId])
    expect(stdout).toContain('round 2: gw-end was rejected (no docs); done again from gw-in')
    expect(JSON.parse((await project.cli(['runs', 'list', '--json'])).stdout).runs).toContainEqual(
      expect.objectContaining({ runId, steps: 4, finishedSteps: 4 }),
    )
  })

  it('leads back three times at most; the fourth rejection ends the run', async () => {
    write({
      'gx-work': { run: say('gx-work') },
      'gx-end': { run: say('gx-end') },
      gx: { metadata: ['chain: |', '  gx-work', '  gx-end gate rework=gx-work'] },
    })
    const { runId } = await run('gx')
    const codes: number[] = []
    for (let round = 1; round <= 4; round++) codes.push((await decide('reject', runId)).code)
    expect(codes).toEqual([6, 6, 6, 1])
    expect(project.log().filter((line) => line.startsWith('gx'))).toEqual(
      Array.from({ length: 4 }, () => 'gx-work'),
    )
  })

  it('is decided only by a user at a terminal who agrees', async () => {
    write({
      'gt-one': { run: say('gt-one') },
      gt: { metadata: ['chain: "gt-one"', 'gates: gt-one'] },
    })
    const { runId } = await run('gt')
    const piped = await project.cli(['runs', 'approve', runId, '--json'])
    expect(piped.code).toBe(4)
    expect(JSON.parse(piped.stdout).error.code).toBe('approval-needs-terminal')
    expect((await decide('approve', runId, 'n')).error?.code).toBe('approval-not-given')
    expect(answerOf(await project.cli(['runs', 'resume', runId, '--json'])).code).toBe(6)
    expect(project.log()).not.toContain('gt-one')
    expect((await project.cli(['runs', 'cancel', runId])).code).toBe(0)
    const report = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(report.status).toBe('cancelled')
    expect(answerOf(await project.cli(['runs', 'resume', runId, '--json'])).code).toBe(6)
    expect((await decide('approve', runId)).code).toBe(0)
  })

  it('asks again at every attempt, since an approval is valid for one attempt', async () => {
    write({
      'gx-one': { run: say('gx-one') },
      gx: { metadata: ['chain: "gx-one"', 'gates: gx-one', 'retry_count: 2'] },
    })
    const { runId, code } = await run('gx')
    expect(code).toBe(6)
    expect((await decide('approve', runId)).code).toBe(6)
    expect(project.log().filter((line) => line === 'gx-one')).toHaveLength(1)
    expect((await decide('approve', runId)).code).toBe(0)
    expect(project.log().filter((line) => line === 'gx-one')).toHaveLength(2)
  })

  it('delays neither the rest of a group nor a parallel nested chain', async () => {
    write({
      'gp-a': { run: say('gp-a') },
      'gp-b': { run: say('gp-b') },
      'gp-c': { run: say('gp-c') },
      'gp-in': { metadata: ['chain: "gp-b gp-c"', 'gates: gp-c'] },
      gp: {
        metadata: ['chain: "gp-a gp-in gp-b"', 'gates: gp-a', 'async: true', 'parallel_limit: 1'],
      },
    })
    const waiting = await run('gp')
    const { runId } = waiting
    expect(waiting.code).toBe(6)
    expect(statuses(waiting)).toEqual(['waiting', 'waiting', 'success'])
    expect((await decide('approve', runId)).error?.code).toBe('gate-ambiguous')
    const half = await decide('approve', runId, 'y', '--step', 'gp-in/gp-c')
    expect(half.code).toBe(6)
    expect(half.json.attempts[0]?.steps.map(({ status }) => status)).toEqual([
      'waiting',
      'success',
      'success',
    ])
    expect(existsSync(`${project.directory}/log`)).toBe(true)
    expect(project.log()).not.toContain('gp-a')
    expect((await decide('approve', runId)).code).toBe(0)
    expect(
      project
        .log()
        .filter((line) => line.startsWith('gp-'))
        .toSorted(),
    ).toEqual(['gp-a', 'gp-b', 'gp-b', 'gp-c'])
    const report = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(report.status).toBe('success')
    expect(statuses(report)).toEqual(['success', 'success', 'success'])
  })

  it('is open for a caller who approves all gates in advance', async () => {
    write({
      'gy-one': { run: say('gy-one') },
      gy: { metadata: ['chain: "gy-one"', 'gates: gy-one'] },
    })
    expect((await run('gy', '--yes-gates')).code).toBe(0)
  })

  it('of changed skills is not open', async () => {
    write({
      'gz-one': { run: say('gz-one') },
      gz: { metadata: ['chain: "gz-one"', 'gates: gz-one'] },
    })
    const { runId } = await run('gz')
    write({ 'gz-one': { run: say('gz-other') } })
    expect((await decide('approve', runId)).error?.code).toBe('plan-changed')
    expect((await project.cli(['runs', 'cancel', runId])).code).toBe(0)
  })

  it('that its skills no longer contain stays closed until an answer removes it', async () => {
    write({
      'gr-one': { run: say('gr-one') },
      gr: { metadata: ['chain: |', '  gr-one gate'] },
    })
    const { runId } = await run('gr')
    write({ gr: { metadata: ['chain: |', '  gr-one'] } })
    expect((await decide('approve', runId)).error?.code).toBe('gates-removed')
    expect((await project.cli(['runs', 'cancel', runId])).code).toBe(0)
    for (const [verb, ...more] of [
      ['resume', '--force'],
      ['retry'],
      ['fork', '--from', 'gr-one'],
    ]) {
      const { code, error } = await runCommand(`runs ${verb}`, [runId, ...more], project)
      expect([code, error?.code]).toEqual([4, 'gate-removal-needs-terminal'])
    }
    expect(project.log()).not.toContain('gr-one')
    const removed = await runCommand('runs resume', [runId, '--force'], project, { answer: 'y' })
    expect([removed.code, project.log().includes('gr-one')]).toEqual([0, true])
  })

  it('stays approved in advance when its run is interrupted and resumed', async () => {
    write({
      'gp-one': { run: 'echo gp-one >> log; [ -e gp-again ] || { touch gp-again; sleep 60; }' },
      'gp-two': { run: say('gp-two') },
      gp: { metadata: ['chain: |', '  gp-one', '  gp-two gate'] },
    })
    const started = project.start(['run', 'gp', '--yes-gates', ...chosen])
    await expect.poll(() => contentOf(project, 'log'), { timeout: 30_000 }).toContain('gp-one')
    started.kill('SIGINT')
    await started.ended
    const resumed = await project.cli(['runs', 'resume', 'latest', '--json'])
    expect([resumed.code, project.log().includes('gp-two')]).toEqual([0, true])
  })

  it('does not prevent a step that always runs, also after a failure', async () => {
    write({
      'gc-bad': { run: 'exit 1' },
      'gc-back': { run: say('gc-back') },
      gc: {
        metadata: [
          "continue_on_error: 'false'",
          'chain: |',
          '  gc-bad gate',
          '  gc-back always when=gc-bad.failure',
        ],
      },
      gd: {
        metadata: [
          "continue_on_error: 'false'",
          'chain: |',
          '  gc-bad',
          '  gc-back when=gc-bad.failure',
        ],
      },
    })
    expect((await run('gc', '--yes-gates')).code).toBe(1)
    expect(project.log()).toContain('gc-back')
    const refused = await project.cli(['run', 'gd', '--json', ...chosen])
    expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([3, 'step-unreachable'])
  })

  it('of skills that are trusted in another way reports that, and names the command that continues', async () => {
    write({
      'gs-one': { run: say('gs-one') },
      gs: { metadata: ['chain: "gs-one"', 'gates: gs-one'] },
    })
    const { runId } = await run('gs')
    for (const verb of ['approve', 'resume']) {
      const { code, error } = await runCommand(`runs ${verb}`, [runId, '--json'], project, {
        answer: 'y',
        workspaceTrust: 'ask',
      })
      expect([code, error?.code]).toEqual([4, 'run-trust-changed'])
      expect(error?.message).toContain('only the trust of the skills')
      expect(error?.hint).toContain(`skillrail runs ${verb} ${runId} --trust-workspace`)
    }
    expect(project.log()).not.toContain('gs-one')
    expect((await decide('approve', runId)).code).toBe(0)
  })
})
