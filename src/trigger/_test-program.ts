import { assertionsAt, operation } from './_program-codes.ts'
import type { Re2Program } from './_re2-program.ts'

/**
 * Whether a program finds anything in a line. Faster than looking for where: the ways through the
 * program have no order, and it is over at the first match. Linear like {@link runProgram}.
 */
export function programTester(program: Re2Program): (line: string) => boolean {
  let flat: FlatProgram | undefined
  return (line) => testLine((flat ??= flatten(program)), line)
}

/** The program in arrays, without the instructions that do nothing. */
interface FlatProgram {
  start: number
  operations: Uint8Array
  next: Uint16Array
  /** The second way of an alternative, or the flags of an assertion. */
  other: Uint16Array
  /** By code point: whether each instruction reads it. Filled as characters are met. */
  reads: Map<number, Uint8Array>
  instructions: Re2Program['inst']
}

function flatten({ inst, start }: Re2Program): FlatProgram {
  const skip = (index: number): number => {
    let at = index
    for (;;) {
      const instruction = inst[at]
      const isIdle = instruction?.op === operation.capture || instruction?.op === operation.nop
      if (instruction === undefined || !isIdle) return at
      at = instruction.out
    }
  }
  return {
    start: skip(start),
    operations: Uint8Array.from(inst, ({ op }) => op),
    next: Uint16Array.from(inst, ({ out }) => skip(out)),
    other: Uint16Array.from(inst, ({ op, arg }) => (op <= operation.eitherMatch ? skip(arg) : arg)),
    reads: new Map(),
    instructions: inst,
  }
}

function testLine(program: FlatProgram, line: string): boolean {
  const { start, operations, next, other } = program
  const size = operations.length
  const seen = new Int32Array(size)
  const stack = new Uint16Array(2 * size + 2)
  const readers = new Uint16Array(size)
  let depth = 0
  let before = -1
  for (let at = 0; at <= line.length;) {
    const code = line.codePointAt(at) ?? -1
    const holds = assertionsAt(before, code)
    const mark = at + 1
    let count = 0
    stack[depth++] = start
    while (depth > 0) {
      const index = stack[--depth] ?? 0
      if (seen[index] === mark) continue
      seen[index] = mark
      const kind = operations[index] ?? 0
      if (kind >= operation.character) readers[count++] = index
      else if (kind <= operation.eitherMatch) {
        stack[depth++] = other[index] ?? 0
        stack[depth++] = next[index] ?? 0
      } else if (kind === operation.match) return true
      else if (kind === operation.assert && ((other[index] ?? 0) & ~holds) === 0) {
        stack[depth++] = next[index] ?? 0
      }
    }
    if (code < 0) return false
    const reads = program.reads.get(code) ?? readersOf(program, code)
    for (let place = 0; place < count; place++) {
      const index = readers[place] ?? 0
      if (reads[index] === 1) stack[depth++] = next[index] ?? 0
    }
    before = code
    at += code > 0xffff ? 2 : 1
  }
  return false
}

function readersOf({ instructions, reads }: FlatProgram, code: number): Uint8Array {
  // A line of every character there is must not fill the memory.
  if (reads.size > 500) reads.clear()
  const table = Uint8Array.from(instructions, (instruction) =>
    instruction.op >= operation.character && instruction.matchRune(code) ? 1 : 0,
  )
  reads.set(code, table)
  return table
}
