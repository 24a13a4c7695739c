/** Why a pattern is not accepted, and where. */
export interface PatternProblem {
  code: 'pattern-invalid' | 'pattern-unsupported' | 'pattern-too-long' | 'pattern-too-large'
  /** A sentence without the pattern itself. */
  message: string
  /** UTF-16 offset into the pattern. */
  offset: number
  hint?: string | undefined
}

/** Thrown and caught inside this room only: a parser returns a problem as a value. */
export class PatternProblemError extends Error {
  readonly problem: PatternProblem
  constructor(problem: PatternProblem) {
    super(problem.message)
    this.problem = problem
  }
}

export function invalid(offset: number, message: string, hint?: string): PatternProblemError {
  return new PatternProblemError({ code: 'pattern-invalid', message, offset, hint })
}

export function unsupported(offset: number, message: string, hint: string): PatternProblemError {
  return new PatternProblemError({ code: 'pattern-unsupported', message, offset, hint })
}
