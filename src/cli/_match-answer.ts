import { estimateTokens } from '../skill/index.ts'
import { readTarget, type TriggerMatch } from '../trigger/index.ts'
import type { MatchJson } from '../view/index.ts'
import type { InjectionAnswer } from './_injection-for.ts'

/** The JSON of `match`, without an explanation. */
export function matchAnswer(
  prompt: string,
  { matches, injected, deferred, diagnostics }: InjectionAnswer,
): MatchJson {
  return {
    prompt,
    matches: matches.map((match) => ({
      skill: match.skill.name,
      match: match.trigger.match,
      inject: match.trigger.inject,
      line: match.trigger.line,
      text: match.text,
      promptLine: match.promptLine,
      tokens: tokensOf(match),
    })),
    injected: injected.map(({ text: _text, ...reference }) => reference),
    deferred,
    diagnostics,
  }
}

/** Null where the file cannot be read. */
export function tokensOf({ skill, trigger }: TriggerMatch): number | null {
  const target = readTarget(skill.directory, trigger.inject)
  return target.ok ? estimateTokens(target.text) : null
}
