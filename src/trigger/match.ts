import type { Diagnostic } from '#core/errors'
import { cutText } from '#core/text'
import type { TriggerDeclaration } from '#skill/model'
import { compilePattern, hasRequired, type Pattern, type PatternProblem } from './pattern.ts'

export interface TriggerSkill {
  name: string
  directory: string
  path: string
  triggers: readonly TriggerDeclaration[]
}

export interface TriggerMatch<Skill extends TriggerSkill = TriggerSkill> {
  skill: Skill
  trigger: TriggerDeclaration
  text: string
  promptLine: number
}

export interface PromptMatching<Skill extends TriggerSkill = TriggerSkill> {
  /** Skills in input order, triggers in the order of their declaration. */
  matches: readonly TriggerMatch<Skill>[]
  /** Invalid patterns, whether they would have matched or not. */
  diagnostics: readonly Diagnostic[]
}

/** Tests every trigger on every line of a prompt, as `grep -E` would. */
export function matchPrompt<Skill extends TriggerSkill>(
  prompt: string,
  skills: readonly Skill[],
): PromptMatching<Skill> {
  const lines = promptLines(prompt)
  const matches: TriggerMatch<Skill>[] = []
  const diagnostics: Diagnostic[] = []
  for (const skill of skills) {
    for (const trigger of skill.triggers) {
      if (trigger.when || prompt === '') continue
      const reading = compilePattern(trigger.match)
      if (!reading.ok) {
        diagnostics.push(patternDiagnostic(skill.path, trigger, reading.problem))
        continue
      }
      if (!hasRequired(prompt, reading.pattern.required)) continue
      const place = firstMatch(reading.pattern, lines)
      if (place) matches.push({ skill, trigger, ...place })
    }
  }
  return { matches, diagnostics }
}

/**
 * Returns the lines of a prompt. CRLF counts as a line feed; nothing is trimmed, so there is at
 * least one line.
 */
export function promptLines(prompt: string): string[] {
  return prompt.replaceAll('\r\n', '\n').split('\n')
}

export function firstMatch(
  { find }: Pick<Pattern, 'find'>,
  lines: readonly string[],
): { text: string; promptLine: number } | undefined {
  for (const [index, line] of lines.entries()) {
    const place = find(line)
    if (!place) continue
    return { text: line.slice(place.start, place.end), promptLine: index + 1 }
  }
  return undefined
}

export const triggerSource = 'triggers: Deterministic Progressive Disclosure, "How Triggers Work"'

/** `lineText`: the line of the file, if known; with it the diagnostic has a column. */
export function patternDiagnostic(
  path: string,
  { match, line }: TriggerDeclaration,
  problem: PatternProblem,
  lineText?: string,
): Diagnostic {
  const place = `at character ${problem.offset + 1}`
  return {
    code: problem.code,
    severity: 'error',
    message: `The pattern \`${cutText(match, 80)}\` is not accepted: ${problem.message} (${place}).`,
    path,
    line,
    column: columnOf(match, problem.offset, lineText),
    hint: problem.hint,
    source: triggerSource,
  }
}

/**
 * Returns the column of an offset into the pattern if the file's line contains the pattern
 * unchanged.
 */
export function columnOf(
  match: string,
  offset: number,
  lineText: string | undefined,
): number | undefined {
  const start = lineText?.indexOf(match) ?? -1
  return start < 0 ? undefined : start + offset + 1
}
