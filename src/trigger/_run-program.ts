import { assertionsAt, operation } from './_program-codes.ts'
import type { Re2Program } from './_re2-program.ts'

/** Where in a line something was found: UTF-16 offsets. */
export interface PatternMatch {
  start: number
  end: number
}

/**
 * Finds the leftmost match, of several the one that RE2 prefers. All ways through the program are
 * followed at once, so that the time is the length of the line times the size of the program, and
 * never more; the library's own automaton can be much slower on lines made for that.
 */
export function runProgram({ inst, start }: Re2Program, line: string): PatternMatch | undefined {
  const size = inst.length
  const threads = new Int32Array(size)
  const begins = new Int32Array(size)
  const waiting = new Int32Array(size)
  const waitingBegins = new Int32Array(size)
  const stack = new Int32Array(2 * size + 2)
  const seen = new Int32Array(size).fill(-1)
  let waitingCount = 0
  let found: PatternMatch | undefined
  let before = -1
  for (let at = 0; at <= line.length;) {
    const code = line.codePointAt(at) ?? -1
    const holds = assertionsAt(before, code)
    let count = 0
    const follow = (from: number, begin: number): void => {
      let depth = 0
      stack[depth++] = from
      while (depth > 0) {
        const index = stack[--depth] ?? 0
        const instruction = inst[index]
        if (instruction === undefined || seen[index] === at) continue
        seen[index] = at
        const { op, out, arg } = instruction
        if (op === operation.either || op === operation.eitherMatch) {
          stack[depth++] = arg
          stack[depth++] = out
        } else if (op === operation.capture || op === operation.nop) stack[depth++] = out
        else if (op === operation.assert) {
          if ((arg & ~holds) === 0) stack[depth++] = out
        } else if (op === operation.match || op >= operation.character) {
          threads[count] = index
          begins[count++] = begin
        }
      }
    }
    for (let index = 0; index < waitingCount; index++) {
      follow(waiting[index] ?? 0, waitingBegins[index] ?? 0)
    }
    if (found === undefined) follow(start, at)
    else if (count === 0) return found
    waitingCount = 0
    for (let index = 0; index < count; index++) {
      const instruction = inst[threads[index] ?? 0]
      const begin = begins[index] ?? 0
      if (instruction?.op === operation.match) {
        found = { start: begin, end: at }
        break
      }
      if (code >= 0 && instruction?.matchRune(code) === true) {
        waiting[waitingCount] = instruction.out
        waitingBegins[waitingCount++] = begin
      }
    }
    before = code
    at += code > 0xffff ? 2 : 1
  }
  return found
}
