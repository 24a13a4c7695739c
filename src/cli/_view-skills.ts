import { basename, dirname } from 'node:path'
import { auditSkill } from '../audit/index.ts'
import { readRegularFile, resolveInside, sha256 } from '../base/index.ts'
import { planJson } from '../chain/index.ts'
import {
  type DiscoverOptions,
  type Discovery,
  discoverOptionsFrom,
  discoverSkills,
  maxSkillBytes,
  type SkillInfo,
} from '../library/index.ts'
import { defaultChainPolicy, SkillLoadError, SkillNotFoundError } from '../skill/index.ts'
import type { ViewWorld } from '../view/index.ts'
import { openProject, planNamed } from '../chain/commands/project.ts'
import { listSkills } from '../library/commands/list.ts'
import { showSkill, skillFacts } from '../library/commands/show.ts'
import { matchWhileTyping } from '../trigger/commands/match-while-typing.ts'
import type { CommandContext } from './command.ts'
import { contextOf } from './legacy.ts'

type SkillPart = 'skills' | 'skill' | 'skillText' | 'audit' | 'match' | 'chains' | 'plan'

/** What the view shows of skills, triggers and chains. */
export function skillWorld(context: CommandContext): Pick<ViewWorld, SkillPart> {
  const options = (): DiscoverOptions => discoverOptionsFrom(context.runtime, context.settings)
  return {
    skills: () => skillList(context),
    skill: (id) => skillAnswer(findInfo(id, discoverSkills(options())), options()),
    skillText: (id) => textOf(findPath(id, discoverSkills(options()))),
    audit(id) {
      const discovery = discoverSkills(options())
      const { directory, realDirectory } = findInfo(id, discovery)
      const others = discovery.skills
        .map(({ name, realDirectory: other }) => ({ name, directory: other }))
        .filter((other) => other.directory !== realDirectory)
      return auditSkill(directory, { others })
    },
    match: (prompt) => matchWhileTyping(context, prompt),
    chains: () => ({
      chains: discoverSkills(options()).skills.flatMap((info) => {
        const { name, description, path, trustLevel, fields } = info
        if (fields.chain === undefined) return []
        const steps = fields.chain.steps.length
        return [{ id: idOf(path), name, description, steps, trust: trustLevel }]
      }),
    }),
    plan(id) {
      const { directory } = findInfo(id, discoverSkills(options()))
      const { plan, diagnostics } = planNamed(openProject(contextOf(context)), directory, {
        set: [],
      })
      return { ...planJson(plan, diagnostics), defaults: { ...defaultChainPolicy } }
    },
  }
}

/** Stands for a path, whatever characters that has. */
function idOf(path: string): string {
  return sha256(path).slice('sha256:'.length, 'sha256:'.length + 16)
}

function skillList(context: CommandContext): ReturnType<ViewWorld['skills']> {
  const { skills, diagnostics, broken } = listSkills(context, { all: true })
  const withoutUse = broken.map(({ name, path, scope, diagnostics: found }) => ({
    id: idOf(path),
    name,
    description: found.find(({ severity }) => severity === 'error')?.message ?? '',
    path,
    scope,
    trust: 'broken',
    tokens: { metadata: 0, body: 0 },
    standing: 'broken' as const,
    diagnostics: found,
  }))
  const listed = skills.map((skill) => ({
    ...skill,
    id: idOf(skill.path),
    standing: skill.standing ?? ('used' as const),
  }))
  return { skills: [...listed, ...withoutUse], diagnostics }
}

function skillAnswer(info: SkillInfo, options: DiscoverOptions): ReturnType<ViewWorld['skill']> {
  const { trust, fields, ...skill } = showSkill(info, options)
  return {
    id: idOf(skill.path),
    name: skill.name,
    description: skill.description,
    path: skill.path,
    trust,
    trustReason: skill.trustReason,
    tokens: skill.tokens,
    facts: skillFacts({ ...skill, trust, fields }).filter(
      ([label]) => label !== 'trust' && label !== 'trigger',
    ),
    triggers: fields.triggers,
    isChain: fields.chain !== undefined,
    resources: skill.resources,
    resourcesTruncated: skill.resourcesTruncated,
    shadows: skill.shadows,
    diagnostics: skill.diagnostics,
  }
}

function findInfo(id: string, discovery: Discovery): SkillInfo {
  const { skills, shadowed, conflicts } = discovery
  const info = [...skills, ...shadowed, ...conflicts].find(({ path }) => idOf(path) === id)
  if (info !== undefined) return info
  const broken = discovery.broken.find(({ path }) => idOf(path) === id)
  if (broken === undefined) throw notFound()
  throw new SkillLoadError({
    code: 'skill-unusable',
    message: `the skill in ${broken.path} cannot be used: ${broken.diagnostics[0]?.message ?? ''}`,
    diagnostics: broken.diagnostics,
  })
}

function findPath(id: string, { skills, shadowed, conflicts, broken }: Discovery): string {
  const found = [...skills, ...shadowed, ...conflicts, ...broken].find(
    ({ path }) => idOf(path) === id,
  )
  if (found === undefined) throw notFound()
  return found.path
}

function notFound(): SkillNotFoundError {
  return new SkillNotFoundError({
    code: 'skill-not-found',
    message: 'there is no such skill any more',
    hint: 'Read the list again: it may have been moved or removed.',
  })
}

/** @throws {SkillLoadError} also for a link that leads out of the folder of the skill. */
function textOf(path: string): string {
  const inside = resolveInside(dirname(path), basename(path))
  const reading = inside.ok
    ? readRegularFile(inside.path, { maxBytes: maxSkillBytes, followSymlinks: false })
    : inside
  if (reading.ok) return reading.text
  throw new SkillLoadError({ code: reading.code, message: reading.message })
}
