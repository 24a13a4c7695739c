import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { answerOf, contentOf, engines, say, steps, useEngine } from './_engines.ts'
import { eventually } from './_fleet.ts'

/** The commands of a user for a run, on any engine. */
describe.each(engines)('on the engine %s, a run', (engine) => {
  const { project, chosen, write, run } = useEngine(engine)

  it('cancels a running step with all its processes, and continues later', async () => {
    write({
      'can-first': { run: say('first') },
      'can-slow': { run: '[ -e go ] && echo went && exit 0; sh -c "echo $$ > pid; sleep 60"' },
      'can-last': { run: say('last') },
      can: { metadata: ['chain: "can-first can-slow can-last"'] },
    })
    const running = project.start(['run', 'can', '--json', ...chosen])
    const pid = await eventually(() => contentOf(project, 'pid'), 'the step runs')
    const { runs } = JSON.parse((await project.cli(['runs', 'list', '--json'])).stdout)
    const runId: string = runs[0].runId
    expect(runs[0].status).toBe('running')
    const cancelled = await project.cli(['runs', 'cancel', runId])
    expect(cancelled).toMatchObject({ code: 0 })
    expect((await running.ended).code).toBe(130)
    expect(existsSync(`/proc/${pid}`)).toBe(false)
    const report = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(report.status).toBe('cancelled')
    expect(steps(report).map(({ status }) => status)).toEqual(['success', 'cancelled', 'not_run'])
    project.write('touch', { run: 'touch go' })
    await project.cli(['run', 'touch'])
    const resumed = answerOf(await project.cli(['runs', 'resume', runId, '--json']))
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
    const pid = await eventually(() => contentOf(project, 'int-pid'), 'the step runs')
    running.kill('SIGINT')
    const ended = answerOf(await running.ended)
    expect(ended).toMatchObject({ code: 130, status: 'interrupted' })
    expect(existsSync(`/proc/${pid}`)).toBe(false)
    const report = answerOf(await project.cli(['runs', 'show', ended.runId, '--json']))
    expect(report.status).toBe('interrupted')
  })

  it('repeats only the failed steps after a fix', async () => {
    write({
      'fix-good': { run: say('fix-good') },
      'fix-bad': { run: 'exit 1' },
      'fix-in': { metadata: ['chain: "fix-good"'] },
      fix: { metadata: ['chain: "fix-good fix-in fix-bad"'] },
    })
    const failed = await run('fix')
    expect(failed.status).toBe('failure')
    write({ 'fix-bad': { run: 'echo mended' } })
    const retried = answerOf(await project.cli(['runs', 'retry', failed.runId, '--json']))
    expect(retried).toMatchObject({ code: 0, status: 'success' })
    expect(retried.runId).not.toBe(failed.runId)
    expect(steps(retried)).toMatchObject([
      { result: 'fix-good', reused: true },
      { steps: [{ result: 'fix-good', reused: true }] },
      { result: 'mended' },
    ])
    expect(steps(retried)[2]).not.toHaveProperty('reused')
    expect(project.log().filter((line) => line === 'fix-good')).toHaveLength(2)
    const report = answerOf(await project.cli(['runs', 'show', retried.runId, '--json']))
    expect(report).toMatchObject({ status: retried.status, attempts: retried.attempts })
  })

  it('still marks the results that it took over when it continues after a cancellation', async () => {
    write({
      'keep-good': { run: say('keep-good') },
      'keep-bad': { run: 'exit 1' },
      'keep-slow': { run: '[ -e keep-go ] && echo went && exit 0; echo x > keep-pid; sleep 60' },
      keep: { metadata: ['chain: "keep-good keep-bad keep-slow"', 'early_exit_on: failure'] },
    })
    const { runId } = await run('keep')
    write({ 'keep-bad': { run: 'echo mended' } })
    const retrying = project.start(['runs', 'retry', runId, '--json'])
    await eventually(() => contentOf(project, 'keep-pid'), 'the step runs')
    retrying.kill('SIGINT')
    const ended = answerOf(await retrying.ended)
    expect(ended).toMatchObject({ code: 130, status: 'interrupted' })
    writeFileSync(join(project.directory, 'keep-go'), '')
    const resumed = answerOf(await project.cli(['runs', 'resume', ended.runId, '--json']))
    expect(steps(resumed).map(({ result, reused }) => [result, reused])).toEqual([
      ['keep-good', true],
      ['mended', undefined],
      ['went', undefined],
    ])
  })

  it('is resumed and retried with all finished steps after its command line was killed', async () => {
    write({
      'lost-good': { run: say('lost-good') },
      'lost-bad': { run: 'echo x > lost-pid; sleep 0.5; exit 1' },
      lost: { metadata: ['chain: "lost-good lost-bad"'] },
    })
    const running = project.start(['run', 'lost', '--json', ...chosen])
    await eventually(() => contentOf(project, 'lost-pid'), 'the step runs')
    running.kill('SIGKILL')
    await running.ended
    const { runs } = JSON.parse((await project.cli(['runs', 'list', '--json'])).stdout)
    const runId: string = runs[0].runId
    // On this machine the run stops; a server continues it without a disturbance.
    const resumed = await eventually(async () => {
      const answer = await project.cli(['runs', 'resume', runId, '--json'])
      const { error } = JSON.parse(answer.stdout)
      return error?.code === 'run-busy' ? undefined : answer
    }, 'the run has ended')
    expect(resumed.code).toBe(1)
    write({ 'lost-bad': { run: 'echo mended' } })
    const retried = answerOf(await project.cli(['runs', 'retry', runId, '--json']))
    expect(steps(retried).map(({ result, reused }) => [result, reused])).toEqual([
      ['lost-good', true],
      ['mended', undefined],
    ])
    expect(project.log().filter((line) => line === 'lost-good')).toHaveLength(1)
  })

  it('reports every step while it continues', async () => {
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
