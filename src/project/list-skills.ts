import type { Context } from '#core/command'
import type { Diagnostic } from '#core/errors'
import { findWorkspace } from '#core/read-files'
import { trustOfMany } from '#trust/skill-trust'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import type { BrokenSkill, SkillInfo } from '#library/model'
import { invalidSkills } from './verdicts.ts'

export interface SkillList {
  skills: readonly ListedSkill[]
  diagnostics: readonly Diagnostic[]
  broken: readonly BrokenSkill[]
  /** How many skills another one of the same name hides; they are in `skills` with `--all`. */
  shadowed: number
  /** How many skills are not trusted, though their place is. */
  heldBack: number
}

/** A skill as a list shows it. */
export interface ListedSkill extends Pick<
  SkillInfo,
  'name' | 'description' | 'path' | 'scope' | 'tokens' | 'clients' | 'diagnostics'
> {
  trust: SkillInfo['trustLevel']
  /** Paths of the skills that this one hides. */
  shadows?: SkillInfo['shadows'] | undefined
  /** The skill that is used instead. */
  shadowedBy?: string | undefined
  /** The first error of `validate`. */
  invalid?: string | undefined
  /** Whether another skill has its name, so that neither is used, or one that is used instead. */
  standing?: 'conflict' | 'shadowed' | undefined
  source?: string | undefined
}

/** Lists what a search finds, with the verdicts. In a trusted project, what acts in a skill is read. */
export async function listSkills(
  { runtime, settings }: Pick<Context, 'runtime' | 'settings'>,
  { all, precedence }: { all: boolean; precedence?: 'project' | 'user' | undefined },
): Promise<SkillList> {
  const configured = discoverOptionsFrom(runtime, settings)
  const options = precedence ? { ...configured, precedence } : configured
  const { skills, conflicts, shadowed, broken, diagnostics } = discoverSkills(options)
  const invalid = await invalidSkills(skills, runtime)
  const workspace = findWorkspace(runtime.cwd, runtime)
  const trustOf = trustOfMany(runtime, { ...options, workspace })
  let heldBack = 0
  const asTrusted = (info: SkillInfo): SkillInfo => {
    if (info.trustLevel !== 'trusted') return info
    const { level, code, reason, hint } = trustOf(info)
    if (level === 'trusted') return info
    heldBack++
    const message = `the skill is not trusted: ${reason}`
    const held = { code, severity: 'warning' as const, message, path: info.path, hint }
    return { ...info, trustLevel: level, diagnostics: [...info.diagnostics, held] }
  }
  const shown = (info: SkillInfo) => listed(asTrusted(info))
  const winners = new Map(
    skills.flatMap(({ path, shadows }) => shadows.map((shadow) => [shadow, path] as const)),
  )
  const hidden = shadowed.map((info) => ({
    ...shown(info),
    shadowedBy: winners.get(info.path),
    standing: 'shadowed' as const,
    source: info.source,
  }))
  return {
    skills: [
      ...skills.map((info) => ({ ...shown(info), invalid: invalid.get(info.path) })),
      ...conflicts.map((info) => ({ ...shown(info), standing: 'conflict' as const })),
      ...(all ? hidden : []),
    ],
    diagnostics,
    broken,
    shadowed: shadowed.length,
    heldBack,
  }
}

function listed(info: SkillInfo): ListedSkill {
  const { name, description, path, scope, trustLevel: trust, tokens, clients, diagnostics } = info
  const shadows = info.shadows.length > 0 ? info.shadows : undefined
  return { name, description, path, scope, trust, tokens, clients, shadows, diagnostics }
}
