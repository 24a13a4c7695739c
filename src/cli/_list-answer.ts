import type { Diagnostic } from '../base/index.ts'
import type { Discovery, SkillInfo } from '../library/index.ts'

/** One skill in the answer of `list --json`. */
export interface ListedSkill {
  name: string
  description: string
  path: string
  scope: SkillInfo['scope']
  trust: SkillInfo['trustLevel']
  tokens: SkillInfo['tokens']
  shadows?: readonly string[] | undefined
  /** Only with `--all`: the skill that is used instead. */
  shadowedBy?: string | undefined
  diagnostics: readonly Diagnostic[]
}

/** The JSON of `list`; `all`: with skills that another one hides. */
export function listAnswer(
  discovery: Discovery,
  all: boolean,
): { skills: ListedSkill[]; diagnostics: readonly Diagnostic[] } {
  const { skills, conflicts, shadowed, diagnostics } = discovery
  const winners = winnersOf(skills)
  return {
    skills: [
      ...skills.map((info) => listed(info)),
      ...conflicts.map((info) => listed(info)),
      ...(all
        ? shadowed.map((info) => ({ ...listed(info), shadowedBy: winners.get(info.path) }))
        : []),
    ],
    diagnostics,
  }
}

function listed(info: SkillInfo): ListedSkill {
  const { name, description, path, scope, trustLevel, tokens, shadows, diagnostics } = info
  return {
    name,
    description,
    path,
    scope,
    trust: trustLevel,
    tokens,
    shadows: shadows.length > 0 ? shadows : undefined,
    diagnostics,
  }
}

/** Path of a shadowed skill → path of the one that is used. */
function winnersOf(skills: readonly SkillInfo[]): Map<string, string> {
  return new Map(skills.flatMap(({ path, shadows }) => shadows.map((shadow) => [shadow, path])))
}
