import { sha256 } from '../core/json.ts'
import { estimateTokens } from '../skill/catalog.ts'
import { SkillConflictError, SkillValidationError } from '../skill/errors.ts'
import type { SkillFields } from '../skill/model.ts'
import type { TrustPolicy } from '../trust/model.ts'
import { noFields } from './metadata.ts'
import { type DiscoverOptions, type LocationSearch, searchLocations } from './discover.ts'
import type { Discovery, Skill, SkillInfo } from './model.ts'
import { resolveNames, sameContent } from './resolve-names.ts'

/** What a manager knows: the last search, what the program added, and what it took away. */
interface Registry {
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
      found = searchLocations(options, policy)
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

/** A skill that a program makes. Everything but these three is optional. */
export interface SkillDefinition extends Partial<Omit<SkillFields, 'name' | 'description'>> {
  name: string
  description: string
  /** The instructions, in Markdown. */
  body: string
}

/**
 * A skill without a file: the program's own, and trusted.
 *
 * @throws {SkillValidationError} when the name or the description is not what the format asks for.
 * @example
 * manager.register(defineSkill({ name: 'greet', description: 'Greets people.', body: 'Say hi.' }))
 */
export function defineSkill(definition: SkillDefinition): Skill {
  const { name, description, body, ...fields } = definition
  refuseInvalid(name, description)
  return {
    info: {
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
    },
    body,
    digest: sha256(JSON.stringify([name, description, body])),
    resources: { files: [], truncated: false },
  }
}

/** A program that makes skills can be told at once what a file is only warned about. */
function refuseInvalid(name: string, description: string): void {
  const wrong = [
    /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && name.length <= 64
      ? undefined
      : `the name ${JSON.stringify(name)} must be 1 to 64 of a-z, 0-9 and single hyphens`,
    description.trim() !== '' && Array.from(description).length <= 1024
      ? undefined
      : 'the description must have 1 to 1024 characters',
  ].filter((sentence) => sentence !== undefined)
  if (wrong.length === 0) return
  throw new SkillValidationError({
    code: 'skill-definition',
    message: `The skill cannot be defined: ${wrong.join('; ')}.`,
    hint: 'https://agentskills.io/specification has the rules.',
  })
}

/** A tool that a program adds to a skill; it is offered while the skill is active. */
export interface SkillTool {
  /** Without the skill's name. */
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
  /** The name without the prefix. */
  toolName: string
}

/** The programmatic tools of all skills, in the order in which they were registered. */
interface SkillTools {
  /** @throws {SkillConflictError} when the skill has another tool of that name. */
  add(skill: string, tool: SkillTool): void
  remove(skill: string, tool?: string): void
  of(skill: string): OfferedTool[]
}

export function createSkillTools(options: { prefixed: boolean }): SkillTools {
  const tools = new Map<string, Map<string, SkillTool>>()
  return {
    add(skill, tool) {
      const own = tools.get(skill) ?? new Map<string, SkillTool>()
      const known = own.get(tool.name)
      if (known !== undefined && known !== tool) {
        throw new SkillConflictError({
          code: 'tool-conflict',
          message: `Skill ${skill} already has a tool called ${tool.name}.`,
          hint: 'Choose another name, or take the first one away with deregisterTool.',
        })
      }
      own.set(tool.name, tool)
      tools.set(skill, own)
    },
    remove(skill, tool) {
      if (tool === undefined) tools.delete(skill)
      else tools.get(skill)?.delete(tool)
    },
    of: (skill) =>
      Array.from(tools.get(skill)?.values() ?? [], (tool) => ({
        ...tool,
        execute: (input) => tool.execute(input),
        name: options.prefixed ? `${skill}.${tool.name}` : tool.name,
        toolName: tool.name,
        skill,
      })),
  }
}
