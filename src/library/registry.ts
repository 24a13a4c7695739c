import { SkillConflictError } from '../skill/index.ts'
import type { TrustPolicy } from '../trust/index.ts'
import { sameContent } from './_same-content.ts'
import {
  type DiscoverOptions,
  type LocationSearch,
  searchLocations,
  withFields,
} from './discover.ts'
import type { Discovery, Skill, SkillInfo } from './model.ts'
import { resolveNames } from './resolve-names.ts'

/** What a manager knows: the last search, what the program added, and what it took away. */
export interface Registry {
  search(options: DiscoverOptions, policy: TrustPolicy): LocationSearch
  /** @throws {SkillConflictError} when another skill of that name was registered before. */
  add(info: SkillInfo, skill?: Skill): void
  /** False when there was no such skill. It stays away in later searches. */
  remove(name: string): boolean
  /** The skill that a program made, which has no file to load it from. */
  inCode(name: string): Skill | undefined
  current(): Discovery
}

const nothing: LocationSearch = { candidates: [], broken: [], directories: [], diagnostics: [] }

export function createRegistry(): Registry {
  const registered = new Map<string, SkillInfo>()
  const inCode = new Map<string, Skill>()
  const removed = new Set<string>()
  let found = nothing
  let resolved: Discovery | undefined

  return {
    search(options, policy) {
      found = searchLocations(options, policy, withFields)
      resolved = undefined
      return found
    },

    add(info, skill) {
      const known = registered.get(info.name)
      if (known !== undefined && !isSame(known, info, inCode.get(info.name), skill)) {
        throw conflict(info, known)
      }
      registered.set(info.name, info)
      if (skill !== undefined && info.scope === 'code') inCode.set(info.name, skill)
      removed.delete(info.name)
      resolved = undefined
    },

    remove(name) {
      const known = registered.delete(name)
      inCode.delete(name)
      const listed = found.candidates.some(({ info }) => info.name === name) && !removed.has(name)
      if (listed) removed.add(name)
      resolved = undefined
      return known || listed
    },

    inCode: (name) => inCode.get(name),

    current: () => (resolved ??= resolve(found, [...registered.values()], removed)),
  }
}

/** What the program made comes first, then what was found, then what it named by path. */
function resolve(
  found: LocationSearch,
  registered: readonly SkillInfo[],
  removed: ReadonlySet<string>,
): Discovery {
  const own = registered.map((info) => ({ info, place: 'registered' }))
  const listed = found.candidates.filter(({ info }) => !removed.has(info.name))
  const names = resolveNames(
    [
      ...own.filter(({ info }) => info.scope === 'code'),
      ...listed,
      ...own.filter(({ info }) => info.scope !== 'code'),
    ],
    sameContent,
  )
  return { ...names, broken: found.broken, diagnostics: found.diagnostics }
}

function isSame(
  known: SkillInfo,
  info: SkillInfo,
  knownSkill: Skill | undefined,
  skill: Skill | undefined,
): boolean {
  if (known.scope === 'code' || info.scope === 'code') {
    return knownSkill !== undefined && knownSkill.digest === skill?.digest
  }
  return known.realDirectory === info.realDirectory || sameContent(known, info)
}

function conflict({ name, path }: SkillInfo, known: SkillInfo): SkillConflictError {
  return new SkillConflictError({
    code: 'skill-conflict',
    message: `A different skill called ${name} is registered already (${place(known.path)}); ${place(path)} cannot be added.`,
    hint: 'Deregister the first one, or give the second one another name.',
  })
}

function place(path: string): string {
  return path === '' ? 'made in code' : path
}
