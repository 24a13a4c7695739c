import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { acquireFileLock } from '../../src/core/file-lock.ts'
import { isObject } from '../../src/core/json.ts'
import { type JournalRecord, readJournal } from '../../src/core/journal-file.ts'
import { StateFileError } from '../../src/core/errors.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { openRunStore, type RunStore } from '../../src/chain/run-store.ts'
import { renderReport } from '../../src/chain/report.ts'
import { readResult } from '../../src/chain/run-chain.ts'
import { executionsOf } from '../../src/chain/step-result.ts'
import { renderTimeline } from '../../src/chain/timeline.ts'
import { commandsIn } from './_command.ts'
import { makeProject, placeOf, type TestProject } from './_project.ts'

let project: TestProject
let runId: string
let whole: Buffer
let records: readonly JournalRecord[]
/** A copy that is damaged. */
let store: RunStore
let path: string
let undamaged: string

beforeAll(async () => {
  project = makeProject({
    main: { metadata: ['chain: [a, inner, gated]', 'gates: gated'] },
    inner: { metadata: ['chain: [b]', 'retry_count: 1'] },
    a: { run: 'echo did-a' },
    b: {
      run: 'echo "{\\"success\\": true, \\"result\\": \\"did-b\\", \\"metrics\\": {\\"n\\": 1}}"',
    },
    gated: { run: 'echo did-gated' },
  })
  const { command, runIdOf } = commandsIn(() => project)
  await command('run main')
  runId = await runIdOf()
  await command(`runs approve ${runId}`, { answer: 'y' })
  const original = openRunStore(project.directory, placeOf(project))
  whole = readFileSync(original.pathOf(runId))
  records = readJournal(original.pathOf(runId)).records
  store = original
  path = store.pathOf(runId)
  undamaged = await shown()
})
beforeEach(() => writeFileSync(path, whole))
afterAll(() => project.remove())

async function shown(): Promise<string> {
  const journal = store.read(runId)
  const result = await readResult(journal, systemRuntime())
  const read = [...renderTimeline(result, { width: 100 }), renderReport('html', result)]
  return JSON.stringify([journal.status, result, executionsOf(result), read])
}

/** What reading says: the code of what was found, and where. */
function said(): string {
  try {
    return store
      .read(runId)
      .diagnostics.map(({ code }) => code)
      .join()
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error
    return `${error.code} ${/\(byte \d+\)/.exec(error.message)?.[0]}`
  }
}

/** Writes records with right sums, as a project could bring them along. */
function forge(forged: readonly JournalRecord[]): void {
  rmSync(path)
  const journal = store.open(runId)
  journal.append(...forged)
  journal.close()
}

it('finds every damage of one bit in a journal, and names its byte', () => {
  fc.assert(
    fc.property(fc.nat(whole.length * 8 - 1), (bit) => {
      const flipped = Buffer.from(whole)
      flipped.writeUInt8((whole[bit >> 3] ?? 0) ^ (1 << (bit & 7)), bit >> 3)
      writeFileSync(path, flipped)
      const line = whole.subarray(0, bit >> 3).lastIndexOf(10) + 1
      const isTorn = bit >> 3 === whole.length - 1
      expect(said()).toMatch(isTorn ? 'journal-torn-tail' : ` (byte ${line})`)
    }),
    { numRuns: 400 },
  )
})

it('accepts a journal only under the name of its run', async () => {
  forge(records)
  expect(await shown()).toBe(undamaged)
  forge(records.with(0, { ...records[0], runId: 'another' }))
  expect(() => store.read(runId)).toThrow('it is that of the run another')
  forge(records.slice(1))
  expect(() => store.read(runId)).toThrow('does not begin with the record of a run')
})

it('reads a journal without a whole record as a run that never began', () => {
  for (const length of [0, 1, whole.indexOf(10)]) {
    writeFileSync(path, whole.subarray(0, length))
    expect(() => store.read(runId)).toThrow('has no complete record')
  }
})

it('refuses a journal of the version before sums, and says what to do', () => {
  const old = records.map((record) => `${JSON.stringify(record)}\n`).join('')
  const versioned = old.replace('"version":3', '"version":1')
  writeFileSync(path, versioned)
  expect(() => store.read(runId)).toThrow(/version 1; this Skillrail reads version 3/)
  writeFileSync(path, old)
  expect(() => store.read(runId)).toThrow('record 1 (byte 0)')
})

it('reads the same journal or refuses it after any change of a value, without an internal error', async () => {
  for (const [index, record] of records.entries()) {
    for (const place of placesIn(record)) {
      for (const value of [undefined, null, 'x', -1, 1e300, true, [], {}, [null]]) {
        const forged = replaced(record, place, value)
        forge(records.with(index, forged))
        const error: unknown = await shown().catch((thrown: unknown) => thrown)
        const isExpected = typeof error === 'string' || error instanceof StateFileError
        expect(
          isExpected,
          `${JSON.stringify(place)} is ${JSON.stringify(value)}: ${String(error)}`,
        ).toBe(true)
      }
    }
  }
})

function placesIn(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [
    [key],
    ...placesIn(inner).map((place) => [key, ...place]),
  ])
}

function replaced(
  record: JournalRecord | undefined,
  place: readonly string[],
  value: unknown,
): JournalRecord {
  const copy: unknown = structuredClone(record)
  let at: unknown = copy
  for (const key of place.slice(0, -1)) at = isMap(at) ? at[key] : undefined
  const last = place.at(-1)
  if (isMap(at) && last !== undefined) at[last] = value
  return isObject(copy) ? copy : {}
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

it('reports an empty journal, unless a process is just starting the run', () => {
  writeFileSync(path, '')
  expect(store.list().diagnostics).toMatchObject([{ code: 'journal-empty' }])
  const lock = acquireFileLock(path)
  expect(store.list().diagnostics).toEqual([])
  if (lock.ok) lock.release()
})
