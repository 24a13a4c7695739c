import { type Runtime, systemRuntime } from '#core/runtime'
import type { Validation } from '#skill/validate'
import { SkillConflictError, SkillValidationError } from '#skill/errors'
import { requireTrusted } from '#trust/skill-trust'
import {
  type Activation,
  type ActivePermissions,
  type InvocationSource,
  activateSkill,
  checkInvocation,
} from './activation.ts'
import {
  type DiscoverOptions,
  type LocationSearch,
  currentTrust,
  resolveNames,
  sameContent,
  searchLocations,
  trustPolicy,
  withOverlays,
} from './discover.ts'
import { loadSkill, selectSkill, skillAt, skillNotFound, validateSkillAt } from './find-skill.ts'
import { absolutePath } from './locations.ts'
import type { Discovery, Skill, SkillInfo } from './model.ts'
import { type Resource, readSkillResource } from './skill-files.ts'
import { sha256 } from '#core/json'
import { estimateTokens } from '#core/text'
import type { SkillFields } from '#skill/model'
import type { TrustPolicy } from '#trust/model'
import { noFields } from './scan-location.ts'

export interface SkillManagerOptions extends Omit<DiscoverOptions, 'runtime'> {
  /** Clock, environment, working directory and home; default: those of this process. */
  runtime?: Runtime | undefined
  /** Whether the first question searches by itself; default true. */
  autoDiscover?: boolean | undefined
  /** Whether tools are offered as `skill.tool`; default true. */
  namespaceTools?: boolean | undefined
}

export interface ActivateOptions {
  /** Default `code`. */
  source?: InvocationSource | undefined
  /** Whether the conversation still holds what the last activation returned; default false. */
  stillInContext?: boolean | undefined
}

/**
 * Finds skills, hands them out, and keeps track of which are active: metadata first, the body when a
 * skill is asked for, other files when they are.
 *
 * @example
 * const skills = new SkillManager({ workspaceTrust: 'trusted' })
 * const { content } = await skills.activate('code-review', 'src/index.ts', { source: 'user' })
 */
export class SkillManager {
  readonly #options: SkillManagerOptions & DiscoverOptions
  readonly #registered = new Map<string, SkillInfo>()
  readonly #inCode = new Map<string, Skill>()
  /** Names that the program took away: they stay away in later searches. */
  readonly #removed = new Set<string>()
  #found: LocationSearch & { policy?: TrustPolicy } = {
    candidates: [],
    broken: [],
    diagnostics: [],
  }
  /** What a question is answered with, until something changes. */
  #resolved: Discovery | undefined
  /** By name, in the order of their activation. */
  readonly #active = new Map<string, Activation>()
  /** By skill and name, in the order in which they were registered. */
  readonly #tools = new Map<string, Map<string, SkillTool>>()
  #searched = false

  constructor(options: SkillManagerOptions = {}) {
    this.#options = { ...options, runtime: options.runtime ?? systemRuntime() }
  }

  /** Searches again. What was registered stays. Never throws for what it finds. */
  async discover(): Promise<Discovery> {
    this.#searched = true
    const { policy, diagnostics } = trustPolicy(this.#options)
    this.#found = { ...searchLocations(this.#options, policy), policy }
    this.#resolved = undefined
    const discovery = this.#current()
    return { ...discovery, diagnostics: [...diagnostics, ...discovery.diagnostics] }
  }

  /**
   * Adds a skill: one made with `defineSkill`, one that another search found, or the path of one.
   * @throws {SkillConflictError} when a different skill of that name was registered before.
   * @throws {SkillNotFoundError | SkillParseError | SkillValidationError | SkillLoadError} for one
   *   that cannot be used, and for an object that `defineSkill` has not made.
   */
  async register(skill: Skill | SkillInfo | string): Promise<SkillInfo> {
    const found = typeof skill === 'string' ? skillAt(skill, this.#options) : skill
    const isMade = 'info' in found
    if (!('info' in found) && !('realDirectory' in found)) {
      const message = 'The object is not a skill that can be registered.'
      const hint = 'Make it with defineSkill({ name, description, body }).'
      throw new SkillValidationError({ code: 'skill-undefined', message, hint })
    }
    const { info } = isMade ? found : loadSkill(found)
    const { name } = info
    const known = this.#registered.get(name)
    if (known && !this.#isSame(known, info, isMade ? found : undefined)) {
      const [first, second] = [known, info].map(({ path }) => path || 'made in code')
      const message = `A different skill called ${name} is registered already (${first}); ${second} cannot be added.`
      throw new SkillConflictError({ code: 'skill-conflict', message })
    }
    this.#registered.set(name, info)
    if (isMade && info.scope === 'code') this.#inCode.set(name, found)
    this.#removed.delete(name)
    this.#resolved = undefined
    return info
  }

  /** Takes a skill away, with its tools and its activation. False when there was none. */
  async deregister(name: string): Promise<boolean> {
    await this.#discovery()
    this.#active.delete(name)
    this.#tools.delete(name)
    const isRegistered = this.#registered.delete(name)
    this.#inCode.delete(name)
    const isFound = this.#found.candidates.some(({ info }) => info.name === name)
    const isListed = isFound && !this.#removed.has(name)
    if (isListed) this.#removed.add(name)
    this.#resolved = undefined
    return isRegistered || isListed
  }

  /**
   * A skill with its body, or undefined when nothing has that name. `scope:name` reaches one that
   * is shadowed.
   * @throws {SkillConflictError | SkillParseError | SkillLoadError | SkillNotFoundError} when there
   * is one and it cannot be used, or is gone since it was found.
   */
  async get(name: string): Promise<Skill | undefined> {
    const info = selectSkill(await this.#discovery(), name)
    if (!info) return undefined
    return (info.scope === 'code' ? this.#inCode.get(info.name) : undefined) ?? loadSkill(info)
  }

  /** The metadata of every skill that can be used, in order of precedence. */
  async list(): Promise<readonly SkillInfo[]> {
    return (await this.#discovery()).skills
  }

  /**
   * Checks who asks, puts the arguments into the body, and returns what the model gets, with what
   * the skill may do while it is active.
   * @throws {SkillInvocationError} when the skill's own flags rule the source out.
   * @throws {SkillError} as {@link SkillManager.get}; {@link SkillNotFoundError} for no such skill.
   */
  async activate(name: string, args = '', options: ActivateOptions = {}): Promise<Activation> {
    const activation = await this.prepare(name, args, options)
    this.#active.set(activation.name, activation)
    return activation
  }

  /** {@link SkillManager.activate} for another conversation: nothing becomes active. Throws the same. */
  async prepare(name: string, args = '', options: ActivateOptions = {}): Promise<Activation> {
    const { source = 'code', stillInContext = false } = options
    const known = selectSkill(await this.#discovery(), name)
    if (known) checkInvocation(known, source)
    const skill = await this.#required(name)
    const { level } = currentTrust(skill.info, this.#options)
    return activateSkill({
      skill,
      source,
      arguments: args,
      trustLevel: level,
      inContext: stillInContext ? this.#active.get(skill.info.name) : undefined,
    })
  }

  /**
   * Passes when a skill can execute now, with everything of it that acts compared with what was accepted.
   * @param action as in "may not …": `run its script`.
   * @throws {SkillNotTrustedError} with the command that would allow it in `hint`; as
   *   {@link SkillManager.get}; {@link SkillNotFoundError} for no such skill.
   */
  async requireTrusted(name: string, action: string): Promise<void> {
    const { info } = await this.#required(name)
    requireTrusted(info, trustPolicy(this.#options).policy, action)
  }

  /** Ends an activation; tools and approvals are as if it had not been. False when not active. */
  async deactivate(name: string): Promise<boolean> {
    return this.#active.delete(name)
  }

  get activeSkills(): readonly string[] {
    return [...this.#active.keys()]
  }

  /** What the active skills allow together; computed anew, so that ending an activation leaves nothing. */
  permissions(): ActivePermissions {
    const effects = Array.from(this.#active.values(), (activation) => activation.effects)
    return {
      preApproved: effects.flatMap(({ preApproved }) => preApproved),
      narrowedTo: effects.flatMap(({ narrowedTo }) => (narrowedTo ? [narrowedTo] : [])),
    }
  }

  /** Checks a skill by the rules of the specification; `path` is its directory or `SKILL.md`. */
  async validate(path: string): Promise<Validation> {
    return validateSkillAt(absolutePath(this.#options.runtime, path))
  }

  /**
   * Adds a tool that a program implements to a skill; it is offered while the skill is active.
   * @throws {SkillConflictError} when the skill has another tool of that name.
   */
  registerTool(skill: string, tool: SkillTool): void {
    const own = this.#tools.get(skill) ?? new Map<string, SkillTool>()
    const known = own.get(tool.name)
    if (known && known !== tool) {
      const message = `Skill ${skill} already has a tool called ${tool.name}.`
      throw new SkillConflictError({ code: 'tool-conflict', message })
    }
    this.#tools.set(skill, own.set(tool.name, tool))
  }

  deregisterTool(skill: string, tool: string): void {
    this.#tools.get(skill)?.delete(tool)
  }

  /** The tools registered for one skill, active or not. */
  getTools(skill: string): OfferedTool[] {
    return Array.from(this.#tools.get(skill)?.values() ?? [], (tool) => ({
      ...tool,
      execute: (input) => tool.execute(input),
      name: this.#options.namespaceTools === false ? tool.name : `${skill}.${tool.name}`,
      toolName: tool.name,
      skill,
    }))
  }

  getAllTools(): OfferedTool[] {
    return this.activeSkills.flatMap((name) => this.getTools(name))
  }

  /** @throws {SkillLoadError} for anything outside the skill's directory, too large or no text. */
  async readResource(name: string, path: string): Promise<Resource> {
    const { info } = await this.#required(name)
    return readSkillResource(info, path)
  }

  async #discovery(): Promise<Discovery> {
    if (!this.#searched && this.#options.autoDiscover !== false) await this.discover()
    return this.#current()
  }

  /** What the program made comes first, then what was found, then what it named by path. */
  #current(): Discovery {
    if (this.#resolved) return this.#resolved
    const own = Array.from(this.#registered.values(), (info) => ({ info, place: 'registered' }))
    const { candidates, broken, diagnostics, policy } = this.#found
    const names = resolveNames([
      ...own.filter(({ info }) => info.scope === 'code'),
      ...candidates.filter(({ info }) => !this.#removed.has(info.name)),
      ...own.filter(({ info }) => info.scope !== 'code'),
    ])
    const discovery = { ...names, broken, diagnostics }
    const { runtime } = this.#options
    return (this.#resolved = policy ? withOverlays(runtime, policy, discovery) : discovery)
  }

  #isSame(known: SkillInfo, info: SkillInfo, skill: Skill | undefined): boolean {
    if (known.scope === 'code' || info.scope === 'code') {
      const before = this.#inCode.get(info.name)
      return before !== undefined && before.digest === skill?.digest
    }
    return known.realDirectory === info.realDirectory || sameContent(known, info)
  }

  async #required(name: string): Promise<Skill> {
    const skill = await this.get(name)
    if (skill) return skill
    throw skillNotFound(this.#current(), name, this.#options)
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
  const message = `The skill ${JSON.stringify(name)} cannot be defined: a name is 1 to 64 of a-z, 0-9 and single hyphens, a description 1 to 1024 characters.`
  throw new SkillValidationError({ code: 'skill-definition', message })
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
