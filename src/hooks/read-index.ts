import { closeSync, openSync, readSync } from 'node:fs'
import { fields, list, text } from './_index-values.ts'
import { readIndexedTrigger } from './_indexed-trigger.ts'
import {
  currentStamp,
  existenceStamp,
  gramCount,
  gramOf,
  headBytesIn,
  type IndexedTrigger,
  type IndexHead,
  statOf,
  titleBytes,
  type TrustMark,
} from './index-format.ts'
import type { IndexPlace } from './index-place.ts'

/** A skill of the index. */
export interface IndexedSkill {
  name: string
  /** The `SKILL.md`. */
  path: string
  trust: TrustMark
}

export interface HookIndex {
  head: IndexHead
  /** The path of the skill of a name; undefined where there is none. */
  pathOf(name: string): string | undefined
  /**
   * The triggers that can fire on a prompt, in order of precedence: all that do, and few others.
   * Throws where the index does not hold what was written.
   */
  candidates(prompt: string): Generator<{ skill: IndexedSkill; trigger: IndexedTrigger }>
  close(): void
}

/**
 * Opens an index and compares everything in it with the disk. Undefined where there is none, where
 * it is broken, of another version or for something else, and where anything has changed.
 */
export function readIndex({ path, key }: IndexPlace): HookIndex | undefined {
  let file: number | undefined
  try {
    const opened = openSync(path, 'r')
    file = opened
    const reader: Reader = (at, size) => {
      const buffer = Buffer.allocUnsafe(size)
      const count = readSync(opened, buffer, 0, size, at)
      return buffer.toString('utf8', 0, count)
    }
    const { head, tables, start } = parseHead(reader)
    if (head.key === key && head.settled && isCurrent(tables)) {
      return openTables(reader, head, tables, start, () => closeSync(opened))
    }
  } catch {
    // Missing or damaged: it is made anew.
  }
  if (file !== undefined) closeSync(file)
  return undefined
}

/** The same for one that was made this moment. */
export function openIndex(bytes: Buffer): HookIndex {
  const reader: Reader = (at, size) => bytes.toString('utf8', at, at + size)
  const { head, tables, start } = parseHead(reader)
  return openTables(reader, head, tables, start, () => undefined)
}

/** Text of `size` bytes from `at`; shorter where there are no more. */
type Reader = (at: number, size: number) => string

/** The tables as they come from JSON; each value is looked at when it is used. */
interface RawTables {
  probes: readonly unknown[]
  existing: readonly unknown[]
  paths: readonly unknown[]
  names: readonly unknown[]
  trust: string
  stamps: readonly unknown[]
  grams: readonly unknown[]
  sizes: readonly unknown[]
}

function openTables(
  read: Reader,
  head: IndexHead,
  tables: RawTables,
  start: number,
  close: () => void,
): HookIndex {
  const { paths, names, trust, grams, sizes } = tables
  return {
    head,
    close,
    pathOf(name) {
      const at = names.indexOf(name)
      return at < 0 ? undefined : text(paths[at])
    },
    *candidates(prompt) {
      const seen = gramsOf(prompt)
      let next = start
      for (let index = 0; index < grams.length; index++) {
        const gram = Number(grams[index])
        const size = Number(sizes[index])
        const at = next
        next += size + 1
        if (gram >= 0 && seen[gram] === 0) continue
        const trigger = readIndexedTrigger(read(at, size))
        const { skill } = trigger
        const mark = trust[skill]
        yield {
          trigger,
          skill: {
            name: text(names[skill]),
            path: text(paths[skill]),
            trust: mark === '+' || mark === '?' ? mark : '-',
          },
        }
      }
    },
  }
}

function gramsOf(prompt: string): Uint8Array {
  const seen = new Uint8Array(gramCount)
  for (let at = 0; at + 2 < prompt.length; at++) seen[gramOf(prompt, at)] = 1
  return seen
}

function isCurrent({ probes, existing, paths, stamps }: RawTables): boolean {
  for (let index = 0; index < probes.length; index += 2) {
    if (currentStamp(text(probes[index])) !== probes[index + 1]) return false
  }
  for (let index = 0; index < existing.length; index += 2) {
    if (existenceStamp(text(existing[index])) !== existing[index + 1]) return false
  }
  for (let index = 0; index < paths.length; index++) {
    const file = statOf(text(paths[index]))
    const at = 3 * index
    const isSame =
      file !== undefined &&
      file.ctimeMs === stamps[at] &&
      file.size === stamps[at + 1] &&
      file.ino === stamps[at + 2]
    if (!isSame) return false
  }
  return true
}

function parseHead(read: Reader): { head: IndexHead; tables: RawTables; start: number } {
  const size = headBytesIn(read(0, titleBytes))
  if (size === undefined) throw new TypeError('the file is no index of this version')
  const [headLine = '', tableLine = ''] = read(titleBytes, size).split('\n')
  const { key, settled, repeat } = fields(JSON.parse(headLine))
  const raw = fields(JSON.parse(tableLine))
  return {
    head: {
      key: text(key),
      settled: settled === true,
      repeat: repeat === 'session' ? 'session' : 'prompt',
    },
    tables: {
      probes: list(raw['probes']),
      existing: list(raw['existing']),
      paths: list(raw['paths']),
      names: list(raw['names']),
      trust: text(raw['trust']),
      stamps: list(raw['stamps']),
      grams: list(raw['grams']),
      sizes: list(raw['sizes']),
    },
    start: titleBytes + size,
  }
}
