import type { Random } from '../skill/_fuzz-text.ts'

/** Sources of what an input can become. */
export interface MutationFixture {
  random: Random
  /** Words that the code compares with, and that the target's language has. */
  words: readonly Uint8Array[]
  /** An input to mix with. */
  other: () => Uint8Array
  /** Bytes of the longest input. */
  limit: number
}

/** A few changes of an input; each is a small one, a mixture, or a part of it many times over. */
export function mutate(input: Uint8Array, fixture: MutationFixture): Uint8Array {
  const { random, limit } = fixture
  let bytes = input
  for (let left = 1 << random.below(4); left > 0; left--) {
    bytes = random.pick(changes)(bytes, fixture)
  }
  if (limit > 8192) bytes = repeatOften(bytes, fixture)
  return bytes.subarray(0, limit)
}

/** What is repeated where nothing of the input is: what parsers count, skip and look for the end of. */
const pieces = [
  ...Array.from(' \t\n\r-.:#=<([{“"\'`*_\\,aA0'),
  ..." -¦: ¦ #¦\n ¦\n- ¦\r\n¦[]¦{}¦${a¦/*¦](¦<a¦''¦ a¦\na: ".split('¦'),
].map((text) => Buffer.from(text))

/** An input that is as long as there may be, by many times the same at one place of it. */
export function lengthen(
  input: Uint8Array,
  { random, limit }: Pick<MutationFixture, 'random' | 'limit'>,
): Uint8Array {
  const at = place(input, random)
  const excerpt = input.subarray(at, at + 1 + random.below(24))
  const part = excerpt.length > 0 && random.chance(0.4) ? excerpt : random.pick(pieces)
  const count = Math.max(0, Math.floor((limit - input.length) / part.length))
  return splice(input, at, 0, numbered(part, count, random)).subarray(0, limit)
}

type Change = (bytes: Uint8Array, fixture: MutationFixture) => Uint8Array

const changes: readonly Change[] = [
  insertWord,
  insertWord,
  insertWord,
  replaceByWord,
  replaceByWord,
  removeRange,
  removeRange,
  removeLine,
  repeatRange,
  moveRange,
  changeByte,
  changeByte,
  insertCharacter,
  insertCharacter,
  mixIn,
  mixIn,
  changeNumber,
  swapLines,
]

/** What parsers trip over, whatever they read. */
const characters = [
  ...' \n\t\r\0:#-\'"[]{}()|>?*&!%@`,.;=<~/\\^$+_0919azAZ'.split(''),
  'é',
  '😀',
  '\r\n',
  '\ufeff',
  '\u2028',
  '\u0085',
  '\u00a0',
  '\u001b[',
  '\u202e',
  '\u200d',
  '\u{e0041}',
  'ſ',
  'K',
  '\n\n',
  '---\n',
  '  ',
  '\\n',
  '\\u0000',
  '\\ud800',
].map((text) => Buffer.from(text))

const numbers = ['0', '-1', '1e999', '99999999999999999999', '2147483648', '0x10', '1.5', '007']

function insertWord(bytes: Uint8Array, { random, words }: MutationFixture): Uint8Array {
  return words.length === 0 ? bytes : splice(bytes, place(bytes, random), 0, random.pick(words))
}

function replaceByWord(bytes: Uint8Array, { random, words }: MutationFixture): Uint8Array {
  if (words.length === 0) return bytes
  const word = random.pick(words)
  return splice(bytes, place(bytes, random), random.below(word.length + 4), word)
}

function insertCharacter(bytes: Uint8Array, { random }: MutationFixture): Uint8Array {
  return splice(bytes, place(bytes, random), random.below(2), random.pick(characters))
}

function changeByte(bytes: Uint8Array, { random }: MutationFixture): Uint8Array {
  const value = random.chance(0.2) ? random.below(256) : 32 + random.below(95)
  return splice(bytes, place(bytes, random), 1, Uint8Array.of(value))
}

function removeRange(bytes: Uint8Array, { random }: MutationFixture): Uint8Array {
  return splice(bytes, place(bytes, random), 1 + length(bytes, random), new Uint8Array())
}

function repeatRange(bytes: Uint8Array, { random, limit }: MutationFixture): Uint8Array {
  const at = place(bytes, random)
  const part = bytes.subarray(at, at + 1 + random.below(8) + length(bytes, random))
  if (part.length === 0) return bytes
  const most = Math.max(1, Math.floor((limit - bytes.length) / part.length))
  return splice(bytes, at, 0, times(part, Math.min(most, 1 << random.below(7))))
}

/** Often enough to show nonlinear work; also in the middle, since brackets are nested. */
function repeatOften(bytes: Uint8Array, { random, limit }: MutationFixture): Uint8Array {
  const at = place(bytes, random)
  const part = bytes.subarray(at, at + 1 + random.below(1 << random.below(8)))
  if (part.length === 0) return bytes
  const count = Math.floor((limit - bytes.length) / part.length)
  if (random.chance(0.6)) return splice(bytes, at, 0, numbered(part, count, random))
  const end = at + part.length + random.below(4)
  const closing = bytes.subarray(end, end + 1 + random.below(2))
  const half = Math.floor(count / 2)
  return splice(splice(bytes, end, 0, times(closing, half)), at, 0, times(part, half))
}

/** Many times, often with a number in it: keys that are all the same are one. */
function numbered(part: Uint8Array, count: number, random: Random): Uint8Array {
  if (random.chance(0.5)) return times(part, count)
  const at = random.below(part.length)
  const fitting = Math.max(1, Math.floor((count * part.length) / (part.length + 5)))
  return Buffer.concat(
    Array.from({ length: fitting }, (_, number) => splice(part, at, 0, Buffer.from(`${number}`))),
  )
}

function times(part: Uint8Array, count: number): Uint8Array {
  return Buffer.concat(Array.from({ length: count }, () => part))
}

function moveRange(bytes: Uint8Array, { random }: MutationFixture): Uint8Array {
  const at = place(bytes, random)
  const part = bytes.slice(at, at + 1 + length(bytes, random))
  const rest = random.chance(0.5) ? bytes : splice(bytes, at, part.length, new Uint8Array())
  return splice(rest, place(rest, random), 0, part)
}

function mixIn(bytes: Uint8Array, { random, other }: MutationFixture): Uint8Array {
  const from = other()
  const start = place(from, random)
  const part = from.subarray(start, start + 1 + length(from, random))
  return splice(bytes, place(bytes, random), random.chance(0.5) ? part.length : 0, part)
}

function changeNumber(bytes: Uint8Array, { random }: MutationFixture): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1')
  const numerals = [...text.matchAll(/-?\d[\d.eE+-]*/g)]
  if (numerals.length === 0) return bytes
  const { index, 0: written } = random.pick(numerals)
  return splice(bytes, index, written.length, Buffer.from(random.pick(numbers)))
}

function removeLine(bytes: Uint8Array, { random }: MutationFixture): Uint8Array {
  const { start, end } = line(bytes, random)
  return splice(bytes, start, end - start, new Uint8Array())
}

function swapLines(bytes: Uint8Array, { random }: MutationFixture): Uint8Array {
  const { start, end } = line(bytes, random)
  const part = bytes.slice(start, end)
  const rest = splice(bytes, start, part.length, new Uint8Array())
  return splice(rest, line(rest, random).start, 0, part)
}

function line(bytes: Uint8Array, random: Random): { start: number; end: number } {
  const at = place(bytes, random)
  const start = bytes.lastIndexOf(10, at - 1) + 1
  const newline = bytes.indexOf(10, at)
  return { start: Math.min(start, at), end: newline === -1 ? bytes.length : newline + 1 }
}

function place(bytes: Uint8Array, random: Random): number {
  return random.below(bytes.length + 1)
}

/** Short ones mostly. */
function length(bytes: Uint8Array, random: Random): number {
  return random.below(Math.max(1, bytes.length >> random.below(8)))
}

function splice(bytes: Uint8Array, at: number, removed: number, added: Uint8Array): Uint8Array {
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)])
}
