import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openJournal, readJournal, StateFileError } from '../../src/base/index.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'skillrail-journal-'))
  path = join(directory, 'runs', 'run.jsonl')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

function write(...records: object[]): void {
  const journal = openJournal(path)
  for (const record of records) journal.append({ ...record })
  journal.close()
}

it('reads back what was appended, in order, over several openings', () => {
  write({ n: 1 }, { n: 2, text: 'two\nlines' })
  write({ n: 3 })
  const reading = readJournal(path)
  expect(reading.records).toEqual([{ n: 1 }, { n: 2, text: 'two\nlines' }, { n: 3 }])
  expect(reading).toMatchObject({ tornTail: undefined, diagnostics: [] })
})

it('is readable by its owner only', () => {
  write({ n: 1 })
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('drops and reports a torn last line at every length, and writes on after it', () => {
  write({ n: 1 }, { n: 2 })
  const whole = readFileSync(path)
  const start = whole.indexOf(10) + 1
  for (let length = start + 1; length < whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length))
    const reading = readJournal(path)
    expect(reading.records).toEqual([{ n: 1 }])
    expect(reading.tornTail).toEqual({ offset: start, bytes: length - start })
    expect(reading.diagnostics).toMatchObject([{ code: 'journal-torn-tail', severity: 'warning' }])
    write({ n: 3 })
    expect(readJournal(path).records).toEqual([{ n: 1 }, { n: 3 }])
  }
})

describe.each(['not json', '[1]', '"text"', 'null', '{"n":', ''])('a damaged line %j', (line) => {
  it('is an error with its line and byte offset, and keeps what stands before it', () => {
    write({ n: 1 })
    appendFileSync(path, `${line}\n{"n":2}\n`)
    const reading = readJournal(path)
    expect(reading.records).toEqual([{ n: 1 }])
    expect(reading.diagnostics).toMatchObject([
      { code: 'journal-corrupt', severity: 'error', line: 2 },
    ])
    expect(reading.diagnostics[0]?.message).toContain('byte 8')
  })
})

it('writes several records in one go', () => {
  const journal = openJournal(path)
  journal.append({ n: 1 }, { n: 2 })
  journal.append({ n: 3 })
  journal.close()
  expect(readJournal(path).records).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
})

it('says in a sentence that the disk refuses, and keeps the records that were whole', () => {
  write({ n: 1 })
  expect(() => openJournal(join(path, 'below-a-file'))).toThrow(StateFileError)
  expect(readJournal(path).records).toEqual([{ n: 1 }])
})

it.runIf(existsSync('/dev/null'))('refuses a device', () => {
  expect(() => openJournal('/dev/null')).toThrow('no regular file')
})

it('keeps any JSON object unchanged, and any cut leaves a prefix of the records', () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 5 }),
      fc.nat(),
      (records, cut) => {
        rmSync(path, { force: true })
        write(...records)
        const expected: unknown = JSON.parse(JSON.stringify(records))
        expect(readJournal(path).records).toEqual(expected)
        const bytes = readFileSync(path)
        writeFileSync(path, bytes.subarray(0, bytes.length === 0 ? 0 : cut % bytes.length))
        const kept = readJournal(path)
        expect(kept.records).toEqual(
          Array.isArray(expected) && expected.slice(0, kept.records.length),
        )
        expect(kept.diagnostics.every((diagnostic) => diagnostic.severity === 'warning')).toBe(true)
      },
    ),
    { numRuns: 60 },
  )
})
