import { basename, dirname } from 'node:path'
import type { Diagnostic } from '#core/errors'
import { currentTrust, discoverOptionsFrom } from '#library/discover'
import type { InvocationSource } from '#library/activation'
import { isUnusable } from '#skill/errors'
import { costOf, planInjection } from '#trigger/inject'
import { matchTriggers } from '#trigger/examples'
import type { TriggerSkill } from '#trigger/match'
import { readTriggers } from '#trigger/read-triggers'
import { type Settled, readText, skillsFor } from './skills.ts'
import { type SkillExplanation, explainPrompt } from '#trigger/explain'

interface InjectionRequest {
  prompt: string
  references: readonly string[]
  tokenBudget: number | undefined
  /** Who wrote the prompt. Skills that only users may invoke do not see a prompt of the model. */
  source?: InvocationSource | undefined
}

/** Returns what a hook would inject for a prompt. A skill that is named counts as trusted. */
export function injectionFor(context: Settled, request: InjectionRequest) {
  const { prompt, references, tokenBudget, source } = request
  const { skills, mayInject, ...set } =
    references.length > 0 ? namedSkills(context, references) : installedSkills(context, source)
  const { matches, ...matching } = matchTriggers(prompt, skills)
  const injection = planInjection(matches, { tokenBudget, mayInject })
  const diagnostics = [set, matching, injection].flatMap((part) => part.diagnostics)
  return { ...injection, skills, matches, diagnostics }
}

export type MatchResult = ReturnType<typeof matchResult>

export function matchResult(
  prompt: string,
  { matches, injected, deferred, diagnostics }: ReturnType<typeof injectionFor>,
) {
  return {
    prompt,
    matches: matches.map(({ skill, trigger, text, promptLine }) => {
      const { match, inject, line, when } = trigger
      const tokens = costOf(skill, trigger).tokens ?? null
      const kind = when?.kind ?? 'match'
      return { skill: skill.name, kind, match, inject, line, text, promptLine, tokens }
    }),
    injected: injected.map(({ text: _text, ...reference }) => reference),
    deferred,
    diagnostics,
  }
}

interface SkillSet {
  skills: readonly TriggerSkill[]
  diagnostics: readonly Diagnostic[]
  mayInject: (skill: TriggerSkill) => boolean
}

function installedSkills(context: Settled, source: InvocationSource = 'user'): SkillSet {
  const { skills: all, diagnostics } = skillsFor(context, [])
  const skills = all.filter(({ fields }) => source !== 'model' || !fields.disableModelInvocation)
  const options = discoverOptionsFrom(context.runtime, context.settings)
  // Only what matched is compared with what was accepted and locked, each once.
  const known = new Map<string, boolean>()
  const mayInject = ({ path }: TriggerSkill): boolean => {
    const info = skills.find((skill) => skill.path === path)
    const isTrusted = () =>
      info?.trustLevel === 'trusted' && currentTrust(info, options).level === 'trusted'
    const may = known.get(path) ?? isTrusted()
    known.set(path, may)
    return may
  }
  return { skills, diagnostics, mayInject }
}

/** A skill that cannot be installed yet, for want of a description say, can be tried all the same. */
function namedSkills(context: Settled, references: readonly string[]): SkillSet {
  const found = references.map((reference) => {
    try {
      return skillsFor(context, [reference])
    } catch (error) {
      const [broken] = isUnusable(error) ? error.diagnostics : []
      if (!broken) throw error
      const { path } = broken
      const { triggers, diagnostics } = readTriggers(readText(path), path)
      const directory = dirname(path)
      return { skills: [{ name: basename(directory), path, directory, triggers }], diagnostics }
    }
  })
  return {
    skills: found.flatMap(({ skills }) => skills),
    diagnostics: found.flatMap(({ diagnostics }) => diagnostics),
    mayInject: () => true,
  }
}

/** The time for explanations: a user types and waits for the answer. */
const patienceMs = 300
const mostVerdicts = 300

/** `match --explain` while a prompt is typed; with very many triggers some are left out (`untried`). */
export function matchWhileTyping(context: Settled, prompt: string) {
  const answer = injectionFor(context, { prompt, references: [], tokenBudget: undefined })
  const skills = answer.skills.filter(({ triggers }) => triggers.length > 0)
  const fired = new Set(answer.matches.map(({ skill }) => skill))
  const { elapsed } = context.runtime
  const end = elapsed() + patienceMs
  const explained = new Map<TriggerSkill, SkillExplanation>()
  let said = 0
  let tried = 0
  const firedFirst = [...fired, ...skills.filter((skill) => !fired.has(skill))]
  for (const skill of firedFirst) {
    if (elapsed() > end || said > mostVerdicts) break
    for (const explanation of explainPrompt(prompt, [skill], answer.skills)) {
      const verdicts = explanation.verdicts.filter(({ outcome }) => outcome !== 'no-match')
      tried += explanation.verdicts.length
      said += verdicts.length
      if (verdicts.length > 0) explained.set(skill, { ...explanation, verdicts })
    }
  }
  const triggers = skills.reduce((sum, skill) => sum + skill.triggers.length, 0)
  return {
    ...matchResult(prompt, answer),
    explanation: skills.flatMap((skill) => explained.get(skill) ?? []),
    triggers,
    quiet: tried - said,
    untried: triggers - tried,
  }
}
