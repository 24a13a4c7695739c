import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { systemRuntime } from '../../../src/core/runtime.ts'
import { type ChainRecord, runJournalOf } from '../../../src/chain/run-journal.ts'
import { openRunStore } from '../../../src/chain/run-store.ts'
import { readResult } from '../../../src/chain/run-chain.ts'
import type { RunResult } from '../../../src/chain/engine.ts'
import { emptyPass, fitAnswer, type RunAnswer } from '../../../src/chain/restate/protocol.ts'
import { recordsOf } from '../../../src/chain/restate/server-runs.ts'
import { runCommand } from '../_command.ts'
import { makeProject, placeOf } from '../_project.ts'

const directory = mkdtempSync(join(tmpdir(), 'skillrail-records-'))
const project = makeProject({
  good: { run: 'echo good' },
  bad: { run: 'echo bad; exit 1' },
  slow: { run: 'sleep 30' },
  once: { run: 'echo x >> times; [ $(wc -l < times) -ge 2 ]' },
  inner: { metadata: ['chain: "once good"', 'retry_until: success', 'retry_count: 3'] },
  stops: { metadata: ['chain: "good bad good"', 'continue_on_error: false'] },
  races: { metadata: ['chain: "slow bad good"', 'async: true', 'race_mode: true'] },
  all: { metadata: ['chain: "inner stops races good"'] },
  large: { metadata: ['chain: "build once good"', 'gates: once'] },
  build: { metadata: ['chain: "good once"', 'gates: once'] },
  ships: { metadata: ['chain: "once good"', 'gates: once'] },
})
afterAll(() => {
  project.remove()
  rmSync(directory, { recursive: true, force: true })
})

it('the records of an answer read back as the result of the run', async () => {
  const { json } = await runCommand('run', ['all', '--json'], project)
  const result: RunResult = JSON.parse(JSON.stringify(json))
  const kept = openRunStore(project.directory, placeOf(project)).read(result.runId)
  const store = openRunStore(directory, placeOf(project))
  const writer = store.open(result.runId)
  const ends = [...kept.done].map(([key, { outcome }]) => [key, outcome] as const)
  const pass = emptyPass(Object.fromEntries(ends.filter(([, { kind }]) => kind === 'finished')))
  pass.left = Object.fromEntries(ends.filter(([, { kind }]) => kind === 'cancelled'))
  const answer = { planDigest: '', status: result.status, pass }
  const before = runJournalOf('', result.runId, [kept.run])
  const records = [kept.run, ...recordsOf(before, answer, new Date(0))]
  writer.append(...records.map((record) => ({ ...record })))
  writer.close()
  const journal = store.read(result.runId)
  expect(journal.status).toBe(result.status)
  expect(JSON.parse(JSON.stringify(await readResult(journal, systemRuntime())))).toEqual(result)
})

it('a gated step of a run with --yes-gates was interrupted, and does not wait once the run is resumed', async () => {
  const { json } = await runCommand('run', ['ships', '--yes-gates', '--json'], project)
  const { run, done } = openRunStore(project.directory, placeOf(project)).read(json.runId)
  const server = { engine: 'restate', url: 'http://h', adminUrl: 'http://h' } as const
  const [gated = ''] = done.keys()
  const pass = { ...emptyPass(), left: { [gated]: { startedAt: 1 } } }
  const before = runJournalOf('', run.runId, [{ ...run, server }])
  const answer = { planDigest: '', status: 'interrupted', pass } as const
  const records = [before.run, ...recordsOf(before, answer)]
  const statusOf = async (...more: ChainRecord[]): Promise<string> => {
    const journal = runJournalOf('', run.runId, [...records, ...more])
    return (await readResult(journal, systemRuntime())).status
  }
  expect(await statusOf()).toBe('interrupted')
  expect(await statusOf({ type: 'resumed', at: new Date(2).toISOString() })).toBe('interrupted')
})

it('fails a run whose results are too large, and says why', async () => {
  const { json } = await runCommand('run', ['large', '--json'], project)
  const { run, done, gates } = openRunStore(project.directory, placeOf(project)).read(json.runId)
  const ends = [...done].flatMap(([key, { outcome }]) =>
    outcome.kind === 'finished' ? [[key, outcome] as const] : [],
  )
  const pass = emptyPass(Object.fromEntries(ends))
  const waiting = { planDigest: '', status: 'waiting', pass, gates: [...gates.values()] } as const
  const server = { engine: 'restate', url: 'http://h', adminUrl: 'http://h' } as const
  const before = runJournalOf('', run.runId, [{ ...run, server }])
  const records = [before.run, ...recordsOf(before, fitAnswer<RunAnswer>(waiting, 100))]
  const { status, attempts } = await readResult(
    runJournalOf('', run.runId, records),
    systemRuntime(),
  )
  expect(status).toBe('failure')
  expect(attempts[0]?.steps[0]?.errors).toMatchObject([{ code: 'result-too-large' }])
  expect(records.filter(({ type }) => type === 'gate')).toEqual([])
})
