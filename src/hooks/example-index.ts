import type { Catalogue, IndexedTerm, IndexParts, RankIndex } from '#rank/index'
import { rankerOf } from '#rank/ranker'
import { judge, matchesOf } from '#trigger/judge'
import type { TriggerMatch } from '#trigger/match'
import type { CachedSkill, StoredIndex, TriggerCache } from './trigger-cache.ts'

export function matchStoredExamples(
  prompt: string,
  index: StoredIndex,
  cache: TriggerCache,
): TriggerMatch<CachedSkill>[] {
  const verdict = judge(prompt, rankerOf(openIndex(index)))
  return matchesOf(prompt, verdict, verdict && cache.named(verdict.name))
}

type Block = readonly [key: string, start: number]

const blockSize = 16_384

export function storeIndex(
  { catalogue, terms, words, examples }: IndexParts,
  number: number,
): { head: string; file: Buffer } {
  const entries: [string, unknown][] = []
  for (const [term, { held, postings, holders, centre, examples: own }] of terms)
    entries.push([term, [held, postings, holders, centre, own]])
  for (const [letter, list] of words) entries.push([`~${letter}`, list])
  for (const [place, text] of examples.entries()) entries.push([`#${place}`, text])
  const lines = [Buffer.from(`${number}\n`)]
  const blocks: Block[] = [['', 0]]
  let [size, begun] = [0, 0]
  for (const [key, value] of entries.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    size += lines.at(-1)?.length ?? 0
    if (size - begun >= blockSize) blocks.push([key, (begun = size)])
    lines.push(Buffer.from(`${key}\t${JSON.stringify(value, short)}\n`))
  }
  return { head: JSON.stringify({ catalogue, blocks }), file: Buffer.concat(lines) }
}

function short(_key: string, value: unknown): unknown {
  const isWhole = typeof value !== 'number' || Number.isInteger(value)
  return isWhole ? value : Number(value.toPrecision(4))
}

function openIndex({ head, read }: StoredIndex): RankIndex {
  const { catalogue, blocks }: { catalogue: Catalogue; blocks: readonly Block[] } = JSON.parse(head)
  const valueOf = (key: string) => {
    const place = blocks.findLastIndex(([first]) => first <= key)
    const text = `\n${read(blocks[place]?.[1] ?? 0, blocks[place + 1]?.[1])}`
    const at = text.indexOf(`\n${key}\t`) + 1
    return at > 0 ? JSON.parse(text.slice(at + key.length + 1, text.indexOf('\n', at))) : undefined
  }
  const known = new Map<string, IndexedTerm | undefined>()
  return {
    catalogue,
    term(term) {
      if (known.has(term)) return known.get(term)
      const [held, postings, holders, centre, examples] = valueOf(term) ?? []
      const found = held === undefined ? undefined : { held, postings, holders, centre, examples }
      known.set(term, found)
      return found
    },
    wordsBy: (letter) => valueOf(`~${letter}`) ?? [],
    example: (number) => valueOf(`#${number}`),
  }
}
