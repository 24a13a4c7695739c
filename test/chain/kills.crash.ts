import {
  readFileSync,
  writeFileSync,
  appendFileSync,
  readdirSync,
  mkdirSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readJournal } from '../../src/core/journal-file.ts'
import { openRunStore } from '../../src/chain/run-store.ts'
import { makeProject, placeOf, type TestProject } from './_project.ts'
import { until } from '../patience.ts'
import { randomFrom } from '../skill/_fuzz-text.ts'
import { testSeed } from '../test-seed.ts'

/** Logs its execution, takes a moment, and answers with how much state it saw. */
const work = (seconds: string, status = 'success'): string =>
  `echo "$SKILLRAIL_IDEMPOTENCY_KEY" >> log
sleep ${seconds}
printf 'output:\\n  status: ${status}\\n  result: saw %s\\n  metrics: {n: 1}\\n' "$(grep -o '"step"' "$SKILLRAIL_STATE" | wc -l)"`

const skills = {
  main: {
    metadata: [
      'chain: |',
      '  s1',
      '  group',
      '  inner',
      '  p2 id=q1 & p3 id=q2 retry=2 backoff=0.02',
      '  s4 when=q2.failure',
      '  s1 always',
    ],
  },
  group: { metadata: ['chain: [p1, p2, p3]', 'async: true'] },
  inner: { metadata: ['chain: [n1, n2]', 'retry_count: 2'] },
  s1: { run: work('0.02') },
  p1: { run: work('0.06') },
  p2: { run: work('0.02') },
  p3: { run: work('0.04', 'failure') },
  n1: { run: work('0.02') },
  n2: { run: work('0.02') },
  s4: { run: work('0.02', 'critical') },
}

/** `npm run test:crash` kills more often, and at every third boundary; 200 is the long form. */
const kills = Number(process.env['SKILLRAIL_TEST_KILLS'] ?? 2)
const stride = kills >= 100 ? 1 : kills >= 10 ? 3 : 9

describe('a run that is killed', { timeout: 60_000 + kills * 20_000 }, () => {
  let project: TestProject
  beforeEach(() => {
    project = makeProject(skills)
  })
  afterEach(() => project.remove())

  it('continues from any record boundary, and ends as an uninterrupted run does', async () => {
    const undisturbed = await finish(project)
    const records = journalLines(project).length
    expect(undisturbed).toContain('critical')
    for (let boundary = 1; boundary < records; boundary += stride) {
      clear(project)
      const killed = await project.cli(['run', 'main', '--json'], `kill:${boundary}`)
      expect(killed.signal).toBe('SIGKILL')
      const recorded = executions(project, finishedKeys(project))
      expect(journalLines(project)).toHaveLength(boundary)
      expect(await finish(project, theRun(project))).toBe(undisturbed)
      expectNotRepeated(project, recorded)
    }
  })

  it('loses and repeats no recorded result, however often it is killed', async () => {
    const started = performance.now()
    const undisturbed = await finish(project)
    const whole = performance.now() - started
    const random = randomFrom(testSeed)
    for (let count = 0; count < kills;) {
      clear(project)
      let run: string | undefined
      const recorded = new Map<string, number>()
      for (let done = false; !done;) {
        const child = project.start(run === undefined ? ['run', 'main'] : ['runs', 'resume', run])
        const timer = setTimeout(() => child.kill('SIGKILL'), random.below(whole))
        const { signal } = await child.ended
        clearTimeout(timer)
        run = theRun(project)
        done = signal === null && run !== undefined
        if (signal !== null) count++
        const finished = run === undefined ? [] : finishedKeys(project)
        for (const [key, times] of executions(project, finished)) {
          if (!recorded.has(key)) recorded.set(key, times)
        }
      }
      expect(normalised((await project.cli(['runs', 'show', run ?? '', '--json'])).stdout)).toBe(
        undisturbed,
      )
      expectNotRepeated(project, recorded)
    }
  })

  it('drops a torn last line, and reports that', async () => {
    const undisturbed = await finish(project)
    clear(project)
    await project.cli(['run', 'main'], 'kill:9')
    appendFileSync(journalPath(project), '{"type":"done","key":"1:gro')
    const shown = await project.cli(['runs', 'show', theRun(project)])
    expect(shown.stderr).toMatch(/interrupted write/)
    expect(await finish(project, theRun(project))).toBe(undisturbed)
  })

  it('stops on a full disk with an error, and continues when there is space', async () => {
    const undisturbed = await finish(project)
    for (const record of [4, 7, 12]) {
      clear(project)
      const full = await project.cli(['run', 'main'], `full:${record}`)
      expect([full.code, full.stderr]).toEqual([
        1,
        expect.stringMatching(/could not be written: the disk is full/),
      ])
      expect(full.stderr).not.toMatch(/\n\s+at /)
      expect(journalLines(project)).toHaveLength(record - 1)
      expect(await finish(project, theRun(project))).toBe(undisturbed)
    }
  })
})

describe('a journal', () => {
  let project: TestProject
  beforeEach(() => {
    project = makeProject({
      main: { metadata: ['chain: [a, slow]'] },
      a: { run: 'echo a >> log' },
      slow: { run: 'echo slow >> log; until [ -e finish ]; do sleep 0.05; done' },
    })
  })
  afterEach(() => project.remove())

  it('belongs to one process, so that only one of two resumptions succeeds', async () => {
    await project.cli(['run', 'main'], 'kill:3')
    const run = theRun(project)
    const both = [1, 2].map(() => project.cli(['runs', 'resume', run]))
    const loser = await Promise.race(both)
    expect([loser.code, loser.stderr]).toEqual([
      1,
      expect.stringMatching(/is being executed by process \d+/),
    ])
    writeFileSync(join(project.directory, 'finish'), '')
    const ends = await Promise.all(both)
    expect(new Set(ends.map(({ code }) => code))).toEqual(new Set([0, 1]))
    expect(project.log()).toEqual(['a', 'slow'])
  })

  it('is reported with the offset of a damage, and stays unchanged', async () => {
    await project.cli(['run', 'main'], 'kill:3')
    const path = journalPath(project)
    const [first = '', ...rest] = readFileSync(path, 'utf8').split('\n')
    const damaged = [first, 'garbage', ...rest].join('\n')
    writeFileSync(path, damaged)
    const resumed = await project.cli(['runs', 'resume', theRun(project)])
    expect(resumed.code).toBe(1)
    expect(resumed.stderr).toContain(`byte ${Buffer.byteLength(first) + 1}`)
    expect(readFileSync(path, 'utf8')).toBe(damaged)
  })

  it('is refused if its version is newer', async () => {
    await project.cli(['run', 'main'], 'kill:3')
    const path = journalPath(project)
    const runId = theRun(project)
    const [first] = readJournal(path).records
    rmSync(path)
    const newer = openRunStore(project.directory, placeOf(project)).open(runId)
    newer.append({ ...first, version: 4, plan: 'as the newer one has it' })
    newer.close()
    const resumed = await project.cli(['runs', 'resume', runId])
    expect([resumed.code, resumed.stderr]).toEqual([1, expect.stringMatching(/has version 4/)])
  })

  it('stops the run before its first step if it cannot be created', async () => {
    mkdirSync(join(project.directory, '.skillrail'), { recursive: true })
    mkdirSync(dirname(project.runs), { recursive: true })
    writeFileSync(project.runs, 'in the way')
    const { code, stderr } = await project.cli(['run', 'main'])
    expect(code).toBe(1)
    expect(stderr).not.toMatch(/\n\s+at /)
    expect(project.log()).toEqual([])
  })

  it('is readable only by its owner, and contains no secret', async () => {
    project.write('a', { run: 'echo "token=ghp_0123456789abcdefghijABCDEFGHIJ"' })
    const { stdout } = await project.cli([
      'run',
      'a',
      '--json',
      '--',
      '--api-key',
      'hunter2hunter2',
    ])
    const text = readFileSync(journalPath(project), 'utf8')
    expect(text + stdout).not.toMatch(/ghp_0|hunter2/)
  })

  it('survives Ctrl-C, so that a user can resume the run', async () => {
    project.write('slow', { run: `trap '' TERM INT; echo slow >> log; sleep 5; sleep 5` })
    const child = project.start(['run', 'main'])
    await until(() => project.log().includes('slow'))
    child.kill('SIGINT')
    const { code, stdout } = await child.ended
    expect(code).toBe(130)
    expect(stdout).toContain(`skillrail runs resume ${theRun(project)}`)
    project.write('slow', { run: 'echo quick >> log' })
    const refused = await project.cli(['runs', 'resume', theRun(project)])
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/changed since it was planned/),
    ])
    expect((await project.cli(['runs', 'resume', theRun(project), '--force'])).code).toBe(0)
    expect(project.log()).toEqual(['a', 'slow', 'quick'])
  })
})

async function finish(project: TestProject, run?: string): Promise<string> {
  const args = run === undefined ? ['run', 'main', '--json'] : ['runs', 'resume', run, '--json']
  return normalised((await project.cli(args)).stdout)
}

/** Returns the result without the parts that differ between two runs: IDs and times. */
function normalised(stdout: string): string {
  return stdout
    .replace(/,\n  "(?:continueWith|startedAt)":[^]*$/, '\n}\n')
    .replace(/"runId": "[^"]*"/, '"runId": ""')
    .replace(/"startedAt": "[^"]*"/g, '"startedAt": ""')
    .replace(/"durationMs": \d+/g, '"durationMs": 0')
}

function runsDirectory(project: TestProject): string {
  return project.runs
}

function theRun(project: TestProject): string
function theRun(project: TestProject): string | undefined {
  try {
    return readdirSync(runsDirectory(project))
      .find((name) => name.endsWith('.jsonl'))
      ?.slice(0, -6)
  } catch {
    return undefined
  }
}

function journalPath(project: TestProject): string {
  return join(runsDirectory(project), `${theRun(project)}.jsonl`)
}

function journalLines(project: TestProject): string[] {
  return readFileSync(journalPath(project), 'utf8').trimEnd().split('\n')
}

function finishedKeys(project: TestProject): string[] {
  return journalLines(project)
    .filter((line) => line.startsWith('{"type":"done"') && line.endsWith('}'))
    .map((line) => /"key":"([^"]*)"/.exec(line)?.[1] ?? '')
}

/** Returns how often each of these steps was executed so far. */
function executions(project: TestProject, keys: readonly string[]): Map<string, number> {
  const executed = project.log().map((line) => line.slice(line.indexOf('/') + 1))
  return new Map(keys.map((key) => [key, executed.filter((candidate) => candidate === key).length]))
}

/** Expects that no step with a result was executed again. */
function expectNotRepeated(project: TestProject, recorded: ReadonlyMap<string, number>): void {
  expect(executions(project, [...recorded.keys()])).toEqual(recorded)
}

function clear(project: TestProject): void {
  rmSync(runsDirectory(project), { recursive: true, force: true })
  rmSync(join(project.directory, 'log'), { force: true })
}
