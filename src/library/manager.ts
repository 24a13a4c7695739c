import {
  checkArgument,
  checkOptions,
  listOf,
  oneOf,
  type OptionOwner,
  optionsProblem,
  required,
  rule,
} from '#core/api-options'
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
  variablesFor,
  withOverlays,
} from './discover.ts'
import { loadSkill, selectSkill, skillAt, skillNotFound, validateSkillAt } from './find-skill.ts'
import { absolutePath, requireFolders } from './locations.ts'
import type { Discovery, Skill, SkillInfo } from './model.ts'
import { type Resource, readSkillResource } from './skill-files.ts'
import { isObject, sha256 } from '#core/json'
import { estimateTokens } from '#core/text'
import type { SkillFields } from '#skill/model'
import type { TrustPolicy } from '#trust/model'
import { noFields } from './scan-location.ts'

export interface SkillManagerOptions extends Omit<DiscoverOptions, 'runtime'> {
  /** Clock, environment, working directory and home; default: those of this process. */
  runtime?: Runtime | undefined
  /** Whether the first call searches by itself; default true. */
  autoDiscover?: boolean | undefined
  /** Whether tools are named `skill.tool`; default true. */
  namespaceTools?: boolean | undefined
}

export interface ActivateOptions {
  /** Default `code`. */
  source?: InvocationSource | undefined
  /** Whether the conversation still contains the content of the last activation; default false. */
  stillInContext?: boolean | undefined
  /** The conversation's ID, which replaces `${CLAUDE_SESSION_ID}`; default: the variable stays as text. */
  sessionId?: string | undefined
}

/**
 * Finds skills, loads them and tracks which skills are active. Reads metadata first, a body when a
 * caller gets the skill, and other files when a caller reads them.
 *
 * @example
 * const skills = new SkillManager({ workspaceTrust: 'trusted' })
 * const { content } = await skills.activate('code-review', 'src/index.ts', { source: 'user' })
 */
export class SkillManager {
  readonly #options: SkillManagerOptions & DiscoverOptions
  readonly #registered = new Map<string, SkillInfo>()
  readonly #inCode = new Map<string, Skill>()
  /** Names that the program deregistered: later searches leave them out. */
  readonly #removed = new Set<string>()
  #search: LocationSearch & { policy?: TrustPolicy } = {
    candidates: [],
    broken: [],
    diagnostics: [],
  }
  /** The resolved names, until something changes. */
  #resolved: Discovery | undefined
  /** By name, in order of activation. */
  readonly #active = new Map<string, Activation>()
  /** By skill and name, in order of registration. */
  readonly #tools = new Map<string, Map<string, SkillTool>>()
  #searched = false
  readonly #requiresFolders: boolean

  /** @throws {UsageError} for an unknown option or a value of a wrong type. */
  constructor(options?: SkillManagerOptions)
  /** With `false` a user named the folders: `list` reports missing ones. @internal */
  constructor(options: SkillManagerOptions, requiresFolders: boolean)
  constructor(options: SkillManagerOptions = {}, requiresFolders = true) {
    this.#requiresFolders = requiresFolders
    const checkedOptions = checkOptions(options, managerOptions)
    this.#options = { ...checkedOptions, runtime: checkedOptions.runtime ?? systemRuntime() }
  }

  /**
   * Searches again. Registered skills stay. Broken skills are diagnostics, not errors.
   * @throws {UsageError} for a folder in the options that does not exist.
   */
  async discover(): Promise<Discovery> {
    const { runtime, skillsDirs, userSkillsDir, customPaths, trustedPaths } = this.#options
    const user = userSkillsDir === undefined ? [] : [userSkillsDir]
    const folders = { skillsDirs, userSkillsDir: user, customPaths, trustedPaths }
    if (this.#requiresFolders) requireFolders(runtime, folders)
    this.#searched = true
    const { policy, diagnostics } = trustPolicy(this.#options)
    this.#search = { ...searchLocations(this.#options, policy), policy }
    this.#resolved = undefined
    const discovery = this.#current()
    return { ...discovery, diagnostics: [...diagnostics, ...discovery.diagnostics] }
  }

  /**
   * Adds a skill: the result of `defineSkill`, a skill from another search, or a path.
   * @throws {SkillConflictError} if a different skill of that name is registered.
   * @throws {SkillNotFoundError | SkillParseError | SkillValidationError | SkillLoadError} if the skill
   *   cannot be used, or the object is not a skill.
   */
  async register(skill: Skill | SkillInfo | string): Promise<SkillInfo> {
    if (typeof skill !== 'string' && !isObject(skill)) {
      checkArgument(skill, 'A skill to register', { form: 'a skill or a path', fits: () => false })
    }
    const path = typeof skill === 'string' ? skill : 'path' in skill ? skill.path : ''
    if (path !== '') requireFields(absolutePath(this.#options.runtime, path))
    const candidate = typeof skill === 'string' ? skillAt(skill, this.#options) : skill
    const isLoaded = 'info' in candidate
    if (!('info' in candidate) && !('realDirectory' in candidate)) {
      const message = 'The object is not a skill that can be registered.'
      const hint = 'Make it with defineSkill({ name, description, body }).'
      throw new SkillValidationError({ code: 'skill-undefined', message, hint })
    }
    const { info } = isLoaded ? candidate : loadSkill(candidate)
    const { name } = info
    const earlierSkill = this.#registered.get(name)
    if (earlierSkill && !this.#isSame(earlierSkill, info, isLoaded ? candidate : undefined)) {
      const [first, second] = [earlierSkill, info].map(({ path }) => path || 'made in code')
      const message = `A different skill called ${name} is registered already (${first}); ${second} cannot be added.`
      throw new SkillConflictError({ code: 'skill-conflict', message })
    }
    this.#registered.set(name, info)
    if (isLoaded && info.scope === 'code') this.#inCode.set(name, candidate)
    this.#removed.delete(name)
    this.#resolved = undefined
    return info
  }

  /** Removes a skill, with its tools and its activation. False if there is no such skill. */
  async deregister(name: string): Promise<boolean> {
    checkArgument(name, nameOfSkill, rule.text)
    await this.#discovery()
    this.#active.delete(name)
    this.#tools.delete(name)
    const isRegistered = this.#registered.delete(name)
    this.#inCode.delete(name)
    const isDiscovered = this.#search.candidates.some(({ info }) => info.name === name)
    const isListed = isDiscovered && !this.#removed.has(name)
    if (isListed) this.#removed.add(name)
    this.#resolved = undefined
    return isRegistered || isListed
  }

  /**
   * Returns a skill with its body, or undefined if no skill has the name. `scope:name` also reaches a
   * shadowed skill.
   * @throws {SkillConflictError | SkillParseError | SkillLoadError | SkillNotFoundError} if the skill
   *   cannot be used, or was removed after the search.
   */
  async get(name: string): Promise<Skill | undefined> {
    checkArgument(name, nameOfSkill, rule.text)
    const info = selectSkill(await this.#discovery(), name)
    if (!info) return undefined
    return (info.scope === 'code' ? this.#inCode.get(info.name) : undefined) ?? loadSkill(info)
  }

  /** Returns the metadata of every usable skill, in order of precedence. */
  async list(): Promise<readonly SkillInfo[]> {
    return (await this.#discovery()).skills
  }

  /**
   * Checks the source, inserts the arguments into the body, and returns the text for the model with
   * the permissions of the active skill.
   * @throws {SkillInvocationError} if the skill's own flags exclude the source.
   * @throws {SkillError} as {@link SkillManager.get}; {@link SkillNotFoundError} if there is no such skill.
   */
  async activate(name: string, args = '', options: ActivateOptions = {}): Promise<Activation> {
    const activation = await this.prepare(name, args, options)
    this.#active.set(activation.name, activation)
    return activation
  }

  /** Does the same as {@link SkillManager.activate}, but nothing becomes active here. Throws the same errors. */
  async prepare(name: string, args = '', options: ActivateOptions = {}): Promise<Activation> {
    checkArgument(name, nameOfSkill, rule.text)
    checkArgument(args, `The arguments of the skill ${name}`, rule.text)
    const checkedOptions = checkOptions(options, activateOptions)
    const { source = 'code', stillInContext = false, sessionId } = checkedOptions
    const info = selectSkill(await this.#discovery(), name)
    if (info) checkInvocation(info, source)
    const skill = await this.#required(name)
    const { level } = currentTrust(skill.info, this.#options)
    return activateSkill({
      skill,
      source,
      arguments: args,
      trustLevel: level,
      variables: { ...variablesFor(skill.info, this.#options), session: sessionId },
      inContext: stillInContext ? this.#active.get(skill.info.name) : undefined,
    })
  }

  /**
   * Throws unless a skill can execute now. Compares all acting parts with the accepted ones.
   * @param action as in "may not …": `run its script`.
   * @throws {SkillNotTrustedError} `hint` has the command that would allow the action.
   * @throws {SkillError} as {@link SkillManager.get}; {@link SkillNotFoundError} if there is no such skill.
   */
  async requireTrusted(name: string, action: string): Promise<void> {
    const { info } = await this.#required(name)
    requireTrusted(info, trustPolicy(this.#options).policy, action)
  }

  /** Ends an activation with its tools and approvals. False if the skill is not active. */
  async deactivate(name: string): Promise<boolean> {
    return this.#active.delete(name)
  }

  get activeSkills(): readonly string[] {
    return [...this.#active.keys()]
  }

  /** Returns the permissions of all active skills together. */
  permissions(): ActivePermissions {
    const effects = Array.from(this.#active.values(), (activation) => activation.effects)
    return {
      preApproved: effects.flatMap(({ preApproved }) => preApproved),
      narrowedTo: effects.flatMap(({ narrowedTo }) => (narrowedTo ? [narrowedTo] : [])),
    }
  }

  /** Validates a skill against the specification. @param path its directory or `SKILL.md`. */
  async validate(path: string): Promise<Validation> {
    checkArgument(path, 'The path of a skill', rule.text)
    return validateSkillAt(absolutePath(this.#options.runtime, path))
  }

  /**
   * Adds a program's tool to a skill. The tool is available while the skill is active.
   * @throws {SkillConflictError} if the skill has another tool of that name.
   */
  registerTool(skill: string, tool: SkillTool): void {
    checkArgument(skill, nameOfSkill, rule.text)
    checkOptions(tool, toolOptions)
    const tools = this.#tools.get(skill) ?? new Map<string, SkillTool>()
    const earlierTool = tools.get(tool.name)
    if (earlierTool && earlierTool !== tool) {
      const message = `Skill ${skill} already has a tool called ${tool.name}.`
      throw new SkillConflictError({ code: 'tool-conflict', message })
    }
    this.#tools.set(skill, tools.set(tool.name, tool))
  }

  deregisterTool(skill: string, tool: string): void {
    this.#tools.get(skill)?.delete(tool)
  }

  /** Returns the tools of one skill, active or not. */
  getTools(skill: string): OfferedTool[] {
    return Array.from(this.#tools.get(skill)?.values() ?? [], (tool) => ({
      ...tool,
      execute: (input) => tool.execute(input),
      name: this.#options.namespaceTools === false ? tool.name : `${skill}.${tool.name}`,
      toolName: tool.name,
      skill,
    }))
  }

  /** Returns the tools of all active skills. */
  getAllTools(): OfferedTool[] {
    return this.activeSkills.flatMap((name) => this.getTools(name))
  }

  /** @throws {SkillLoadError} if the file is outside the skill's directory, too large or not text. */
  async readResource(name: string, path: string): Promise<Resource> {
    checkArgument(path, 'The path of a resource', rule.text)
    const { info } = await this.#required(name)
    return readSkillResource(info, path)
  }

  async #discovery(): Promise<Discovery> {
    if (!this.#searched && this.#options.autoDiscover !== false) await this.discover()
    return this.#current()
  }

  /** Precedence: skills that the program defined, then discovered skills, then skills registered by path. */
  #current(): Discovery {
    if (this.#resolved) return this.#resolved
    const registeredSkills = Array.from(this.#registered.values(), (info) => ({
      info,
      place: 'registered',
    }))
    const { candidates, broken, diagnostics, policy } = this.#search
    const names = resolveNames([
      ...registeredSkills.filter(({ info }) => info.scope === 'code'),
      ...candidates.filter(({ info }) => !this.#removed.has(info.name)),
      ...registeredSkills.filter(({ info }) => info.scope !== 'code'),
    ])
    const discovery = { ...names, broken, diagnostics }
    const { runtime } = this.#options
    return (this.#resolved = policy ? withOverlays(runtime, policy, discovery) : discovery)
  }

  #isSame(earlierSkill: SkillInfo, info: SkillInfo, skill: Skill | undefined): boolean {
    if (earlierSkill.scope === 'code' || info.scope === 'code') {
      const codeSkill = this.#inCode.get(info.name)
      return codeSkill !== undefined && codeSkill.digest === skill?.digest
    }
    return earlierSkill.realDirectory === info.realDirectory || sameContent(earlierSkill, info)
  }

  async #required(name: string): Promise<Skill> {
    const skill = await this.get(name)
    if (skill) return skill
    throw skillNotFound(this.#current(), name, this.#options)
  }
}

const nameOfSkill = 'The name of a skill'

const managerOptions: OptionOwner<SkillManagerOptions> = {
  of: 'a SkillManager',
  rules: {
    runtime: rule.object,
    skillsDirs: rule.texts,
    userSkillsDir: rule.text,
    customPaths: rule.texts,
    trustedPaths: rule.texts,
    precedence: oneOf('project', 'user'),
    workspaceTrust: oneOf('ask', 'trusted'),
    useIndex: rule.flag,
    autoDiscover: rule.flag,
    namespaceTools: rule.flag,
  },
}

const activateOptions: OptionOwner<ActivateOptions> = {
  of: 'an activation',
  rules: {
    source: oneOf('user', 'model', 'code'),
    stillInContext: rule.flag,
    sessionId: rule.text,
  },
}

const toolOptions: OptionOwner<SkillTool> = {
  of: 'a tool of a skill',
  rules: {
    name: required(rule.text),
    description: rule.text,
    inputSchema: rule.object,
    execute: required(rule.callback),
  },
}

/** @throws {SkillValidationError} if the skill file lacks a required field. */
function requireFields(path: string): void {
  const missing = validateSkillAt(path).diagnostics.filter(({ code }) =>
    ['name-missing', 'description-missing'].includes(code),
  )
  const [first] = missing
  if (!first) return
  const fields = missing.map(({ code }) => code.replace('-missing', '')).join(' and ')
  const message = `The skill ${first.path} cannot be registered: ${fields} ${missing.length > 1 ? 'are' : 'is'} missing.`
  const hint = `skillrail validate ${first.path} shows the errors.`
  throw new SkillValidationError({ code: first.code, message, hint, diagnostics: missing })
}

/** A skill that a program defines. All other fields are optional. */
export interface SkillDefinition extends Partial<Omit<SkillFields, 'name' | 'description'>> {
  name: string
  description: string
  body: string
}

/**
 * Defines a skill without a file. The skill is trusted, because the program vouches for it.
 * @throws {SkillValidationError} if the name or the description is invalid.
 * @example
 * manager.register(defineSkill({ name: 'greet', description: 'Greets people.', body: 'Say hi.' }))
 */
export function defineSkill(definition: SkillDefinition): Skill {
  const { name, description, body, ...fields } = checkDefinition(definition)
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
    linkedFrom: [],
    clients: [],
    diagnostics: [],
  }
  const digest = sha256(JSON.stringify([name, description, body]))
  return { info, body, digest, resources: { files: [], truncated: false } }
}

const definitionOptions: OptionOwner<SkillDefinition> = {
  of: 'a skill',
  rules: {
    name: required(rule.text),
    description: required(rule.text),
    body: required(rule.text),
    whenToUse: rule.text,
    license: rule.text,
    compatibility: rule.text,
    metadata: rule.object,
    allowedTools: listOf('tools as `parseSkill` returns them', isObject),
    triggers: listOf('triggers', isObject),
    chain: rule.object,
    run: rule.text,
    sandbox: { form: 'true', fits: (value) => value === true },
    model: rule.text,
    context: oneOf('fork'),
    agent: rule.text,
    disableModelInvocation: rule.flag,
    userInvocable: rule.flag,
    argumentHint: rule.text,
    arguments: rule.texts,
    hooks: rule.anything,
  },
}

function checkDefinition(definition: SkillDefinition): SkillDefinition {
  const problem = optionsProblem(definition, definitionOptions)
  if (problem) throw new SkillValidationError({ code: 'skill-definition', ...problem })
  return checkOptions(definition, definitionOptions)
}

/** Problems that are warnings in a file are errors here: the program can fix them at once. */
function refuseInvalid(name: string, description: string): void {
  const isName = /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && name.length <= 64
  const isDescription = description.trim() !== '' && Array.from(description).length <= 1024
  if (isName && isDescription) return
  const message = `The skill ${JSON.stringify(name)} cannot be defined: a name is 1 to 64 of a-z, 0-9 and single hyphens, a description 1 to 1024 characters.`
  throw new SkillValidationError({ code: 'skill-definition', message })
}

/** A tool that a program adds to a skill. The tool is available while the skill is active. */
export interface SkillTool {
  name: string
  description?: string | undefined
  /** JSON Schema of the input; undefined if the tool has no input. */
  inputSchema?: Readonly<Record<string, unknown>> | undefined
  execute(input: unknown): unknown
}

/** A tool with its full name and its skill. */
export interface OfferedTool extends SkillTool {
  /** `skill.tool`, or the bare name without `namespaceTools`. */
  name: string
  skill: string
  toolName: string
}
