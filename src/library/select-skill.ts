import {
  SkillConflictError,
  type SkillError,
  SkillLoadError,
  SkillNotFoundError,
  SkillParseError,
} from '../skill/index.ts'
import { nearest } from '../base/index.ts'
import type { SkillScope } from '../trust/index.ts'
import type { BrokenSkill, Discovery, SkillInfo } from './model.ts'

const scopes: readonly SkillScope[] = ['project', 'user', 'custom', 'code']

/**
 * The skill of a name, or of `scope:name`, which also reaches one that is shadowed.
 *
 * @returns undefined when nothing has that name.
 * @throws {SkillConflictError} when two different skills in one place have it.
 * @throws {SkillParseError | SkillLoadError} when the only skill of that name is broken.
 */
export function selectSkill(discovery: Discovery, reference: string): SkillInfo | undefined {
  const { scope, name } = splitReference(reference)
  const matches = (info: { name: string; scope: SkillScope }): boolean =>
    info.name === name && (scope === undefined || info.scope === scope)
  const contested = discovery.conflicts.filter(matches)
  if (contested.length > 0) throw conflict(name, contested)
  const found = discovery.skills.find(matches)
  if (found !== undefined) return found
  const shadowed = scope === undefined ? undefined : discovery.shadowed.find(matches)
  if (shadowed !== undefined) return shadowed
  const broken = discovery.broken.find(matches)
  if (broken !== undefined) throw brokenSkill(broken)
  return undefined
}

/** The sentence for a name that nothing has: what may have been meant, and where was looked. */
export function skillNotFound(
  discovery: Discovery,
  reference: string,
  places: readonly string[],
): SkillNotFoundError {
  const { name } = splitReference(reference)
  const { skills, conflicts, broken } = discovery
  const known = [...skills, ...conflicts, ...broken].map((skill) => skill.name)
  const meant = nearest(name, known)
  const suggestion = meant === undefined ? '' : `Did you mean ${meant}? `
  // It may lie where nobody could look.
  const diagnostics = discovery.diagnostics.filter(({ code }) => code === 'directory-unreadable')
  const looked = places.length === 0 ? '' : ` Looked in ${places.join(', ')}.`
  return new SkillNotFoundError({
    code: 'skill-not-found',
    message: `There is no skill called ${reference}.`,
    hint: `${suggestion}skillrail list shows what there is.${looked}`,
    diagnostics,
  })
}

/** The error for a skill that a search found and could not use. */
export function brokenSkill({ name, path, diagnostics }: BrokenSkill): SkillError {
  const [first] = diagnostics.filter(({ severity }) => severity === 'error')
  const facts = {
    code: first?.code ?? 'skill-broken',
    message: `Skill ${name} cannot be used: ${path} is broken.`,
    hint: `skillrail validate ${path} says what is wrong.`,
    diagnostics,
  }
  return first?.code.startsWith('file-') === true
    ? new SkillLoadError(facts)
    : new SkillParseError(facts)
}

function splitReference(reference: string): { scope: SkillScope | undefined; name: string } {
  const colon = reference.indexOf(':')
  const scope = scopes.find((candidate) => candidate === reference.slice(0, Math.max(0, colon)))
  return scope === undefined
    ? { scope, name: reference }
    : { scope, name: reference.slice(colon + 1) }
}

function conflict(name: string, contested: readonly SkillInfo[]): SkillConflictError {
  return new SkillConflictError({
    code: 'skill-conflict',
    message: `Two different skills in one place are called ${name}: ${contested.map(({ path }) => path).join(' and ')}.`,
    hint: 'Rename one of them, or give the path of the one you mean.',
  })
}
