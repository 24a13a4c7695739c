import type { Diagnostic } from '../base/index.ts'
import { quickRequiredText } from './_quick-scan.ts'
import type { TriggerDeclaration } from '../skill/index.ts'
import { patternDiagnostic } from './pattern-diagnostic.ts'
import { compilePattern, type Pattern } from './pattern.ts'
import type { PatternPlan } from './pattern-plan.ts'
import { promptText, type PromptText } from './prompt-text.ts'

/** What matching needs to know of a skill. */
export interface TriggerSkill {
  name: string
  /** Absolute; where the references lie. */
  directory: string
  /** The `SKILL.md`, for diagnostics. */
  path: string
  triggers: readonly TriggerDeclaration[]
}

/** A trigger that fired. */
export interface TriggerMatch<Skill extends TriggerSkill = TriggerSkill> {
  skill: Skill
  trigger: TriggerDeclaration
  /** The text that it fired on. */
  text: string
  /** The line of the prompt, from 1. */
  promptLine: number
}

export interface PromptMatching<Skill extends TriggerSkill = TriggerSkill> {
  /** Skills in the order they were given, triggers as they are declared. */
  matches: readonly TriggerMatch<Skill>[]
  /** Patterns that are not accepted, whether they would have matched or not. */
  diagnostics: readonly Diagnostic[]
}

/**
 * Tests every trigger on every line of a prompt, as `grep -E` would. Pure, and linear in the size of
 * the prompt for every accepted pattern.
 *
 * @param skills in order of precedence
 * @example
 * const { matches } = matchPrompt('/deploy staging', [skill])
 */
export function matchPrompt<Skill extends TriggerSkill>(
  prompt: string,
  skills: readonly Skill[],
): PromptMatching<Skill> {
  const text = promptText(prompt)
  const matches: TriggerMatch<Skill>[] = []
  const diagnostics: Diagnostic[] = []
  for (const skill of skills) {
    for (const trigger of skill.triggers) {
      const needed = quickRequiredText(trigger.match)
      if (needed !== undefined && !text.contains(needed)) continue
      const reading = compilePattern(trigger.match)
      if (!reading.ok) {
        diagnostics.push(patternDiagnostic(skill.path, trigger, reading.problem))
        continue
      }
      const place = firstMatch(reading.pattern, text)
      if (place !== undefined) matches.push({ skill, trigger, ...place })
    }
  }
  return { matches, diagnostics }
}

/** Whether a pattern that was planned before finds something in a prompt. */
export function planMatches(
  plan: PatternPlan,
  test: (line: string) => boolean,
  text: PromptText,
): boolean {
  return isPossible(plan, text) && text.lines.some(test)
}

/** Where a pattern first finds something: the text, and the line of the prompt, from 1. */
export function firstMatch(
  pattern: Pattern,
  prompt: PromptText,
): { text: string; promptLine: number } | undefined {
  if (!isPossible(pattern.plan, prompt)) return undefined
  const index = prompt.lines.findIndex(pattern.test)
  const line = prompt.lines[index]
  if (line === undefined) return undefined
  const place = pattern.find(line) ?? { start: 0, end: line.length }
  return { text: line.slice(place.start, place.end), promptLine: index + 1 }
}

function isPossible(plan: PatternPlan, text: PromptText): boolean {
  return plan.engine === 'text' ? text.contains(plan.text) : text.mayContain(plan.required)
}
