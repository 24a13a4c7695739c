import { basename, dirname } from 'node:path'
import { type Diagnostic, UsageError } from '../base/index.ts'
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
}

export interface InjectionAnswer extends Injection {
  skills: readonly TriggerSkill[]
  matches: PromptMatching['matches']
}

/** What a hook would inject for a prompt. A skill that is named counts as trusted by whoever names it. */
export function injectionFor(context: CommandContext, request: InjectionRequest): InjectionAnswer {
  const { prompt, references, tokenBudget } = request
  const { skills, diagnostics, untrusted } =
    references.length > 0 ? namedSkills(context, references) : installedSkills(context)
  const matching = matchPrompt(prompt, skills)
  const injection = planInjection(matching.matches, {
    tokenBudget,
    mayInject: ({ path }) => !untrusted.has(path),
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
  /** Paths of skills whose text is not injected. */
  untrusted: ReadonlySet<string>
}

function installedSkills(context: CommandContext): SkillSet {
  const { skills, diagnostics } = skillsFor(context, [])
  const untrusted = skills.filter(({ info }) => info.trustLevel === 'untrusted')
  return { skills, diagnostics, untrusted: new Set(untrusted.map(({ path }) => path)) }
}

/** A skill that cannot be installed yet, for want of a description say, can be tried all the same. */
function namedSkills(context: CommandContext, references: readonly string[]): SkillSet {
  const found = references.map((reference): Omit<SkillSet, 'untrusted'> => {
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
    untrusted: new Set(),
  }
}

/** @throws {UsageError} for anything but a whole number. */
export function readBudget(written: string | undefined): number | undefined {
  if (written === undefined) return undefined
  if (/^\d{1,9}$/.test(written)) return Number(written)
  throw new UsageError({
    code: 'wrong-use',
    message: `--budget ${written} is no number of tokens`,
    hint: 'Write a whole number, such as --budget 8000.',
  })
}
