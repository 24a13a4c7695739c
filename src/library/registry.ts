import { sha256 } from '../core/json.ts'
import { estimateTokens } from '../core/text.ts'
import { SkillConflictError, SkillValidationError } from '../skill/errors.ts'
import type { SkillFields } from '../skill/model.ts'
import type { TrustPolicy } from '../trust/model.ts'
import { noFields } from './scan-location.ts'
import {
  type DiscoverOptions,
  type LocationSearch,
  resolveNames,
  sameContent,
  searchLocations,
  withOverlays,
} from './discover.ts'
import type { Discovery, Skill, SkillInfo } from './model.ts'

const nothing: LocationSearch = { candidates: [], broken: [], diagnostics: [] }

/** What a manager knows: the last search, what the program added, and what it took away. */
export class SkillRegistry {
  readonly #registered = new Map<string, SkillInfo>()
  readonly #inCode = new Map<string, Skill>()
  readonly #removed = new Set<string>()
  #found = nothing
  #overlaid: (discovery: Discovery) => Discovery = (discovery) => discovery
  #resolved: Discovery | undefined

  search(options: DiscoverOptions, policy: TrustPolicy): void {
    this.#found = searchLocations(options, policy)
    this.#overlaid = (discovery) => withOverlays(options.runtime, policy, discovery)
    this.#resolved = undefined
  }

  /** @throws {SkillConflictError} when another skill of that name was registered before. */
  add(info: SkillInfo, skill?: Skill): void {
    const { name } = info
    const known = this.#registered.get(name)
    if (known !== undefined && !this.#isSame(known, info, skill)) {
      const [first, second] = [known, info].map(({ path }) => path || 'made in code')
      const message = `A different skill called ${name} is registered already (${first}); ${second} cannot be added.`
      const hint = 'Deregister the first one, or give the second one another name.'
      throw new SkillConflictError({ code: 'skill-conflict', message, hint })
    }
    this.#registered.set(name, info)
    if (skill !== undefined && info.scope === 'code') this.#inCode.set(name, skill)
    this.#removed.delete(name)
    this.#resolved = undefined
  }

  /** False when there was no such skill. It stays away in later searches. */
  remove(name: string): boolean {
    const isRegistered = this.#registered.delete(name)
    this.#inCode.delete(name)
    const isFound = this.#found.candidates.some(({ info }) => info.name === name)
    const isListed = isFound && !this.#removed.has(name)
    if (isListed) this.#removed.add(name)
    this.#resolved = undefined
    return isRegistered || isListed
  }

  inCode(name: string): Skill | undefined {
    return this.#inCode.get(name)
  }

  /** What the program made comes first, then what was found, then what it named by path. */
  current(): Discovery {
    if (this.#resolved !== undefined) return this.#resolved
    const own = Array.from(this.#registered.values(), (info) => ({ info, place: 'registered' }))
    const { candidates, broken, diagnostics } = this.#found
    const names = resolveNames([
      ...own.filter(({ info }) => info.scope === 'code'),
      ...candidates.filter(({ info }) => !this.#removed.has(info.name)),
      ...own.filter(({ info }) => info.scope !== 'code'),
    ])
    this.#resolved = this.#overlaid({ ...names, broken, diagnostics })
    return this.#resolved
  }

  #isSame(known: SkillInfo, info: SkillInfo, skill: Skill | undefined): boolean {
    if (known.scope === 'code' || info.scope === 'code') {
      const before = this.#inCode.get(info.name)
      return before !== undefined && before.digest === skill?.digest
    }
    return known.realDirectory === info.realDirectory || sameContent(known, info)
  }
}

/** A skill that a program makes. Everything but these three is optional. */
export interface SkillDefinition extends Partial<Omit<SkillFields, 'name' | 'description'>> {
  name: string
  description: string
  body: string
}

/**
 * A skill without a file: the program's own, and trusted.
 * @throws {SkillValidationError} when the name or the description is not what the format asks for.
 * @example
 * manager.register(defineSkill({ name: 'greet', description: 'Greets people.', body: 'Say hi.' }))
 */
export function defineSkill(definition: SkillDefinition): Skill {
  const { name, description, body, ...fields } = definition
  refuseInvalid(name, description)
  const info: SkillInfo = {
    name,
    description,
    path: '',
    directory: '',
    realDirectory: '',
    scope: 'code',
    source: 'code',
    trustLevel: 'trusted',
    fields: { ...noFields, ...fields, name, description },
    size: Buffer.byteLength(body),
    mtimeMs: 0,
    tokens: { metadata: estimateTokens(name + description), body: estimateTokens(body) },
    shadows: [],
    diagnostics: [],
  }
  const digest = sha256(JSON.stringify([name, description, body]))
  return { info, body, digest, resources: { files: [], truncated: false } }
}

/** A program that makes skills can be told at once what a file is only warned about. */
function refuseInvalid(name: string, description: string): void {
  const isName = /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && name.length <= 64
  const isDescription = description.trim() !== '' && Array.from(description).length <= 1024
  if (isName && isDescription) return
  const aboutName = `the name ${JSON.stringify(name)} must be 1 to 64 of a-z, 0-9 and single hyphens`
  const wrong = [
    ...(isName ? [] : [aboutName]),
    ...(isDescription ? [] : ['the description must have 1 to 1024 characters']),
  ]
  const message = `The skill cannot be defined: ${wrong.join('; ')}.`
  const hint = 'https://agentskills.io/specification has the rules.'
  throw new SkillValidationError({ code: 'skill-definition', message, hint })
}

/** A tool that a program adds to a skill; it is offered while the skill is active. */
export interface SkillTool {
  name: string
  description?: string | undefined
  /** JSON Schema of the input; absent means that there is none. */
  inputSchema?: Readonly<Record<string, unknown>> | undefined
  execute(input: unknown): unknown
}

/** A tool as it is offered: under its full name, with where it comes from. */
export interface OfferedTool extends SkillTool {
  /** `skill.tool`, or the bare name where names are not prefixed. */
  name: string
  skill: string
  toolName: string
}
