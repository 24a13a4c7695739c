import path from 'node:path'
import { openJournal, readJournal } from '../../../src/core/journal-file.ts'
import { scratchFolder, writeIn } from '../_scratch.ts'
import { demand, same } from '../target.ts'
import { seal } from '../../journal-seal.ts'

export const name = 'journal'
export const seeds: readonly string[] = [
  summed('{"kind":"run-started","id":"a",', '{"kind":"step","n":1,'),
  `${summed('{"a":1,')}{"b":`,
  `${summed('{"a":1,')}\r\n\n${summed('{"b":2,')}`,
  '{"kind":"run-started","id":"a"}\n{"kind":"step","n":1}\n',
  '[1]\n{"a":1}\n',
  `${summed('{"__proto__":{"a":1},', '{')}null\n`,
]
export const words: readonly string[] = [
  '{"kind":"',
  '"}\n',
  '\n',
  ',"sum":"',
  '\r\n',
  '\0',
  '{}\n',
]

const file = path.join(scratchFolder(), 'journal.jsonl')

/** The records before the first bad line, as reading line by line returns them; a writer continues there. */
export function fuzz(data: Uint8Array): void {
  // Bytes alone never hit a sum: every other input has its lines given theirs.
  const bytes = data.length % 2 === 0 ? Buffer.from(data) : withSums(Buffer.from(data))
  writeIn(file, bytes)
  const { records, tornTail, diagnostics } = readJournal(file, seal)
  const lines = bytes.toString('latin1').split('\n')
  const torn = lines.pop() ?? ''
  const values = recordsIn(lines.map((line) => Buffer.from(line, 'latin1')))
  const bad = values.indexOf(undefined)
  const good = bad < 0 ? values : values.slice(0, bad)
  demand(same(records, good), 'other records', records, good)
  const expected =
    torn === '' ? undefined : { offset: bytes.length - torn.length, bytes: torn.length }
  demand(same(tornTail, expected), 'another torn tail', tornTail, expected)
  const corrupt = diagnostics.filter(({ severity }) => severity === 'error')
  demand(corrupt.length === (bad < 0 ? 0 : 1), 'a bad line', diagnostics)
  if (bad >= 0) demand(corrupt[0]?.line === bad + 1, 'the line', corrupt)
  // Every append waits for the disk.
  if (data.length % 32 > 1 || bad >= 0) return
  const journal = openJournal(file, seal)
  journal.append({ after: true })
  journal.close()
  const again = readJournal(file, seal)
  demand(again.tornTail === undefined, 'a tail that stays torn')
  const wanted = [...records, { after: true }]
  demand(same(again.records, wanted), 'records that an append changed', again.records, wanted)
}

/** Lines of these beginnings, each with the sum that binds it to the one before. */
function summed(...heads: readonly string[]): string {
  return withSums(
    Buffer.from(heads.map((head) => `${head}"sum":"0123456789abcdef0123456789abcdef"}\n`).join('')),
  ).toString()
}

function withSums(bytes: Buffer): Buffer {
  let before = ''
  const lines = bytes.toString('latin1').split('\n')
  const written = lines.map((line) => {
    const at = line.search(/"sum":"[0-9a-f]{32}"\}$/)
    if (at < 0) return line
    before = sumOf(before, line.slice(0, at))
    return `${line.slice(0, at)}"sum":"${before}"}`
  })
  return Buffer.from(written.join('\n'), 'latin1')
}

function recordsIn(lines: readonly Buffer[]): (object | undefined)[] {
  let before = ''
  return lines.map((line) => {
    const [, head = '', sum = ''] =
      /^(.*)"sum":"([0-9a-f]{32})"\}$/s.exec(line.toString('latin1')) ?? []
    if (sum === '' || sum !== sumOf(before, head)) return undefined
    before = sum
    return recordIn(line.toString('utf8'))
  })
}

function sumOf(before: string, head: string): string {
  return seal.code(before, Buffer.from(head, 'latin1')).slice(0, 32)
}

function recordIn(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'sum'))
  } catch {
    return undefined
  }
}
