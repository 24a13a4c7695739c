import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openJournal, readJournal } from '../../src/core/journal-file.ts'
import { StateFileError } from '../../src/core/errors.ts'
import { seal } from '../journal-seal.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'skillrail-journal-'))
  path = join(directory, 'runs', 'run.jsonl')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

function write(...records: object[]): void {
  const journal = openJournal(path, seal)
  for (const record of records) journal.append({ ...record })
  journal.close()
}

it('reads back appended records, in order, over several openings', () => {
  write({ n: 1 }, { n: 2, text: 'two\nlines' })
  write({ n: 3 })
  const reading = readJournal(path, seal)
  expect(reading.records).toEqual([{ n: 1 }, { n: 2, text: 'two\nlines' }, { n: 3 }])
  expect(reading).toMatchObject({ tornTail: undefined, diagnostics: [] })
})

it.runIf(existsSync('/dev/zero'))('refuses to read an endless file', () => {
  mkdirSync(dirname(path))
  symlinkSync('/dev/zero', path)
  expect(() => readJournal(path, seal)).toThrow('not a regular file')
  rmSync(path)
  execFileSync('mkfifo', [path])
  expect(() => readJournal(path, seal)).toThrow('not a regular file')
  rmSync(path)
  mkdirSync(path)
  expect(() => readJournal(path, seal)).toThrow('not a regular file')
})

it('informs its writer if another program changed the file', () => {
  const journal = openJournal(path, seal)
  journal.append({ n: 1 })
  expect(journal.fileState()).toBe('whole')
  appendFileSync(path, 'x')
  expect(journal.fileState()).toBe('changed')
  const whole = readFileSync(path).subarray(0, -1)
  rmSync(path)
  expect(journal.fileState()).toBe('gone')
  writeFileSync(path, whole)
  expect(journal.fileState()).toBe('changed')
  journal.close()
})

it('is readable by its owner only', () => {
  write({ n: 1 })
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('drops and reports a torn last line of every length, and then appends', () => {
  write({ n: 1 }, { n: 2 })
  const whole = readFileSync(path)
  const start = whole.indexOf(10) + 1
  for (let length = start + 1; length < whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length))
    const reading = readJournal(path, seal)
    expect(reading.records).toEqual([{ n: 1 }])
    expect(reading.tornTail).toEqual({ offset: start, bytes: length - start })
    expect(reading.diagnostics).toMatchObject([{ code: 'journal-torn-tail', severity: 'warning' }])
    write({ n: 3 })
    expect(readJournal(path, seal).records).toEqual([{ n: 1 }, { n: 3 }])
  }
})

describe.each(['not json', '[1]', '"text"', 'null', '{"n":', ''])('a damaged line %j', (line) => {
  it('is an error with its line and byte offset, and the earlier records stay', () => {
    write({ n: 1 })
    const whole = statSync(path).size
    appendFileSync(path, `${line}\n{"n":2}\n`)
    const reading = readJournal(path, seal)
    expect(reading.records).toEqual([{ n: 1 }])
    expect(reading.diagnostics).toMatchObject([
      { code: 'journal-corrupt', severity: 'error', line: 2 },
    ])
    expect(reading.diagnostics[0]?.message).toContain(`record 2 (byte ${whole})`)
  })
})

describe('the sums of lines', () => {
  const records = [{ n: 1 }, {}, { n: 3, text: 'ä\ufffd\n' }, { n: 4 }, { n: 5 }]
  const lines = (): string[] => readFileSync(path, 'utf8').trimEnd().split('\n')

  it.each<[string, number, (all: string[]) => string[]]>([
    ['an edited line', 3, (all) => all.with(2, (all[2] ?? '').replace('"n":3', '"n":8'))],
    ['a removed line', 2, (all) => all.toSpliced(1, 1)],
    ['a removed first line', 1, (all) => all.slice(1)],
    ['a doubled line', 3, (all) => all.toSpliced(1, 0, all[1] ?? '')],
    ['swapped lines', 3, (all) => all.with(2, all[3] ?? '').with(3, all[2] ?? '')],
    ['a last line that is whole, but edited', 5, (all) => all.with(4, '{"n":6}')],
  ])('reveal %s, with its record and byte', (_what, record, change) => {
    write(...records)
    const changed = change(lines())
    writeFileSync(path, changed.map((line) => `${line}\n`).join(''))
    const offset = Buffer.byteLength(
      changed
        .slice(0, record - 1)
        .map((line) => `${line}\n`)
        .join(''),
    )
    const reading = readJournal(path, seal)
    expect(reading).toMatchObject({
      records: records.slice(0, record - 1),
      tornTail: undefined,
      diagnostics: [
        { code: expect.stringMatching(/corrupt|foreign/), severity: 'error', line: record },
      ],
    })
    expect(reading.diagnostics[0]?.message).toContain(`record ${record} (byte ${offset})`)
  })

  it('reveal every flipped bit, except in the last newline, which is a torn last line', () => {
    write(...records)
    const whole = readFileSync(path)
    const first = whole.indexOf(10)
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const flipped = Buffer.from(whole)
      flipped.writeUInt8((whole[bit >> 3] ?? 0) ^ (1 << (bit & 7)), bit >> 3)
      writeFileSync(path, flipped)
      const { records: kept, diagnostics } = readJournal(path, seal)
      expect(records.slice(0, kept.length)).toEqual(kept)
      const isLastNewline = bit >> 3 === whole.length - 1
      const code = isLastNewline ? /torn-tail/ : bit >> 3 < first ? /foreign|corrupt/ : /corrupt/
      expect(diagnostics.map((found) => found.code).join()).toMatch(code)
    }
  })

  it('do not continue after a line without a sum', () => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, '{"n":1}\n')
    expect(() => openJournal(path, seal)).toThrow('does not end with a sum')
    expect(readJournal(path, seal).unsummed).toEqual({ n: 1 })
    expect(readFileSync(path, 'utf8')).toBe('{"n":1}\n')
  })
})

it('writes several records in one go', () => {
  const journal = openJournal(path, seal)
  journal.append({ n: 1 }, { n: 2 })
  journal.append({ n: 3 })
  journal.close()
  expect(readJournal(path, seal).records).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
})

it('reports a full disk in a sentence, and keeps the whole records', () => {
  write({ n: 1 })
  expect(() => openJournal(join(path, 'below-a-file'), seal)).toThrow(StateFileError)
  expect(readJournal(path, seal).records).toEqual([{ n: 1 }])
})

it.runIf(existsSync('/dev/null'))('refuses a device', () => {
  expect(() => openJournal('/dev/null', seal)).toThrow('not a regular file')
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
        expect(readJournal(path, seal).records).toEqual(expected)
        const bytes = readFileSync(path)
        writeFileSync(path, bytes.subarray(0, bytes.length === 0 ? 0 : cut % bytes.length))
        const kept = readJournal(path, seal)
        expect(kept.records).toEqual(
          Array.isArray(expected) && expected.slice(0, kept.records.length),
        )
        expect(kept.diagnostics.every((diagnostic) => diagnostic.severity === 'warning')).toBe(true)
      },
    ),
    { numRuns: 60 },
  )
})

it('is foreign with another key, another run or no sum, and readable without a key', () => {
  write({ n: 1 }, { n: 2 })
  const others = [
    { ...seal, start: 'another run' },
    { ...seal, code: () => 'f'.repeat(64) },
  ]
  for (const other of others) {
    const { records, diagnostics } = readJournal(path, other)
    expect([records, diagnostics.map(({ code }) => code)]).toEqual([[], ['journal-foreign']])
  }
  expect(readJournal(path).records).toEqual([{ n: 1 }, { n: 2 }])
})
