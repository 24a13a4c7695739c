import path from 'node:path'
import { openJournal, readJournal } from '../../../src/base/index.ts'
import { scratchFolder, writeIn } from '../_scratch.ts'
import { demand, same } from '../target.ts'

export const name = 'journal'
export const seeds: readonly string[] = [
  '{"kind":"run-started","id":"a"}\n{"kind":"step","n":1}\n',
  '{"a":1}\n{"b":',
  '{"a":1}\r\n\n{"b":2}\n',
  '[1]\n{"a":1}\n',
  '{"__proto__":{"a":1}}\nnull\n',
]
export const words: readonly string[] = ['{"kind":"', '"}\n', '\n', '\n{', '\r\n', '\0', '{}\n']

const file = path.join(scratchFolder(), 'journal.jsonl')

/** The records before the first bad line, as a reading line by line gives them; a writer goes on there. */
export function fuzz(data: Uint8Array): void {
  writeIn(file, data)
  const { records, tornTail, diagnostics } = readJournal(file)
  const lines = Buffer.from(data).toString('latin1').split('\n')
  const torn = lines.pop() ?? ''
  const values = lines.map((line) => recordIn(Buffer.from(line, 'latin1').toString('utf8')))
  const bad = values.indexOf(undefined)
  const good = bad < 0 ? values : values.slice(0, bad)
  demand(same(records, good), 'other records', records, good)
  const expected =
    torn === '' ? undefined : { offset: data.length - torn.length, bytes: torn.length }
  demand(same(tornTail, expected), 'another torn tail', tornTail, expected)
  const corrupt = diagnostics.filter(({ severity }) => severity === 'error')
  demand(corrupt.length === (bad < 0 ? 0 : 1), 'a bad line', diagnostics)
  if (bad >= 0) demand(corrupt[0]?.line === bad + 1, 'the line', corrupt)
  // Every append waits for the disk.
  if (data.length % 32 !== 0) return
  const journal = openJournal(file)
  journal.append({ after: true })
  journal.close()
  const again = readJournal(file)
  demand(again.tornTail === undefined, 'a tail that stays torn')
  const wanted = bad < 0 ? [...records, { after: true }] : records
  demand(same(again.records, wanted), 'records that an append changed', again.records, wanted)
}

function recordIn(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
