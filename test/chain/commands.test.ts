import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CommandJson, commandsIn, runCommand } from './_command.ts'
import { log, makeProject, type TestProject } from './_project.ts'
import { until } from '../patience.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
})
afterEach(() => project.remove())

const { command, skills, runIdOf } = commandsIn(() => project)

const statusesOf = (json: CommandJson): unknown =>
  json.attempts
    .at(-1)
    ?.steps.map((step) => `${step.step}=${step.status}`)
    .join(' ')

describe('a human gate', () => {
  beforeEach(() =>
    skills({
      main: { metadata: ['chain: [build, deploy, done]', 'gates: deploy'] },
      build: log('build'),
      deploy: log('deploy'),
      done: log('done'),
    }),
  )

  it('stops the run before its step, with exit code 6 and the line that goes on', async () => {
    const { code, lines } = await command('run main')
    expect(code).toBe(6)
    expect(lines.join('\n')).toContain(`skillrail runs approve ${await runIdOf()}`)
    expect(project.log()).toEqual(['build'])
    expect((await command('runs list')).lines.at(-1)).toMatch(/waiting/)
  })

  it('opens when a person says yes, and the run ends', async () => {
    await command('run main')
    const { code, notes } = await command(`runs approve ${await runIdOf()}`, { answer: 'y' })
    expect(code).toBe(0)
    expect(notes.join('\n')).toContain('build: did-build')
    expect(project.log()).toEqual(['build', 'deploy', 'done'])
  })

  it('rejected ends the run as a failure', async () => {
    await command('run main')
    const { code, lines } = await command(`runs reject ${await runIdOf()}`, { answer: 'yes' })
    expect(code).toBe(1)
    expect(lines.join('\n')).toMatch(/gate-rejected/)
    expect(project.log()).toEqual(['build'])
    expect((await command(`runs resume ${await runIdOf()}`)).error?.code).toBe('run-ended')
  })

  it.each([
    [undefined, 'approval-needs-terminal'],
    ['n', 'approval-not-given'],
    ['', 'approval-not-given'],
  ])('stays closed when the answer is %j', async (answer, code) => {
    await command('run main')
    const run = await runIdOf()
    const before = readFileSync(join(project.directory, `.skillrail/runs/${run}.jsonl`), 'utf8')
    const refused = await command(`runs approve ${run}`, { answer })
    expect([refused.code, refused.error?.code]).toEqual([4, code])
    expect(readFileSync(join(project.directory, `.skillrail/runs/${run}.jsonl`), 'utf8')).toBe(
      before,
    )
  })

  it('stays closed on a resume, and waits again', async () => {
    await command('run main')
    expect((await command(`runs resume ${await runIdOf()}`)).code).toBe(6)
    expect(project.log()).toEqual(['build'])
  })

  it('is approved in advance by the caller of the run', async () => {
    expect((await command('run main --yes-gates')).code).toBe(0)
  })

  it('does not carry an approval over to another attempt', async () => {
    project.write('main', { metadata: ['chain: [deploy]', 'gates: deploy', 'retry_count: 2'] })
    await command('run main')
    expect((await command(`runs approve ${await runIdOf()}`, { answer: 'y' })).code).toBe(6)
    expect(project.log()).toEqual(['deploy'])
    expect((await command(`runs approve ${await runIdOf()}`, { answer: 'y' })).code).toBe(0)
    expect(project.log()).toEqual(['deploy', 'deploy'])
  })

  it('does not carry an approval over to a changed plan', async () => {
    await command('run main')
    const run = await runIdOf()
    project.write('done', log('other'))
    expect((await command(`runs approve ${run}`, { answer: 'y' })).error?.code).toBe('plan-changed')
    expect((await command(`runs resume ${run} --force`)).code).toBe(6)
    expect((await command(`runs approve ${run}`, { answer: 'y' })).code).toBe(0)
    expect(project.log()).toEqual(['build', 'deploy', 'other'])
  })
})

describe('verification', () => {
  it('turns the success that a step claims into a failure', async () => {
    skills({
      main: { metadata: ['chain: [good, liar]'] },
      good: { run: 'echo fine', verify: 'grep -q fine' },
      liar: { run: 'echo all done', verify: 'echo "there is nothing" >&2; exit 1' },
    })
    const { code, json } = await command('run main --json')
    expect(code).toBe(1)
    expect(json).toMatchObject({
      attempts: [
        {
          steps: [
            { status: 'success', evidence: 'verified' },
            {
              status: 'failure',
              errors: [{ code: 'verification-failed' }],
              log: 'all done\nthere is nothing',
            },
          ],
        },
      ],
    })
  })
})

describe('a step', () => {
  it('may be called by a name that every object has', async () => {
    skills({ main: {} })
    const directory = join(project.directory, '.skillrail/skills/main')
    writeFileSync(join(directory, 'constructor'), '#!/bin/sh\necho made\n', { mode: 0o755 })
    const text = '---\nname: main\ndescription: Runs it. Use in tests.\nrun: constructor\n---\n'
    writeFileSync(join(directory, 'SKILL.md'), text)
    const { json } = await command('run main --json')
    expect(json.attempts).toMatchObject([{ steps: [{ status: 'success', result: 'made' }] }])
  })

  it('that is edited while the run goes on fails with digest-changed', async () => {
    skills({
      main: { metadata: ['chain: [editor, victim]'] },
      editor: { run: 'echo "echo changed" >> .skillrail/skills/victim/scripts/run.sh' },
      victim: { run: 'echo original' },
    })
    const { json } = await command('run main --json')
    expect(json).toMatchObject({
      attempts: [{ steps: [{ status: 'success' }, { errors: [{ code: 'digest-changed' }] }] }],
    })
  })

  it('that takes too long is ended as a failure timeout, a nested chain as one step', async () => {
    skills({
      main: { metadata: ['chain: [slow, nested]', 'timeout: 1'] },
      slow: { run: 'sleep 20' },
      nested: { metadata: ['chain: [slow, slow]'] },
    })
    const { json } = await command('run main --json')
    expect(json).toMatchObject({
      attempts: [
        {
          steps: [
            { status: 'failure', errors: [{ code: 'timeout' }] },
            {
              status: 'failure',
              errors: [{ code: 'timeout' }],
              steps: [{ status: 'cancelled' }, { status: 'not_run' }],
            },
          ],
        },
      ],
    })
  })

  it('that loses a race is ended', async () => {
    skills({
      main: { metadata: ['chain: [slow, quick]', 'async: true', 'race_mode: true'] },
      slow: { run: 'sleep 20; echo late >> log' },
      quick: { run: 'sleep 0.1; echo quick >> log' },
    })
    const { code, json } = await command('run main --json')
    expect([code, json.winner]).toEqual([0, 'quick'])
    expect(statusesOf(json)).toBe('slow=cancelled quick=success')
    expect((await command(`runs show ${await runIdOf()} --json`)).json).toEqual(json)
  })
})

describe('going on after a run', () => {
  const failing = 'grep -q fixed fix 2>/dev/null && echo ok || exit 1'
  beforeEach(() =>
    skills({
      main: { metadata: ['chain: [a, nested, c]'] },
      nested: { metadata: ['chain: [n1, n2]'] },
      a: log('a'),
      n1: log('n1'),
      n2: { run: `echo n2 >> log; ${failing}` },
      c: log('c'),
    }),
  )

  it('retry makes a new run that reuses the successes and executes the rest', async () => {
    expect((await command('run main')).code).toBe(1)
    const old = await runIdOf()
    writeFileSync(join(project.directory, 'fix'), 'fixed')
    const { code, json } = await command(`runs retry ${old} --json`)
    expect(code).toBe(0)
    expect(json.runId).not.toBe(old)
    expect(project.log()).toEqual(['a', 'n1', 'n2', 'c', 'n2'])
  })

  it('retry executes again what was changed', async () => {
    await command('run main')
    project.write('a', log('a2'))
    await command(`runs retry ${await runIdOf()}`)
    expect(project.log()).toEqual(['a', 'n1', 'n2', 'c', 'a2', 'n2'])
  })

  it('fork takes over everything before a step', async () => {
    await command('run main')
    await command(`runs fork ${await runIdOf()} --from nested/n2`)
    expect(project.log()).toEqual(['a', 'n1', 'n2', 'c', 'n2', 'c'])
    const unknown = await command(`runs fork ${await runIdOf()} --from nothing`)
    expect([unknown.code, unknown.error?.code]).toEqual([3, 'step-unknown'])
  })

  it('cancel marks a run that nobody executes, and refuses one that ended', async () => {
    await command('run main')
    const ended = await runIdOf()
    expect((await command(`runs cancel ${ended}`)).error?.code).toBe('run-ended')
    await project.cli(['run', 'main'], 'kill:3')
    const open = await runIdOf()
    expect((await command(`runs cancel ${open}`)).code).toBe(0)
    expect((await command(`runs show ${open} --json`)).json).toMatchObject({ status: 'cancelled' })
    expect((await command(`runs resume ${open}`)).code).toBe(1)
    expect(project.log()).toEqual(['a', 'n1', 'n2', 'c', 'a', 'n1', 'n2', 'c'])
  })

  it('cancel ends a run of another process within its patience', async () => {
    project.write('a', { run: "trap '' TERM; echo a >> log; sleep 30" })
    const child = project.start(['run', 'main'])
    await until(() => project.log().length > 0)
    expect((await command(`runs cancel ${await runIdOf()}`)).code).toBe(0)
    expect((await child.ended).code).toBe(130)
  })

  it('prune deletes finished runs, and others only when asked', async () => {
    await command('run main')
    await project.cli(['run', 'main'], 'kill:3')
    expect((await command('runs prune --dry-run --json')).json).toMatchObject({ dryRun: true })
    expect((await command('runs prune --yes')).lines).toHaveLength(1)
    expect((await command('runs prune --keep 1 --unfinished')).lines).toHaveLength(0)
    expect((await command('runs prune --older-than 1 --unfinished')).lines).toHaveLength(0)
    expect((await command('runs prune --unfinished --yes')).lines).toHaveLength(1)
    expect((await command('runs list --json')).json).toEqual({ runs: [], diagnostics: [] })
  })

  it('an unknown run is exit code 3, a malformed id exit code 2', async () => {
    expect((await command('runs show 0abc')).error).toMatchObject({
      code: 'run-not-found',
      exitCode: 3,
    })
    expect((await command('runs show ../../etc/passwd')).error?.exitCode).toBe(2)
  })
})

const report = (run: string, step: string, more = '--status success --result ok') =>
  command(`chain report ${run} --step ${step} ${more} --json`)

describe('the stepper', () => {
  beforeEach(() =>
    skills({
      main: { metadata: ['chain: [think, check, both, write]'] },
      both: { metadata: ['chain: [left, right]', 'async: true'] },
      think: { body: 'Think about $ARGUMENTS.' },
      check: log('check'),
      left: { body: 'Left.' },
      right: { body: 'Right.' },
      write: { body: 'Write.', verify: 'test -e written' },
    }),
  )

  it('hands out one step after the other, executes scripts itself, and ends with the result', async () => {
    const first = await command('chain start main tea --json')
    expect(first.json).toMatchObject({
      next: [
        {
          step: 'think',
          skill: 'think',
          content: expect.stringMatching(/skill_content[\s\S]*Think about tea/),
        },
      ],
    })
    const { runId } = first.json
    expect((await command(`chain next ${runId} --json`)).json).toEqual(first.json)
    const second = await report(runId, 'think')
    expect(second.json).toMatchObject({ next: [{ step: 'both/left' }, { step: 'both/right' }] })
    expect(project.log()).toEqual(['check'])
    expect((await report(runId, 'both/right')).json).toMatchObject({
      next: [{ step: 'both/left' }],
    })
    expect((await report(runId, 'both/left')).json).toMatchObject({ next: [{ step: 'write' }] })
    const last = await report(runId, 'write')
    expect(last.json).toMatchObject({ result: { status: 'failure' } })
    expect(last.code).toBe(1)
    expect(JSON.stringify(last.json)).toContain('verification-failed')
    expect((await command(`chain next ${runId} --json`)).json).toEqual(last.json)
  })

  it('refuses a report out of order, twice, or of a wrong status', async () => {
    const { runId } = (await command('chain start main --json')).json
    expect((await report(runId, 'write')).error).toMatchObject({ code: 'report-refused' })
    expect((await report(runId, 'think', '--status fine')).error?.exitCode).toBe(2)
    await report(runId, 'think')
    expect((await report(runId, 'think')).error?.code).toBe('report-refused')
    expect((await command(`chain status ${runId} --json`)).json).toMatchObject({
      status: 'waiting',
      next: [{ step: 'both/left' }, { step: 'both/right' }],
    })
  })

  it('fails a success that only the agent vouches for, where verification is required', async () => {
    const { runId } = (await command('chain start main --require-verified --json')).json
    await report(runId, 'think')
    const shown = await command(`runs show ${runId} --json`)
    expect(shown.json).toMatchObject({
      attempts: [
        { steps: [{ errors: [{ code: 'not-verified' }], evidence: 'self-reported' }, {}, {}, {}] },
      ],
    })
  })

  it('counts the time between handing out and report', async () => {
    project.write('main', { metadata: ['chain: [think, write]', 'timeout: 60'] })
    let now = Date.now()
    const world = { now: () => now }
    const start = await command('chain start main --json', world)
    const { runId } = start.json
    now += 61_000
    const late = await runCommand(
      'chain report',
      `chain report ${runId} --step think --status success --json`.split(' '),
      project,
      world,
    )
    const message = 'no report came within 60 s'
    expect(late.code).toBe(1)
    expect(late.json).toMatchObject({
      dismissed: { step: 'think', code: 'timeout', message },
      next: [{ step: 'write' }],
    })
    expect((await command(`runs show ${runId} --json`)).json).toMatchObject({
      attempts: [{ steps: [{ status: 'failure', errors: [{ code: 'timeout' }] }, {}] }],
    })
  })

  it('says of a report in words that it came too late, and of a step that its time is over', async () => {
    project.write('main', { metadata: ['chain: [think, write]', 'timeout: 60'] })
    let now = Date.now()
    const world = { now: () => now }
    const { runId } = (await command('chain start main --json', world)).json
    expect((await command(`chain status ${runId}`, world)).lines.join('\n')).toContain(
      'waits for the report of think',
    )
    now += 61_000
    const status = (await command(`chain status ${runId}`, world)).lines.join('\n')
    expect(status).toContain('its time is over: no report came within 60 s')
    expect(status).not.toContain('waits for')
    expect((await command(`chain status ${runId} --json`, world)).json).toMatchObject({
      status: 'waiting',
      next: [{ step: 'think', overdue: true }],
    })
    const args = ['chain', 'report', runId, '--step', 'think', '--status', 'success']
    const late = await runCommand('chain report', args, project, world)
    expect([late.code, late.lines[0]]).toEqual([
      1,
      'The report about think came too late and does not count: no report came within 60 s.',
    ])
  })

  it('counts the time of a step from handing out to report', async () => {
    project.write('main', { metadata: ['chain: [think, write]'] })
    let now = Date.now()
    const world = { now: () => now }
    const started = new Date(now).toISOString()
    const { runId } = (await command('chain start main --json', world)).json
    now += 5000
    const answer = await command(`chain report ${runId} --step think --status success`, world)
    expect(answer.code).toBe(0)
    const [think] = (await command(`runs show ${runId} --json`)).json.attempts[0]?.steps ?? []
    expect(think).toMatchObject({ startedAt: started, durationMs: expect.any(Number) })
    expect(think).toSatisfy((step: { durationMs: number }) => step.durationMs >= 5000)
  })

  it('goes on with a report where it is resumed like another run', async () => {
    project.write('main', { metadata: ['chain: [think, write]'] })
    const { runId } = (await command('chain start main --json')).json
    const { code, lines } = await command(`runs resume ${runId}`)
    expect(code).toBe(6)
    expect(lines.at(-1)).toContain(`skillrail chain next ${runId}`)
    expect(lines.at(-1)).toContain(`skillrail chain report ${runId} --step think`)
    expect(lines.join('\n')).not.toContain('runs approve')
  })

  it('refuses a race', async () => {
    project.write('main', { metadata: ['chain: [left, right]', 'async: true', 'race_mode: true'] })
    expect((await command('chain start main')).error?.code).toBe('race-driven')
  })
})

describe('what a run failed of', () => {
  it('is said when its attempts did not become stable', async () => {
    skills({
      main: {
        metadata: ['chain: [n]', 'retry_until: stable', 'retry_count: 3'],
      },
      n: { run: 'echo x >> log; wc -l < log' },
    })
    const { code, lines } = await command('run main')
    expect(code).toBe(1)
    expect(lines.join('\n')).toMatch(/not-stable: no two of 3 attempts in a row/)
    const shown = await command(`runs show ${await runIdOf()}`)
    expect(shown.lines.at(-1)).toMatch(/not-stable: no two of 3/)
    const { json } = await command('run main --json')
    expect(json.attempts.map((attempt) => 'errors' in attempt)).toEqual([false, false, true])
    expect(json.attempts[2]).toMatchObject({ errors: [{ code: 'not-stable' }] })
    project.write('outer', { metadata: ['chain: main'] })
    expect((await command('run outer --json')).json.attempts[0]?.steps[0]).toMatchObject({
      status: 'failure',
      errors: [{ code: 'not-stable' }],
    })
  })

  it('is said to be the verification when that took too long', async () => {
    skills({
      main: { metadata: ['chain: [slow]', 'timeout: 1'] },
      slow: { run: 'echo done', verify: 'sleep 30' },
    })
    const { json } = await command('run main --json')
    expect(json.attempts[0]?.steps[0]).toMatchObject({
      errors: [
        {
          code: 'timeout',
          message: 'it took longer than 1 s and was ended while scripts/verify ran',
        },
      ],
    })
  })
})

describe('planning', () => {
  it('an instruction skill says which two ways there are, with exit code 3', async () => {
    skills({ main: { body: 'Just words.' } })
    const { error } = await command('run main')
    expect(error).toMatchObject({ code: 'no-executor', exitCode: 3 })
    expect(error?.diagnostics[0]?.hint).toMatch(/script.*chain start/s)
  })

  it('prints the same bytes every time, as text, JSON and Mermaid', async () => {
    skills({
      main: { metadata: ['chain: [a, nested, b]', 'gates: b', 'timeout: 5'] },
      nested: { metadata: ['chain: [a, b]', 'async: true'] },
      a: log('a'),
      b: { run: 'true', verify: 'true' },
    })
    for (const options of ['', ' --json', ' --format mermaid']) {
      const [first, second] = [
        await command(`chain plan main${options}`),
        await command(`chain plan main${options}`),
      ]
      expect(first).toEqual(second)
      expect(first.code).toBe(0)
    }
    const { json } = await command('run main --dry-run --json')
    expect(json).toMatchObject({
      skill: 'main',
      steps: [
        { step: 'a', executor: 'script', trust: 'trusted' },
        { step: 'nested', executor: 'chain', steps: [{ step: 'nested/a' }, { step: 'nested/b' }] },
        { step: 'b', gate: true, verify: 'scripts/verify.sh' },
      ],
    })
    expect((await command('chain plan main --format mermaid')).lines.join('')).toContain('subgraph')
    expect(project.log()).toEqual([])
  })

  it.each([
    ['--from nested/n2', ['n2', 'c']],
    ['--only nested', ['n1', 'n2']],
    ['--only c', ['c']],
  ])('%s leaves out the rest', async (options, expected) => {
    skills({
      main: { metadata: ['chain: [a, nested, c]'] },
      nested: { metadata: ['chain: [n1, n2]'] },
      a: log('a'),
      n1: log('n1'),
      n2: log('n2'),
      c: log('c'),
    })
    await command(`run main ${options}`)
    expect(project.log()).toEqual(expected)
  })

  it('takes policy for one run from --set, and refuses what it does not know', async () => {
    skills({ main: { metadata: ['chain: [bad, a]'] }, bad: { run: 'exit 1' }, a: log('a') })
    await command('run main --set continue_on_error=false')
    expect(project.log()).toEqual([])
    for (const setting of ['timeout=-1', 'async=maybe', 'tmeout=5', 'timeout', 'constructor=1']) {
      expect((await command(`run main --set ${setting}`)).error?.exitCode).toBe(2)
    }
  })

  it('with validate_on_load: false a missing skill fails at its step', async () => {
    skills({ main: { metadata: ['chain: [a, gone]', 'validate_on_load: false'] }, a: log('a') })
    expect((await command('run main --json')).json).toMatchObject({
      attempts: [{ steps: [{ status: 'success' }, { errors: [{ code: 'skill-not-found' }] }] }],
    })
  })

  it('removes the scratch directory with cleanup_after, never the journal', async () => {
    skills({
      main: { metadata: ['chain: [a]', 'cleanup_after: true'] },
      a: { run: 'echo x > $SKILLRAIL_SCRATCH/file' },
    })
    await command('run main')
    const runs = join(project.directory, '.skillrail/runs')
    const id = await runIdOf()
    expect(() => readFileSync(join(runs, id, 'scratch/file'))).toThrow('ENOENT')
    expect(readFileSync(join(runs, `${id}.jsonl`), 'utf8')).toContain('"status":"success"')
    rmSync(runs, { recursive: true })
  })
})
