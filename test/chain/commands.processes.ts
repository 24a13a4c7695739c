import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CommandJson, commandsIn, runCommand } from './_command.ts'
import { log, makeProject, type TestProject } from './_project.ts'
import { until, withinLimit } from '../patience.ts'

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

  it('stops the run before its step, with exit code 6 and the command that continues the run', async () => {
    const { code, lines } = await command('run main')
    expect(code).toBe(6)
    expect(lines.join('\n')).toContain(`skillrail runs approve ${await runIdOf()}`)
    expect(project.log()).toEqual(['build'])
    expect((await command('runs list')).lines.at(-1)).toMatch(/waiting/)
  })

  it('opens when a user says yes, and the run ends', async () => {
    await command('run main')
    const { code, notes } = await command(`runs approve ${await runIdOf()}`, { answer: 'y' })
    expect(code).toBe(0)
    expect(notes.join('\n')).toContain('build: did-build')
    expect(project.log()).toEqual(['build', 'deploy', 'done'])
  })

  it('needs an approval again after a rejection, in a run that reuses the earlier results', async () => {
    await command('run main')
    const run = await runIdOf()
    await command(`runs reject ${run}`, { answer: 'yes' })
    for (const again of [`runs retry ${run}`, `runs fork ${run} --from done`]) {
      const { code, json } = await command(`${again} --json`)
      expect([code, statusesOf(json)]).toEqual([6, 'build=success deploy=waiting done=not_run'])
    }
    expect(project.log()).toEqual(['build'])
  })

  it('ends all attempts when it is rejected', async () => {
    project.write('main', {
      metadata: [
        'chain: [build, deploy]',
        'gates: deploy',
        'retry_count: 3',
        'retry_until: success',
      ],
    })
    await command('run main')
    const { json } = await command(`runs reject ${await runIdOf()} --json`, { answer: 'yes' })
    expect(json).toMatchObject({ status: 'failure', attempts: [{ status: 'failure' }] })
    expect(json.attempts).toHaveLength(1)
  })

  it('does not delay the other steps of its group', async () => {
    const metadata = ['chain: [deploy, build, done]', 'gates: deploy', 'async: true']
    skills({ main: { metadata: [...metadata, 'parallel_limit: 1'] } })
    const { code, json } = await command('run main --json')
    expect([code, statusesOf(json)]).toEqual([6, 'deploy=waiting build=success done=success'])
    await command(`runs approve ${json.runId}`, { answer: 'y' })
    expect(project.log()).toEqual(['build', 'done', 'deploy'])
  })

  it('keeps all results of a group that its step stops', async () => {
    const metadata = ['chain: [deploy, build, done]', 'gates: deploy', 'async: true']
    skills({
      main: { metadata: [...metadata, 'parallel_limit: 1', 'continue_on_error: false'] },
      deploy: { run: 'exit 1' },
    })
    await command('run main')
    const { json } = await command(`runs approve ${await runIdOf()} --json`, { answer: 'y' })
    expect(statusesOf(json)).toBe('deploy=failure build=success done=success')
  })

  it('opens before the gates in its chain, one after the other', async () => {
    skills({
      outer: { metadata: ['chain: [main]', 'gates: main'] },
      main: { metadata: ['chain: [build, deploy]', 'gates: build deploy'] },
    })
    await command('run outer')
    const runId = await runIdOf()
    const yes = { answer: 'y' }
    expect((await command(`runs approve ${runId}`, yes)).code).toBe(6)
    expect(project.log()).toEqual([])
    expect((await command(`runs approve ${runId}`, yes)).code).toBe(6)
    expect(project.log()).toEqual(['build'])
    expect((await command(`runs approve ${runId}`, yes)).code).toBe(0)
    expect(project.log()).toEqual(['build', 'deploy'])
  })

  it('keeps the earlier results in a chain that is stopped', async () => {
    skills({
      outer: { metadata: ['chain: [main, slow]', 'async: true', 'continue_on_error: false'] },
      slow: {
        run: `until grep -q '"type":"gate"' "$SKILLRAIL_SCRATCH/../.."/*.jsonl; do sleep 0.05; done; exit 1`,
      },
    })
    const { json } = await command('run outer --json')
    expect(json).toMatchObject({
      status: 'failure',
      attempts: [
        {
          steps: [
            {
              status: 'cancelled',
              reason: 'the chain had stopped after slow (failure)',
              steps: [{ status: 'success' }, { status: 'not_run' }, { status: 'not_run' }],
            },
            { status: 'failure' },
          ],
        },
      ],
    })
    expect((await command(`runs show ${json.runId} --json`)).json).toMatchObject(json)
  })

  it('ends the run as a failure when it is rejected', async () => {
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
    const before = readFileSync(join(project.runs, `${run}.jsonl`), 'utf8')
    const refused = await command(`runs approve ${run}`, { answer })
    expect([refused.code, refused.error?.code]).toEqual([4, code])
    expect(readFileSync(join(project.runs, `${run}.jsonl`), 'utf8')).toBe(before)
  })

  it('records who approved, when, and the text on the screen', async () => {
    await command('run main')
    const run = await runIdOf()
    await command(`runs approve ${run}`, { answer: 'y' })
    const { json, lines } = {
      ...(await command(`runs show ${run} --json`)),
      lines: (await command(`runs show ${run}`)).lines,
    }
    expect(json).toMatchObject({
      startedBy: userInfo().username,
      approvals: [
        {
          step: 'deploy',
          approved: true,
          by: 'person',
          user: userInfo().username,
          shown: [{ step: 'build', status: 'success', result: 'did-build' }],
        },
      ],
    })
    expect(lines.join('\n')).toContain(`deploy: approved by ${userInfo().username} at a terminal`)
    expect(lines.join('\n')).toContain('was shown build: success, did-build')
  })

  it('shows that the caller approved in advance', async () => {
    await command('run main --yes-gates')
    const { json } = await command(`runs show ${await runIdOf()} --json`)
    expect(json).toMatchObject({ yesGates: true, approvals: [{ step: 'deploy', by: 'caller' }] })
  })

  it.each(['resume RUN', 'retry RUN', 'fork RUN --from deploy'])(
    'is not approved in advance by runs %s',
    async (line) => {
      await command('run main')
      const again = `runs ${line.replace('RUN', await runIdOf())} --yes-gates`
      expect((await command(again)).code).toBe(2)
      expect(project.log()).toEqual(['build'])
    },
  )

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
  it('can have the name of a property of every object', async () => {
    skills({ main: {} })
    const directory = join(project.directory, '.skillrail/skills/main')
    writeFileSync(join(directory, 'constructor'), '#!/bin/sh\necho made\n', { mode: 0o755 })
    const text = '---\nname: main\ndescription: Runs it. Use in tests.\nrun: constructor\n---\n'
    writeFileSync(join(directory, 'SKILL.md'), text)
    const { json } = await command('run main --json')
    expect(json.attempts).toMatchObject([{ steps: [{ status: 'success', result: 'made' }] }])
  })

  it('fails with digest-changed if it is edited during the run', async () => {
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

  it.each(['mkfifo', 'ln -s /dev/zero'])(
    'fails with digest-changed if it is replaced by an endless file (%s)',
    async (maker) => {
      const script = '.skillrail/skills/victim/scripts/run.sh'
      skills({
        main: { metadata: ['chain: [editor, victim]'] },
        editor: { run: `rm ${script}; ${maker} ${script}` },
        victim: { run: 'echo original' },
      })
      const { json } = await command('run main --json')
      expect(json).toMatchObject({
        attempts: [{ steps: [{ status: 'success' }, { errors: [{ code: 'digest-changed' }] }] }],
      })
    },
  )

  it('has the time limit run.timeout without one of its chain, an hour by default', async () => {
    skills({ main: { metadata: ['chain: [slow]'] }, slow: { run: 'sleep 20' } })
    const env = { SKILLRAIL_RUN_TIMEOUT: '1' }
    const { json } = await command('run main --json', { env })
    const message = 'it took longer than 1 s (the setting run.timeout) and was stopped'
    const step = { status: 'failure', errors: [{ code: 'timeout', message }] }
    expect(json.attempts[0]?.steps).toMatchObject([step])
  })

  it('ends as a failure at its time limit, a nested chain as one step', async () => {
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

  it('ends when it loses a race', async () => {
    skills({
      main: { metadata: ['chain: [slow, quick]', 'async: true', 'race_mode: true'] },
      slow: { run: 'sleep 20; echo late >> log' },
      quick: { run: 'sleep 0.1; echo quick >> log' },
    })
    const { code, json } = await command('run main --json')
    expect([code, json.winner]).toEqual([0, 'quick'])
    expect(statusesOf(json)).toBe('slow=cancelled quick=success')
    expect((await command(`runs show ${await runIdOf()} --json`)).json).toMatchObject(json)
  })
})

describe('commands after a run', () => {
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

  it('retry takes over the last attempts, on every level', async () => {
    skills({
      main: { metadata: ['chain: [a, nested]', 'retry_until: success', 'retry_count: 2'] },
      nested: { metadata: ['chain: [n1, n2]', 'retry_until: success', 'retry_count: 3'] },
    })
    await command('run main')
    const attempt = ['a', ...Array.from({ length: 3 }, () => ['n1', 'n2']).flat()]
    expect(project.log()).toEqual([...attempt, ...attempt])
    writeFileSync(join(project.directory, 'fix'), 'fixed')
    expect((await command(`runs retry ${await runIdOf()}`)).code).toBe(0)
    expect(project.log().slice(2 * attempt.length)).toEqual(['n2'])
  })

  it('retry executes changed steps again', async () => {
    await command('run main')
    project.write('a', log('a2'))
    await command(`runs retry ${await runIdOf()}`)
    expect(project.log()).toEqual(['a', 'n1', 'n2', 'c', 'a2', 'n2'])
  })

  it('fork reuses all results before a step', async () => {
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
    expect((await command('runs prune --keep 0')).lines).toHaveLength(1)
    expect((await command('runs prune --keep 1 --unfinished')).lines).toHaveLength(0)
    expect((await command('runs prune --older-than 1 --unfinished')).lines).toHaveLength(0)
    expect((await command('runs prune --unfinished --keep 0')).lines).toHaveLength(1)
    expect((await command('runs list --json')).json).toMatchObject({ runs: [], diagnostics: [] })
  })

  it('ends with exit code 3 for an unknown run, and with 2 for an invalid ID', async () => {
    expect((await command('runs show 0abc')).error).toMatchObject({
      code: 'run-not-found',
      exitCode: 3,
    })
    expect((await command('runs show ../../etc/passwd')).error?.exitCode).toBe(2)
  })
})

const report = (run: string, step: string, more = '--status success --result ok') =>
  command(`chain report ${run} --step ${step} ${more} --json`)

const stateIn = (content = ''): unknown =>
  JSON.parse(/<chain_state>\n(.*)\n<\/chain_state>/.exec(content)?.[1] ?? 'null')

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

  it('fails a success that only the agent reports, if verification is required', async () => {
    const { runId } = (await command('chain start main --require-verified --json')).json
    await report(runId, 'think')
    const shown = await command(`runs show ${runId} --json`)
    expect(shown.json).toMatchObject({
      attempts: [
        {
          steps: [
            { errors: [{ code: 'not-verified' }], evidence: 'self-reported' },
            { status: 'success', evidence: 'exit-code' },
            {},
            {},
          ],
        },
      ],
    })
  })

  it('takes no report for a run that a user cancelled, until the user resumes it', async () => {
    const { runId } = (await command('chain start main --json')).json
    await command(`runs cancel ${runId}`)
    const before = project.log()
    for (const line of [
      `chain report ${runId} --step think --status success`,
      `chain next ${runId}`,
    ]) {
      const { code, error } = await command(line)
      expect([code, error?.code]).toEqual([1, 'run-cancelled'])
      expect(error?.hint).toContain(`runs resume ${runId}`)
    }
    expect(project.log()).toEqual(before)
    expect((await command(`runs resume ${runId}`)).code).toBe(6)
    expect((await command(`chain report ${runId} --step think --status success`)).code).toBe(0)
  })

  it('counts the time between handing out and report', async () => {
    project.write('main', { metadata: ['chain: [think, write]', 'timeout: 60'] })
    let now = Date.now()
    const fixture = { now: () => now }
    const start = await command('chain start main --json', fixture)
    const { runId } = start.json
    now += 61_000
    const late = await runCommand(
      'chain report',
      `chain report ${runId} --step think --status success --json`.split(' '),
      project,
      fixture,
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

  it('reports that a report came too late, and that the time of a step is over', async () => {
    project.write('main', { metadata: ['chain: [think, write]', 'timeout: 60'] })
    let now = Date.now()
    const fixture = { now: () => now }
    const { runId } = (await command('chain start main --json', fixture)).json
    expect((await command(`chain status ${runId}`, fixture)).lines.join('\n')).toContain(
      'waits for the report of think',
    )
    now += 61_000
    const status = (await command(`chain status ${runId}`, fixture)).lines.join('\n')
    expect(status).toContain('it exceeded its time limit: no report came within 60 s')
    expect(status).not.toContain('waits for')
    expect((await command(`chain status ${runId} --json`, fixture)).json).toMatchObject({
      status: 'waiting',
      next: [{ step: 'think', overdue: true }],
    })
    const args = ['chain', 'report', runId, '--step', 'think', '--status', 'success']
    const late = await runCommand('chain report', args, project, fixture)
    expect([late.code, late.lines[0]]).toEqual([
      1,
      'The report about think came too late and does not count: no report came within 60 s.',
    ])
  })

  it('accepts a report at the last moment', async () => {
    project.write('main', { metadata: ['chain: [think]', 'timeout: 60'] })
    let now = Date.now()
    const fixture = { now: () => now }
    const { runId } = (await command('chain start main --json', fixture)).json
    now += 60_000
    const { code } = await command(`chain report ${runId} --step think --status success`, fixture)
    expect(code).toBe(0)
  })

  it('counts the time of a step from handing out to report', async () => {
    project.write('main', { metadata: ['chain: [think, write]'] })
    let now = Date.now()
    const fixture = { now: () => now }
    const started = new Date(now).toISOString()
    const { runId } = (await command('chain start main --json', fixture)).json
    now += 5000
    const answer = await command(`chain report ${runId} --step think --status success`, fixture)
    expect(answer.code).toBe(0)
    const [think] = (await command(`runs show ${runId} --json`)).json.attempts[0]?.steps ?? []
    expect(think).toMatchObject({ startedAt: started, durationMs: expect.any(Number) })
    expect(think).toSatisfy((step: { durationMs: number }) => step.durationMs >= 5000)
  })

  it('limits the time of a chain as a whole, and ignores a later report', async () => {
    project.write('main', { metadata: ['chain: [both, write]', 'timeout: 60'] })
    project.write('both', { metadata: ['chain: [left, right]'] })
    let now = Date.now()
    const fixture = { now: () => now }
    const { runId } = (await command('chain start main --json', fixture)).json
    now += 40_000
    await command(`chain report ${runId} --step both/left --status success`, fixture)
    now += 40_000
    expect((await command(`chain status ${runId} --json`, fixture)).json.next).toEqual([
      {
        step: 'both/right',
        skill: 'right',
        attempt: 1,
        overdue: true,
        continueWith: `skillrail chain next ${runId}`,
      },
    ])
    const late = await command(
      `chain report ${runId} --step both/right --status success --json`,
      fixture,
    )
    expect(late.code).toBe(1)
    expect(late.json).toMatchObject({
      dismissed: {
        step: 'both/right',
        code: 'timeout',
        message: expect.stringContaining('longer than 60 s'),
      },
      next: [{ step: 'write' }],
    })
    expect((await command(`runs show ${runId} --json`, fixture)).json).toMatchObject({
      attempts: [
        {
          steps: [
            {
              status: 'failure',
              errors: [{ code: 'timeout' }],
              steps: [{ status: 'success' }, { status: 'cancelled', durationMs: 40_000 }],
            },
            { status: 'waiting' },
          ],
        },
      ],
    })
  })

  it('reports a late step that was handed out before another one began', async () => {
    const metadata = ['chain: [think, broken]', 'async: true', 'parallel_limit: 1']
    skills({
      main: { metadata: [...metadata, 'continue_on_error: false'] },
      broken: { run: 'exit 1' },
    })
    const { json } = await command('chain start main --json')
    expect(json).toMatchObject({
      result: { status: 'failure', attempts: [{ steps: [{ status: 'cancelled' }, {}] }] },
    })
    expect((await command(`runs show ${json.runId} --json`)).json).toMatchObject(json.result ?? {})
  })

  it('keeps every report, even if more steps were handed out than run at once', async () => {
    const metadata = ['chain: [left, right, think]', 'async: true', 'parallel_limit: 1']
    project.write('main', { metadata: [...metadata, 'continue_on_error: false'] })
    const { runId } = (await command('chain start main --json')).json
    expect((await report(runId, 'think')).json.next).toHaveLength(2)
    const { json } = await report(runId, 'left', '--status failure')
    const steps = [{ status: 'failure' }, { status: 'cancelled' }, { status: 'success' }]
    expect(json).toMatchObject({ result: { attempts: [{ steps }] } })
    expect((await command(`runs show ${runId} --json`)).json).toMatchObject(json.result ?? {})
  })

  it('gives a chain the weakest evidence of its steps', async () => {
    project.write('both', { metadata: ['chain: [check, left]'] })
    skills({ main: { metadata: ['chain: [both]'] } })
    const { runId } = (await command('chain start main --json')).json
    expect((await report(runId, 'both/left')).json).toMatchObject({
      result: {
        attempts: [
          {
            steps: [
              {
                evidence: 'self-reported',
                steps: [{ evidence: 'exit-code' }, { evidence: 'self-reported' }],
              },
            ],
          },
        ],
      },
    })
  })

  it('accepts concurrent reports about the steps of a group', async () => {
    skills({ main: { metadata: ['chain: [left, right, think]', 'async: true'] } })
    const { runId } = (await command('chain start main --json')).json
    const answers = await Promise.all(['left', 'right', 'think'].map((step) => report(runId, step)))
    expect(answers.map(({ code }) => code)).toEqual([0, 0, 0])
    expect((await command(`runs show ${runId} --json`)).json).toMatchObject({ status: 'success' })
  })

  it('continues with a report when it is resumed like another run', async () => {
    project.write('main', { metadata: ['chain: [think, write]'] })
    const { runId } = (await command('chain start main --json')).json
    const { code, lines } = await command(`runs resume ${runId}`)
    expect(code).toBe(6)
    expect(lines.at(-1)).toContain(`skillrail chain next ${runId}`)
    expect(lines.at(-1)).toContain(`skillrail chain report ${runId} --step think`)
    expect(lines.join('\n')).not.toContain('runs approve')
  })

  it('passes the earlier results to each step, if the chain passes state', async () => {
    const { runId, next } = (await command('chain start main --json')).json
    expect(next[0]?.content).not.toContain('chain_state')
    const vague = '--status failure --error vague --result </chain_state>'
    const [left, right] = (await report(runId, 'think', vague)).json.next
    const state = stateIn(left?.content)
    expect(state).toMatchObject({
      previous_outputs: [
        { step: 'think', status: 'failure', result: '</chain_state>' },
        { step: 'check', status: 'success', result: 'did-check' },
      ],
      accumulated_errors: [{ code: 'reported', message: 'vague' }],
    })
    expect(stateIn(right?.content)).toEqual(state)
    await report(runId, 'both/left')
    expect(stateIn((await command(`chain next ${runId} --json`)).json.next[0]?.content)).toEqual(
      state,
    )
    const words = (await command(`chain next ${runId}`)).lines.join('\n')
    expect(words).toMatch(/What the steps before it left[\s\S]*did-check[\s\S]*Step both\/right/)
    project.write('main', { metadata: ['chain: [think, write]', 'pass_state: false'] })
    const alone = await command('chain start main --json')
    const after = await report(alone.json.runId, 'think')
    expect(after.json.next[0]?.content).not.toContain('chain_state')
  })

  it('accepts a report for the current attempt, never for an ended one', async () => {
    project.write('main', {
      metadata: [
        'chain: [think, both]',
        'async: true',
        'continue_on_error: false',
        'retry_until: success',
        'retry_count: 2',
      ],
    })
    const { runId } = (await command('chain start main --json')).json
    expect((await report(runId, 'think', '--status failure')).json.next).toMatchObject([
      { step: 'think', attempt: 2 },
      { step: 'both/left' },
      { step: 'both/right' },
    ])
    expect((await report(runId, 'both/left')).json.next).toMatchObject([
      { step: 'think' },
      { step: 'both/right' },
    ])
    await report(runId, 'both/right')
    expect((await report(runId, 'think')).json).toMatchObject({
      result: {
        status: 'success',
        attempts: [
          {
            status: 'failure',
            steps: [
              { status: 'failure' },
              { status: 'cancelled', steps: [{ status: 'cancelled' }, { status: 'cancelled' }] },
            ],
          },
          { status: 'success' },
        ],
      },
    })
  })

  it('reports a step that was handed out when the chain stopped as cancelled', async () => {
    project.write('main', {
      metadata: ['chain: [left, right, think]', 'async: true', 'early_exit_on: success'],
    })
    const { runId } = (await command('chain start main --json')).json
    await report(runId, 'left', '--status failure')
    const { json } = await report(runId, 'think')
    const stopped = { status: 'cancelled', reason: 'the chain had succeeded with think' }
    expect(json).toMatchObject({
      result: { attempts: [{ steps: [{ status: 'failure' }, stopped, { status: 'success' }] }] },
    })
    expect((await command(`runs show ${runId} --json`)).json).toMatchObject(json.result ?? {})
  })

  it('refuses a race', async () => {
    project.write('main', { metadata: ['chain: [left, right]', 'async: true', 'race_mode: true'] })
    expect((await command('chain start main')).error?.code).toBe('race-driven')
  })
})

describe('the errors of a failed run', () => {
  it('include attempts that did not become stable', async () => {
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

  it('include a verification that took too long', async () => {
    skills({
      main: { metadata: ['chain: [slow]'] },
      slow: { run: 'echo done', verify: 'touch begun; sleep 120' },
    })
    const { attempts } = await withinLimit(
      1000,
      async (limit) => (await command(`run main --set timeout=${limit / 1000} --json`)).json,
      () => existsSync(join(project.directory, 'begun')),
    )
    expect(attempts[0]?.steps[0]).toMatchObject({
      errors: [
        {
          code: 'timeout',
          message: expect.stringMatching(
            /^it took longer than \d+ s and was stopped while its check ran$/,
          ),
        },
      ],
    })
  })
})

describe('planning', () => {
  it('names the two ways to run an instruction skill, with exit code 3', async () => {
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
    ['--only a', ['a']],
  ])('leaves out the other steps with %s', async (options, expected) => {
    skills({
      main: { metadata: ['chain: [a, ab, nested, c]'] },
      ab: log('ab'),
      nested: { metadata: ['chain: [n1, n2]'] },
      a: log('a'),
      n1: log('n1'),
      n2: log('n2'),
      c: log('c'),
    })
    await command(`run main ${options}`)
    expect(project.log()).toEqual(expected)
  })

  it('keeps an empty chain with --only', async () => {
    skills({ main: { metadata: ['chain: [a, empty]'] }, empty: { metadata: ['chain: []'] } })
    project.write('a', log('a'))
    const { json } = await command('run main --only empty --json')
    expect(statusesOf(json)).toBe('a=not_run empty=success')
  })

  it('reads policy for one run from --set, and refuses unknown names', async () => {
    skills({ main: { metadata: ['chain: [bad, a]'] }, bad: { run: 'exit 1' }, a: log('a') })
    await command('run main --set continue_on_error=false')
    expect(project.log()).toEqual([])
    for (const setting of ['timeout=-1', 'async=maybe', 'tmeout=5', 'timeout', 'constructor=1']) {
      expect((await command(`run main --set ${setting}`)).error?.exitCode).toBe(2)
    }
  })

  it('fails at the step of a missing skill with validate_on_load: false', async () => {
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
    const { runs } = project
    const id = await runIdOf()
    expect(() => readFileSync(join(runs, id, 'scratch/file'))).toThrow('ENOENT')
    expect(readFileSync(join(runs, `${id}.jsonl`), 'utf8')).toContain('"status":"success"')
    rmSync(runs, { recursive: true })
  })

  it.each(['approve', 'reject'])(
    'keeps the scratch directory of a waiting run until its end: %s',
    async (decision) => {
      skills({
        main: { metadata: ['chain: [a, b]', 'gates: b', 'cleanup_after: true'] },
        a: { run: 'echo x > $SKILLRAIL_SCRATCH/file' },
        b: { run: 'cat $SKILLRAIL_SCRATCH/file' },
      })
      await command('run main')
      const id = await runIdOf()
      const file = join(project.runs, id, 'scratch/file')
      expect(existsSync(file)).toBe(true)
      await command(`runs ${decision} ${id}`, { answer: 'y' })
      expect(existsSync(file)).toBe(false)
    },
  )
})
