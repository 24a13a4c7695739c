import { createRequire } from 'node:module'
import type * as Re2 from 're2js'
import type { PatternProblem } from './pattern-problem.ts'

/** What we use of a compiled program of the RE2 library. */
export interface Re2Program {
  start: number
  inst: readonly Re2Instruction[]
}

export interface Re2Instruction {
  op: number
  /** The instruction that follows. */
  out: number
  /** Of an alternative: the second way. Of an assertion: its flags. */
  arg: number
  matchRune(codePoint: number): boolean
}

export type Re2Compilation =
  | { ok: true; program: Re2Program }
  | { ok: false; problem: PatternProblem }

/** A line of 10 kB then takes less than 50 ms, whatever it holds. */
export const mostInstructions = 180

let loaded: typeof Re2 | undefined

/** Compiles what our own parser does not read or cannot prove linear. Loads the library when first called. */
export function compileRe2(source: string): Re2Compilation {
  loaded ??= loadRe2()
  try {
    const program: Re2Program = loaded.RE2JS.compile(source).re2().prog
    if (program.inst.length <= mostInstructions) return { ok: true, program }
    const message = `the pattern needs ${program.inst.length} steps a character; ${mostInstructions} are allowed`
    const hint = 'Shorten its intervals such as `{100}`, or make several triggers of it.'
    return { ok: false, problem: { code: 'pattern-too-large', message, offset: 0, hint } }
  } catch (error) {
    if (!(error instanceof loaded.RE2JSSyntaxException)) throw error
    const part = error.getPattern() ?? ''
    const offset = Math.max(0, source.indexOf(part))
    const message = `RE2 refuses it: ${error.getDescription()}`
    return { ok: false, problem: { code: 'pattern-invalid', message, offset } }
  }
}

function loadRe2(): typeof Re2 {
  return createRequire(import.meta.url)('re2js')
}
