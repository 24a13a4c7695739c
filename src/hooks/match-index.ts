import { dirname } from 'node:path'
import {
  planMatches,
  promptText,
  testerOf,
  type TriggerMatch,
  type TriggerSkill,
} from '../trigger/index.ts'
import type { TrustMark } from './index-format.ts'
import type { HookIndex, IndexedSkill } from './read-index.ts'

/** A skill whose trigger fired. */
export interface MatchedSkill extends TriggerSkill {
  trust: TrustMark
}

/**
 * The triggers of an index that fire on a prompt, in order of precedence and definition.
 *
 * @param isOver whether the time is up; matching then ends with {@link TimeIsUp}.
 */
export function matchIndex(
  index: HookIndex,
  prompt: string,
  isOver: () => boolean,
): TriggerMatch<MatchedSkill>[] {
  const text = promptText(prompt)
  const matches: TriggerMatch<MatchedSkill>[] = []
  for (const { skill, trigger } of index.candidates(prompt)) {
    if (isOver()) throw new TimeIsUp()
    const { match, inject, line, plan } = trigger
    const test = testerOf(plan)
    if (!planMatches(plan, test, text)) continue
    const at = text.lines.findIndex(test)
    matches.push({
      skill: matchedSkill(skill),
      trigger: { match, inject, line },
      text: text.lines[at] ?? '',
      promptLine: at + 1,
    })
  }
  return matches
}

/** The hook's own deadline has passed. */
export class TimeIsUp extends Error {
  override readonly message: string = 'the time was up before all triggers were tested'
}

function matchedSkill({ name, path, trust }: IndexedSkill): MatchedSkill {
  return { name, path, directory: dirname(path), triggers: [], trust }
}
