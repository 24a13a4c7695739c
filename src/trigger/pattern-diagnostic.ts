import type { Diagnostic } from '../base/index.ts'
import type { TriggerDeclaration } from '../skill/index.ts'
import type { PatternProblem } from './pattern-problem.ts'

/** Where the rules about triggers come from. */
export const triggerSource = 'triggers: Deterministic Progressive Disclosure, "How Triggers Work"'

/**
 * A pattern that is not accepted, as a finding about its file.
 *
 * @param lineText the line of the file, if known: with it the finding has a column.
 */
export function patternDiagnostic(
  path: string,
  { match, line }: TriggerDeclaration,
  problem: PatternProblem,
  lineText?: string,
): Diagnostic {
  const place = `at character ${problem.offset + 1}`
  const shown = match.length > 80 ? `${match.slice(0, 80)}…` : match
  return {
    code: problem.code,
    severity: 'error',
    message: `The pattern \`${shown}\` is not accepted: ${problem.message} (${place}).`,
    path,
    line,
    column: columnOf(match, problem.offset, lineText),
    hint: problem.hint,
    source: triggerSource,
  }
}

/** The column of an offset into the pattern, where the pattern stands in the line as it is. */
export function columnOf(
  match: string,
  offset: number,
  lineText: string | undefined,
): number | undefined {
  const start = lineText?.indexOf(match) ?? -1
  return start < 0 ? undefined : start + offset + 1
}
