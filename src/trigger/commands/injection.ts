import { basename, dirname } from 'node:path'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { estimateTokens } from '../../core/text.ts'
import { currentTrust, discoverOptionsFrom } from '../../library/discover.ts'
import type { InvocationSource } from '../../library/activation.ts'
import { isUnusable } from '../../skill/errors.ts'
import { planInjection, readTarget } from '../inject.ts'
import { matchTriggers } from '../examples.ts'
import type { TriggerSkill } from '../match.ts'
import { readTriggers } from '../read-triggers.ts'
import { readText, type Settled, skillsFor } from './skills.ts'

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
      const { match, inject, line, base } = trigger
      const target = readTarget(base ?? skill.directory, inject)
      const tokens = target.ok ? estimateTokens(target.text) : null
      const kind = trigger.when?.kind ?? 'match'
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
  const skills = all.filter(({ info }) => source !== 'model' || !info.fields.disableModelInvocation)
  const options = discoverOptionsFrom(context.runtime, context.settings)
  // Only what matched is compared with what was accepted and locked, each once.
  const known = new Map<string, boolean>()
  const mayInject = ({ path }: TriggerSkill): boolean => {
    const info = skills.find((skill) => skill.path === path)?.info
    const isTrusted = (): boolean =>
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
      if (broken === undefined) throw error
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
