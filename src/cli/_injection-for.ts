import { basename, dirname } from 'node:path'
import type { Diagnostic } from '../base/index.ts'
import { currentTrust, discoverOptionsFrom, type InvocationSource } from '../library/index.ts'
import { SkillLoadError, SkillParseError } from '../skill/index.ts'
import {
  type Injection,
  matchPrompt,
  planInjection,
  type PromptMatching,
  readTriggers,
  type TriggerSkill,
} from '../trigger/index.ts'
import type { CommandContext } from './command.ts'
import { readSkillText } from './_checked-skills.ts'
import { skillsFor } from './_trigger-skills.ts'

export interface InjectionRequest {
  prompt: string
  /** Skills by name or path; empty for all that are installed. */
  references: readonly string[]
  tokenBudget: number | undefined
  /** Whose prompt it is; of one that a model makes up, skills that only people may use hear nothing. */
  source?: InvocationSource | undefined
}

export interface InjectionAnswer extends Injection {
  skills: readonly TriggerSkill[]
  matches: PromptMatching['matches']
}

/** What a hook would inject for a prompt. A skill that is named counts as trusted by whoever names it. */
export function injectionFor(context: CommandContext, request: InjectionRequest): InjectionAnswer {
  const { prompt, references, tokenBudget, source } = request
  const { skills, diagnostics, mayInject } =
    references.length > 0 ? namedSkills(context, references) : installedSkills(context, source)
  const matching = matchPrompt(prompt, skills)
  const injection = planInjection(matching.matches, {
    tokenBudget,
    mayInject: ({ path }) => mayInject(path),
  })
  return {
    ...injection,
    skills,
    matches: matching.matches,
    diagnostics: [...diagnostics, ...matching.diagnostics, ...injection.diagnostics],
  }
}

interface SkillSet {
  skills: readonly TriggerSkill[]
  diagnostics: readonly Diagnostic[]
  /** Whether the text of the skill with this path is injected. */
  mayInject: (path: string) => boolean
}

function installedSkills(context: CommandContext, source: InvocationSource = 'user'): SkillSet {
  const { skills: all, diagnostics } = skillsFor(context, [])
  const isHeard = ({ info }: (typeof all)[number]): boolean =>
    source !== 'model' || !info.fields.disableModelInvocation
  const skills = all.filter(isHeard)
  const options = discoverOptionsFrom(context.runtime, context.settings)
  const byPath = new Map(skills.map(({ path, info }) => [path, info]))
  const known = new Map<string, boolean>()
  return { skills, diagnostics, mayInject }

  /** Only what matched is compared with what was accepted and locked. */
  function mayInject(path: string): boolean {
    const info = byPath.get(path)
    const may =
      known.get(path) ??
      (info?.trustLevel === 'trusted' && currentTrust(info, options).level === 'trusted')
    known.set(path, may)
    return may
  }
}

/** A skill that cannot be installed yet, for want of a description say, can be tried all the same. */
function namedSkills(context: CommandContext, references: readonly string[]): SkillSet {
  const found = references.map((reference): Omit<SkillSet, 'mayInject'> => {
    try {
      return skillsFor(context, [reference])
    } catch (error) {
      const [broken] =
        error instanceof SkillParseError || error instanceof SkillLoadError ? error.diagnostics : []
      if (broken === undefined) throw error
      const { path } = broken
      const { triggers, diagnostics } = readTriggers(readSkillText(path), path)
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
