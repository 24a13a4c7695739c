import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { acquireFileLock } from '../../src/core/file-lock.ts'
import { openJournal } from '../../src/core/journal-file.ts'
import { openSealer } from '../../src/core/project-state.ts'
import { projectStateDirectory, userDirectories } from '../../src/core/runtime.ts'
import { type Fixture, makeFixture } from './_fixture.ts'

const runId = '0abcdefgh12345'
const settings = { state: { directory: '' } }

/** A step that runs in this process, with the journal and the variables that a run gives it. */
function withRunningStep() {
  const fixture = makeFixture()
  fixture.skill('saw', [['^/saw program', 'program.md']])
  fixture.write('.agents/skills/saw/program.md', 'PROGRAM\n')
  const { runtime, project } = fixture
  const place = { runtime, settings }
  const runs = join(projectStateDirectory(project, place, { sealed: true }), 'runs')
  const journal = join(runs, `${runId}.jsonl`)
  mkdirSync(runs, { recursive: true, mode: 0o700 })
  const seal = { start: `${runId}\0${project}\0`, code: openSealer(place) }
  function append(...records: readonly Readonly<Record<string, unknown>>[]): void {
    const writer = openJournal(journal, seal)
    writer.append(...records)
    writer.close()
  }
  append({ type: 'run', runId }, { type: 'start', key: '1:review' })
  const lock = acquireFileLock(journal)
  if (!lock.ok) throw new Error('the journal has a lock')
  onTestFinished(() => lock.release())
  const env: Record<string, string> = {
    SKILLRAIL_RUN_ID: runId,
    SKILLRAIL_STEP: 'review',
    SKILLRAIL_IDEMPOTENCY_KEY: `${runId}/1:review`,
    SKILLRAIL_SCRATCH: join(runs, runId, 'scratch'),
  }
  return { ...fixture, runs, journal, append, lock, env }
}

async function isGiven(
  { ask }: Pick<Fixture, 'ask'>,
  env: Readonly<Record<string, string>>,
  cwd?: string,
): Promise<boolean> {
  const payload = cwd === undefined ? {} : { cwd }
  const { stdout } = await ask('claude', '/saw program', { env, payload })
  return stdout.includes('PROGRAM')
}

it('adds nothing for the agent of a step that runs', async () => {
  const step = withRunningStep()
  expect(await step.ask('claude', '/saw program', { env: step.env })).toEqual({
    stdout: '',
    stderr: '',
  })
})

it.each([
  ['is empty', { SKILLRAIL_RUN_ID: '' }],
  ['is unknown', { SKILLRAIL_RUN_ID: 'r', SKILLRAIL_IDEMPOTENCY_KEY: 'r/1:review' }],
  ['is not an ID', { SKILLRAIL_RUN_ID: '../x', SKILLRAIL_IDEMPOTENCY_KEY: '../x/1:review' }],
  ['is of another execution', { SKILLRAIL_IDEMPOTENCY_KEY: 'other/1:review' }],
  ['has no execution', { SKILLRAIL_IDEMPOTENCY_KEY: '' }],
  ['has no scratch directory', { SKILLRAIL_SCRATCH: '' }],
  ['has a step that has not begun', { SKILLRAIL_IDEMPOTENCY_KEY: `${runId}/2:publish` }],
])('gives the reference if the run ID %s', async (_, change) => {
  const step = withRunningStep()
  expect(await isGiven(step, { ...step.env, ...change })).toBe(true)
})

it('gives the reference after the end of the step', async () => {
  const step = withRunningStep()
  step.append({ type: 'done', key: '1:review' })
  expect(await isGiven(step, step.env)).toBe(true)
})

it('gives the reference if no process continues the run', async () => {
  const step = withRunningStep()
  step.lock.release()
  expect(await isGiven(step, step.env)).toBe(true)
})

it('gives the reference if the run belongs to another project', async () => {
  const step = withRunningStep()
  const other = join(step.home, 'other')
  mkdirSync(join(other, '.git'), { recursive: true })
  expect(await isGiven(step, step.env, other)).toBe(true)
  // Nor does a copy of the journal there make it a run of that project.
  const place = { runtime: { ...step.runtime, cwd: other }, settings }
  const runs = join(projectStateDirectory(other, place, { sealed: true }), 'runs')
  cpSync(step.runs, runs, { recursive: true })
  const env = { ...step.env, SKILLRAIL_SCRATCH: join(runs, runId, 'scratch') }
  expect(await isGiven(step, env, other)).toBe(true)
})

it('gives the reference if the journal is forged', async () => {
  const step = withRunningStep()
  const records = [
    { type: 'run', runId },
    { type: 'start', key: '1:review' },
  ]
  writeFileSync(step.journal, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  expect(await isGiven(step, step.env)).toBe(true)
})

it('gives the reference, and writes no key, if the journal is in a directory of the project', async () => {
  const step = withRunningStep()
  const state = join(step.project, 'state')
  const runs = join(state, 'projects', dirname(step.runs).split('/').at(-1) ?? '', 'runs')
  cpSync(step.runs, runs, { recursive: true })
  rmSync(join(userDirectories(step.runtime).state, 'key'))
  const env = { ...step.env, SKILLRAIL_SCRATCH: join(runs, runId, 'scratch') }
  expect(await isGiven(step, env)).toBe(true)
  expect(existsSync(join(state, 'key'))).toBe(false)
  expect(existsSync(join(userDirectories(step.runtime).state, 'key'))).toBe(false)
})

it('adds nothing for a step on a server until its run has ended', async () => {
  const step = withRunningStep()
  step.lock.release()
  rmSync(step.journal)
  step.append({ type: 'run', runId, server: { engine: 'restate' } })
  expect(await isGiven(step, step.env)).toBe(false)
  step.append({ type: 'status', status: 'success' })
  expect(await isGiven(step, step.env)).toBe(true)
})
