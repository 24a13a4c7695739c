import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeProject, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => void (project = makeProject()))
afterEach(() => project.remove())

const json = async (...args: string[]) => {
  const { code, stdout } = await project.run(['--json', ...args])
  return { code, ...JSON.parse(stdout) }
}
/** Prints the state that the step was given. */
const state = 'cat "$SKILLRAIL_STATE" > state.json; echo seen'
const given = () =>
  JSON.parse(readFileSync(join(project.directory, 'state.json'), 'utf8')).chain_state
const output = (fields: object) =>
  `cat > "$SKILLRAIL_OUTPUT" <<'END'\n${JSON.stringify({ status: 'success', ...fields })}\nEND`

describe('the answer of a step', () => {
  it('reaches later steps under its full name, nested ones and those of a group included', async () => {
    project.write('main', { metadata: ['chain: |', '  inner', '  left & right', '  last'] })
    project.write('inner', { metadata: ['chain: one two'] })
    for (const name of ['one', 'two', 'left', 'right']) {
      project.write(name, { run: output({ result: `from ${name}`, metrics: { n: 1 } }) })
    }
    project.write('last', { run: state })
    expect(await json('run', 'main')).toMatchObject({ code: 0 })
    const { previous_outputs: outputs, total_metrics: metrics } = given()
    expect(outputs.map((one: { step: string; result: string }) => [one.step, one.result])).toEqual([
      ['inner/one', 'from one'],
      ['inner/two', 'from two'],
      ['inner', 'from two'],
      ['left', 'from left'],
      ['right', 'from right'],
    ])
    expect(metrics).toEqual({ n: 4 })
  })

  it('reports each error once', async () => {
    project.write('main', { metadata: ['chain: inner last'] })
    project.write('inner', { metadata: ['chain: bad'] })
    project.write('bad', { run: 'exit 3' })
    project.write('last', { run: state })
    await project.run(['run', 'main'])
    expect(given().accumulated_errors).toEqual([{ code: 'exit-code', message: 'exit code 3' }])
  })

  it('arrives unchanged, with any names of fields', async () => {
    const usage = '{"usage":{"input_tokens":10,"max_tokens":5},"session_id":"s-123","token":"abc"}'
    const long = `${'x'.repeat(899_999)}!`
    project.write('main', { metadata: ['chain: a b last'] })
    project.write('a', { run: output({ result: usage }) })
    project.write('b', {
      run: `node -e 'console.log("${'x'.repeat(9)}" + "x".repeat(899990) + "!")'`,
    })
    project.write('last', { run: state })
    expect(await json('run', 'main')).toMatchObject({ code: 0 })
    const [one, other] = given().previous_outputs
    expect(JSON.parse(one.result)).toEqual(JSON.parse(usage))
    expect(other.result === long).toBe(true)
  })

  it.each([
    ['a line', `node -e 'console.log("x".repeat(2e6))'`],
    ['a line longer than what is kept', `node -e 'console.log("x".repeat(2e7))'`],
    [
      'an object',
      `node -e 'console.log(JSON.stringify({status:"success",result:"x".repeat(2e6)}))'`,
    ],
    [
      'an object on many lines',
      `node -e 'console.log(JSON.stringify({status:"success",errors:Array(400000).fill("x".repeat(20))},null,2))'`,
    ],
    [
      'a file',
      `node -e 'require("fs").writeFileSync(process.env.SKILLRAIL_OUTPUT,JSON.stringify({status:"success",result:"x".repeat(2e6)}))'`,
    ],
  ])('is a failure above 1 MiB, and never cut: %s', async (_what, run) => {
    project.write('a', { run })
    const { attempts } = await json('run', 'a')
    const [error] = attempts[0].steps[0].errors
    expect(error.code).toBe('result-too-large')
    expect(error.message).toContain('SKILLRAIL_SCRATCH')
  })

  it('can name files of the run', async () => {
    project.write('main', { metadata: ['chain: a last'] })
    const write = 'echo big > "$SKILLRAIL_SCRATCH/big.txt"'
    const fields =
      '{\\"status\\":\\"success\\",\\"artifacts\\":[\\"big.txt\\",\\"$SKILLRAIL_SCRATCH/big.txt\\"]}'
    project.write('a', { run: `${write}; echo "${fields}" > "$SKILLRAIL_OUTPUT"` })
    project.write('last', { run: state })
    const run = await json('run', 'main')
    const { artifacts } = given().previous_outputs[0]
    expect(artifacts).toEqual(['big.txt', expect.stringMatching(/^\/.*\/big\.txt$/)])
    expect(readFileSync(artifacts[1], 'utf8')).toBe('big\n')
    const { stdout } = await project.run(['runs', 'show', run.runId])
    expect(stdout).toContain(`  file ${artifacts[1]}\n`)
  })

  it.each(['gone.txt', '/etc/passwd', '../../x'])('cannot name another file: %s', async (path) => {
    project.write('a', { run: output({ artifacts: [path] }) })
    const { code, attempts } = await json('run', 'a')
    expect(code).toBe(1)
    expect(attempts[0].steps[0].errors).toMatchObject([{ code: 'artifact-unusable' }])
  })
})

describe('a secret', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`

  it('reaches later steps, and is neither shown nor stored as text', async () => {
    project.write('main', { metadata: ['chain: inner last'] })
    project.write('inner', { metadata: ['chain: a'] })
    project.write('a', { run: `echo log ${token} >&2; ${output({ result: `use ${token}` })}` })
    project.write('last', { run: state })
    const run = await project.run(['run', 'main', '--report', 'html=report.html'])
    expect(given().previous_outputs[0].result).toBe(`use ${token}`)
    const id = readdirSync(project.runs).find((name) => name.endsWith('.jsonl')) ?? ''
    const shown = [
      run,
      await project.run(['runs', 'show', 'latest', '--json']),
      await project.run(['runs', 'logs', 'latest']),
    ]
    const texts = shown.flatMap(({ stdout, stderr }) => [stdout, stderr])
    texts.push(readFileSync(join(project.directory, 'report.html'), 'utf8'))
    texts.push(readFileSync(join(project.runs, id), 'utf8'))
    for (const text of texts) expect(text).not.toContain(token)
    expect(texts.join('')).toContain('use [redacted]')
  })

  it('is masked while it streams, even if it arrives in two pieces', async () => {
    project.write('talks', {
      run: `printf ${token.slice(0, 9)}; sleep 0.2; echo ${token.slice(9)}`,
    })
    const { stderr } = await project.run(['run', 'talks'])
    expect(stderr).toContain('[talks] [redacted]')
  })

  it('is available again when a run continues', async () => {
    project.write('main', { metadata: ['chain: a last', 'continue_on_error: false'] })
    project.write('a', { run: output({ result: `use ${token}` }) })
    project.write('last', { run: `[ -e ready ] || kill -9 $PPID; ${state}` })
    await project.cli(['run', 'main'])
    writeFileSync(join(project.directory, 'ready'), '')
    expect(await project.run(['runs', 'resume', 'latest'])).toMatchObject({ code: 0 })
    expect(given().previous_outputs[0].result).toBe(`use ${token}`)
  })
})

describe('logs', () => {
  it('are complete, and printed by step', async () => {
    project.write('main', { metadata: ['chain: |', '  talks retry=2', '  other'] })
    project.write('talks', {
      run: 'i=0; while [ $i -lt 10000 ]; do echo "line $i"; i=$((i+1)); done; [ -e again ] || { touch again; exit 1; }',
    })
    project.write('other', { run: 'echo out; echo err >&2' })
    const { code, stderr } = await project.run(['run', 'main'])
    expect(code).toBe(0)
    expect(stderr.match(/^\[talks\] line \d+$/gm)).toHaveLength(20_000)
    const { stdout } = await project.run(['runs', 'logs', 'latest'])
    expect(stdout.match(/^\[talks\] line \d+$/gm)).toHaveLength(10_000)
    expect(stdout.match(/^\[talks, attempt 2\] line \d+$/gm)).toHaveLength(10_000)
    expect(stdout).toContain('[other] out\n')
    const one = await project.run(['runs', 'logs', 'latest', 'other'])
    expect(one.stdout.split('\n').toSorted()).toEqual(['', 'err', 'out'])
    const talks = await json('runs', 'logs', 'latest', 'talks')
    expect(talks.logs).toMatchObject([{ attempt: 1 }, { step: 'talks', attempt: 2 }])
    const unknown = await project.run(['runs', 'logs', 'latest', 'tolks'])
    expect(unknown).toMatchObject({ code: 3 })
    expect(unknown.stderr).toContain('has no step tolks')
  })

  it('can be followed while a run is running', async () => {
    project.write('slow', { run: 'echo first; until [ -e go ]; do sleep 0.05; done; echo last' })
    const run = project.start(['run', 'slow'])
    const logs = join(project.runs)
    for (let tries = 0; tries < 200; tries++) {
      const isThere =
        existsSync(logs) &&
        readdirSync(logs, { recursive: true }).some((name) => String(name).endsWith('.log'))
      if (isThere) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const following = project.start(['runs', 'logs', 'latest', '--follow'])
    setTimeout(() => writeFileSync(join(project.directory, 'go'), ''), 600)
    expect(await following.ended).toMatchObject({ code: 0, stdout: '[slow] first\n[slow] last\n' })
    expect(await run.ended).toMatchObject({ code: 0 })
  })

  it('stay small in the journal, which has the last lines of a failure', async () => {
    project.write('fails', {
      run: 'i=0; while [ $i -lt 5000 ]; do echo "line $i"; i=$((i+1)); done; exit 1',
    })
    const { stdout } = await project.run(['run', 'fails'])
    expect(stdout).toContain('  | line 4999')
    const id = readdirSync(project.runs).find((name) => name.endsWith('.jsonl')) ?? ''
    expect(readFileSync(join(project.runs, id)).length).toBeLessThan(12_000)
  })
})

it('shows attempts and allowed failures in reports, and counts neither as a failure', async () => {
  project.write('main', { metadata: ['chain: |', '  flaky retry=3', '  inner allow-failure'] })
  project.write('flaky', { run: '[ "$SKILLRAIL_ATTEMPT" -ge 2 ] || exit 1; echo fine' })
  project.write('inner', { metadata: ['chain: bad'] })
  project.write('bad', { run: 'exit 3' })
  const formats = ['junit', 'github', 'html'].flatMap((format) => [
    '--report',
    `${format}=${format}`,
  ])
  const { code, stdout } = await project.run(['run', 'main', ...formats])
  expect(code).toBe(0)
  expect(stdout).toMatch(/✓ flaky .* attempt 2$/m)
  expect(stdout).toMatch(/✗ inner .* allowed: 0 of 1 step succeeded$/m)
  const read = (name: string) => readFileSync(join(project.directory, name), 'utf8')
  expect(read('junit')).toContain('tests="2" failures="0" errors="0" skipped="1"')
  expect(read('junit')).toContain('<skipped message="failure: allowed: exit code 3"/>')
  expect(read('github')).toContain('attempt 2: fine')
  expect(read('html')).toContain('allowed: ')
})

describe('runs', () => {
  it('are selected by latest, and by the beginning of an ID', async () => {
    project.write('a', { run: 'echo done' })
    expect(await project.run(['runs', 'show', 'latest'])).toMatchObject({ code: 3 })
    const first = await json('run', 'a', '--', 'one', 'two words')
    const second = await json('run', 'a')
    expect((await json('runs', 'show', 'latest')).runId).toBe(second.runId)
    expect((await json('runs', 'show', first.runId.slice(0, -1))).runId).toBe(first.runId)
    const both = await project.run(['runs', 'show', first.runId.slice(0, 3)])
    expect(both).toMatchObject({ code: 2 })
    expect(both.stderr).toContain('is the beginning of several run IDs')
    const { stdout } = await project.run(['runs', 'list'])
    expect(stdout).toMatch(/^RUN +SKILL +ARGUMENTS +STATUS +STEPS +AGE$/m)
    expect(stdout).toMatch(/a +one 'two words' +success +1\/1 +\d/)
  })

  it('count steps and not attempts', async () => {
    project.write('main', { metadata: ['chain: a b', 'retry_count: 3', 'retry_until: success'] })
    project.write('a', { run: 'exit 1' })
    project.write('b', { run: 'echo b' })
    await project.run(['run', 'main'])
    expect((await json('runs', 'list')).runs).toMatchObject([{ steps: 2, finishedSteps: 2 }])
  })

  it('are not there before the first one, which `latest` says', async () => {
    const { code, stderr } = await project.run(['runs', 'show', 'latest'])
    expect([code, stderr]).toEqual([3, expect.stringContaining('this project has no runs')])
  })

  it('count failed steps, and steps that were not run, also in a nested chain', async () => {
    project.write('main', { metadata: ['chain: |', '  inner', '  after when=inner.success'] })
    project.write('inner', { metadata: ['chain: good bad'] })
    project.write('good', { run: 'echo good' })
    project.write('bad', { run: 'exit 1' })
    project.write('after', { run: 'echo after' })
    await project.run(['run', 'main'])
    expect((await json('runs', 'list')).runs).toMatchObject([
      { steps: 3, finishedSteps: 2, failedSteps: 1 },
    ])
    const { stdout } = await project.run(['runs', 'list'])
    expect(stdout).toContain('  2/3, 1 failed, 1 not run  ')
  })

  it('call a command when they wait, fail or end', async () => {
    project.write('good', { run: 'echo done' })
    project.write('bad', { run: 'exit 1' })
    project.write('gated', { metadata: ['chain: |', '  good gate'] })
    const config = join(project.directory, '../notify.json')
    writeFileSync(config, JSON.stringify({ run: { notify: 'cat >> notified; echo >> notified' } }))
    for (const name of ['good', 'bad', 'gated'])
      await project.run(['--config', config, 'run', name])
    const lines = readFileSync(join(project.directory, 'notified'), 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).status)).toEqual(['success', 'failure', 'waiting'])
    const { runId, approvals } = JSON.parse(lines[2] ?? '{}')
    const again = `--config ${config} --trust-workspace`
    const terminal = `skillrail runs approve ${runId} --step good ${again}`
    const view = `skillrail view ${runId} --open ${again}`
    expect(approvals).toEqual([
      {
        step: 'good',
        strength: 'prompted',
        approveWith: [
          { channel: 'terminal', line: terminal },
          { channel: 'view', line: view },
        ],
      },
    ])
    writeFileSync(config, JSON.stringify({ run: { notify: 'exit 7' } }))
    const told = await project.run(['--config', config, 'run', 'good'])
    expect(told.code).toBe(0)
    expect(told.stderr).toContain('[notify-failed]')
  })
})

describe('a chain on the disk', () => {
  it('is checked by validate with its plan', async () => {
    project.write('main', { metadata: ['chain: there missing'] })
    project.write('there', { run: 'true' })
    const { code, stdout } = await project.run(['validate', '.skillrail/skills/main'])
    expect(code).toBe(1)
    expect(stdout).toContain('SKILL.md:5: error: there is no skill missing')
  })

  it('finds a skill however its letters are composed', async () => {
    project.write('main', { metadata: [`chain: ${'é'.normalize('NFD')}tape`] })
    project.write(`${'é'.normalize('NFC')}tape`, { run: 'echo done' })
    expect(await project.run(['run', 'main'])).toMatchObject({ code: 0 })
  })

  it.each(['approval: a', 'depends_on: a', 'retries: "3"'])('does not run with %s', async (key) => {
    project.write('main', { metadata: ['chain: a', key] })
    project.write('a', { run: 'echo ran >> log' })
    const { code, stderr } = await project.run(['run', 'main'])
    expect(code).toBe(3)
    expect(stderr).toContain('[chain-control-key]')
    expect(project.log()).toEqual([])
  })

  it('gives each step the arguments that it names, or those of the run', async () => {
    project.write('main', {
      metadata: ['chain: |', '  a', '  a args="--to \\"x y\\""', '  inner args=z'],
    })
    project.write('inner', { metadata: ['chain: a'] })
    project.write('a', { run: 'echo "$#:$*" >> log' })
    await project.run(['run', 'main', '--', 'given'])
    expect(project.log()).toEqual(['1:given', '2:--to x y', '1:z'])
  })

  it('hints at -- for an option that is meant for the skill', async () => {
    project.write('a', { run: 'true' })
    const { code, stderr } = await project.run(['run', 'a', '--month', '1'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/For the skill, write it after --: skillrail .*run a -- --month 1/)
  })
})

describe('an agent that reports', () => {
  it('names the attempt, so that no report counts twice', async () => {
    project.write('main', { metadata: ['chain: |', '  think retry=3', '  more'] })
    project.write('think', {})
    project.write('more', {})
    const { runId, next } = await json('chain', 'start', 'main')
    expect(next[0].reportWith).toContain('--step think --attempt 1')
    const report = (attempt: number) =>
      project.run([
        'chain',
        'report',
        runId,
        '--step',
        'think',
        '--attempt',
        `${attempt}`,
        '--status',
        'failure',
      ])
    const first = await report(1)
    expect(first.stdout).toContain('--step think --attempt 2')
    const again = await report(1)
    expect(again).toMatchObject({ code: 1 })
    expect(again.stderr).toContain('attempt 2 of think waits for a report')
    expect((await report(2)).stdout).toContain('--attempt 3')
  })

  it('gets no invisible characters from the result of another step', async () => {
    project.write('main', { metadata: ['chain: one two'] })
    project.write('one', {})
    project.write('two', {})
    const { runId } = await json('chain', 'start', 'main')
    const said = ['--step', 'one', '--status', 'success', '--result', 'a\u202eb']
    const { stdout } = await project.run(['chain', 'report', runId, ...said])
    expect(stdout).toContain(String.raw`a\u202eb`)
    expect(stdout).not.toContain('\u202e')
  })
})

it('advises nobody to continue a changed plan without its gate', async () => {
  project.write('main', { metadata: ['chain: a b', 'gates: b'] })
  project.write('a', { run: 'echo a >> log' })
  project.write('b', { run: 'echo b >> log' })
  expect(await project.run(['run', 'main'])).toMatchObject({ code: 6 })
  project.write('main', { metadata: ['chain: a b'] })
  const { stderr } = await project.run(['runs', 'resume', 'latest'])
  expect(stderr).toContain('Put back the gate')
  const [, hinted = ''] = /skillrail (runs resume \S+ --force)/.exec(stderr) ?? []
  expect(await project.run(hinted.split(' '))).toMatchObject({ code: 4 })
  expect(project.log()).toEqual(['a'])
})
