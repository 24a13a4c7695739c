import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type CommandAnswer, runCommand } from '../chain/_command.ts'
import { answerOf, engines, say, steps, useEngine } from './_engines.ts'

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

  it('lets the run wait, with exit code 6 and the line that goes on, until a person approves', async () => {
    write({
      'ga-first': { run: say('ga-first') },
      'ga-last': { run: say('ga-last') },
      ga: { metadata: ['chain: "ga-first ga-last"', 'gates: "ga-last"'] },
    })
    const { code, stdout } = await project.cli(['run', 'ga', ...chosen])
    expect(code).toBe(6)
    const runId = /skillrail runs approve (\w+)/.exec(stdout)?.[1] ?? ''
    const shown = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(shown.status).toBe('waiting')
    expect(statuses(shown)).toEqual(['success', 'waiting'])
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

  it('asks with what failed before it first, and with the results of nested steps', async () => {
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

  it('of a group, and of a nested chain, is decided before anything of it starts', async () => {
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
    const shown = answerOf(await project.cli(['runs', 'show', second.runId, '--json']))
    expect(statuses(shown)).toEqual(['not_run', 'failure', 'success'])
  })

  it('that is rejected ends the run as a failure; nothing after it runs', async () => {
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
    const shown = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(shown.status).toBe('failure')
    expect(statuses(shown)).toEqual(['failure', 'not_run'])
    expect(steps(shown)[0]?.steps?.[1]).toMatchObject({ errors: [{ code: 'gate-rejected' }] })
  })

  it('is decided by nobody but a person at a terminal who says yes', async () => {
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
    const shown = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(shown.status).toBe('cancelled')
    expect(answerOf(await project.cli(['runs', 'resume', runId, '--json'])).code).toBe(6)
    expect((await decide('approve', runId)).code).toBe(0)
  })

  it('asks again at every attempt: an approval never passes to another one', async () => {
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

  it('holds up neither the rest of a group nor a nested chain beside it', async () => {
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
    const shown = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(shown.status).toBe('success')
    expect(statuses(shown)).toEqual(['success', 'success', 'success'])
  })

  it('is passed by the caller who approves all of them in advance', async () => {
    write({
      'gy-one': { run: say('gy-one') },
      gy: { metadata: ['chain: "gy-one"', 'gates: gy-one'] },
    })
    expect((await run('gy', '--yes-gates')).code).toBe(0)
  })

  it('of changed skills is not passed', async () => {
    write({
      'gz-one': { run: say('gz-one') },
      gz: { metadata: ['chain: "gz-one"', 'gates: gz-one'] },
    })
    const { runId } = await run('gz')
    write({ 'gz-one': { run: say('gz-other') } })
    expect((await decide('approve', runId)).error?.code).toBe('plan-changed')
    expect((await project.cli(['runs', 'cancel', runId])).code).toBe(0)
  })

  it('of skills that are trusted otherwise says so, and which line goes on', async () => {
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
