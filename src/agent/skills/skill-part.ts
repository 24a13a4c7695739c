import type { LanguageModel } from 'ai'
import { messageOf } from '../../core/errors.ts'
import type { Activation, InvocationSource } from '../../library/activation.ts'
import { alreadyActiveNote } from '../../skill/catalog.ts'
import { SkillInvocationError } from '../../skill/errors.ts'
import type { CallRules } from '../approval/permit.ts'
import { listNames } from '../approval/tool-patterns.ts'
import type { AgentSession, PromptContext, SessionPart } from '../session.ts'
import type { PermissionMode } from '../subagents/config.ts'
import { toWireNames } from '../tool.ts'
import type { AgentEvent, AgentTool } from '../types.ts'
import { type ActiveSkill, activeSkill, type SkillContext } from './active-skills.ts'
import { promptReferences } from './prompt-references.ts'
import { SkillHooks } from './skill-hooks.ts'
import {
  resourceTool,
  searchSkillsTool,
  type SkillCatalogue,
  skillCatalogue,
  skillTool,
} from './skill-tools.ts'

export interface SkillPartOptions extends SkillContext {
  /** Whose conversation it is: `main`, or the name of a subagent. */
  agent: string
  /** Skills that are active from the first prompt on, until they are deactivated; `name arguments`. */
  start?: readonly string[] | undefined
  /** What hooks are told of it; default `default`. */
  mode?: PermissionMode | undefined
  /** Runs a skill in a subagent, and returns its answer. */
  fork: (activation: Activation, run: PromptContext) => Promise<string>
}

/** What an activation comes to: content for the conversation, or the answer of a subagent. */
type SkillUse =
  | { kind: 'content'; activation: Activation; content: string }
  | { kind: 'forked'; activation: Activation; answer: string }

/** Estimated tokens of the list of skills that the model gets. */
const catalogTokens = 2000
/** Estimated tokens of references that triggers put before one prompt. */
const referenceTokens = 10_000

const quiet: PromptContext = { onEvent: () => undefined, signal: undefined }

/**
 * The skills of one conversation. Everything that active skills allow, offer and run is read off
 * `#active`, so that ending an activation leaves exactly what was there before.
 */
export class SkillPart implements SessionPart {
  readonly #options: SkillPartOptions
  readonly #hooks: SkillHooks
  readonly #active = new Map<string, ActiveSkill>()
  /** Start skills that were activated, and those of them that have not been ended since. */
  readonly #started = new Set<string>()
  readonly #lasting = new Set<string>()
  /** Content that went into the conversation in this turn; its history may not show it yet. */
  readonly #given = new Set<string>()
  #session: AgentSession | undefined
  #catalogue: SkillCatalogue = { text: '', skills: [], incomplete: false }
  #finding: readonly AgentTool[] = []
  #run = quiet
  /** What active skills do to calls; belongs into `createPermit`. */
  readonly rules: CallRules

  constructor(options: SkillPartOptions) {
    this.#options = options
    this.#hooks = new SkillHooks({
      ...options,
      skills: () =>
        [...this.#active.values()].map(({ activation, skill, hooks }) => ({
          name: activation.name,
          directory: skill.info.directory,
          hooks,
        })),
      confirm: (name) => options.manager.requireTrusted(name, 'run its hooks'),
      notice: (message) => this.#notice(message),
    })
    this.rules = {
      preApproved: () => this.#effects().flatMap(({ preApproved }) => preApproved),
      narrowed: () => this.#narrowed(),
      beforeTool: (...call) => this.#hooks.before(...call),
    }
  }

  /** Directories of active trusted skills, which may be read without asking. */
  get directories(): readonly string[] {
    return [...this.#active.values()]
      .filter(({ activation }) => activation.trustLevel === 'trusted')
      .map(({ skill }) => skill.info.directory)
      .filter((directory) => directory !== '')
  }

  attach(session: AgentSession): void {
    this.#session = session
  }

  async instructions(): Promise<string> {
    await this.#refresh()
    return this.#catalogue.text
  }

  async prompt(text: string, run: PromptContext): Promise<string> {
    this.#run = run
    this.#hooks.reset()
    await this.#refresh()
    const contents: string[] = []
    for (const entry of this.#options.start ?? []) {
      const [, name = '', argumentText = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(entry) ?? []
      if (this.#started.has(name)) continue
      contents.push(textFor(await this.use(name, argumentText, 'code', run)))
      this.#started.add(name)
      this.#lasting.add(name)
    }
    const names = (await this.#options.manager.list()).map(({ name }) => name)
    const typed = typedSkill(text, names)
    contents.push(
      typed === undefined
        ? text
        : textFor(await this.use(typed.name, typed.argumentText, 'user', run)),
    )
    return `${await this.#references(text)}${contents.join('\n\n')}`
  }

  tools(): readonly AgentTool[] {
    const active = [...this.#active.values()]
    const withFiles = active
      .map(({ skill }) => skill)
      .filter((one) => one.resources.files.length > 0)
    const resources = withFiles.length === 0 ? [] : [resourceTool(withFiles, this.#options.manager)]
    // Two skills may name one server.
    return [...this.#finding, ...resources, ...new Set(active.flatMap((skill) => skill.tools()))]
  }

  offers(tool: AgentTool): boolean {
    return (
      this.#finding.includes(tool) ||
      tool.name === 'skill_resource' ||
      this.#narrowed().every(({ tools }) => listNames(tools, tool))
    )
  }

  model(): LanguageModel | undefined {
    return [...this.#active.values()].findLast(({ model }) => model !== undefined)?.model
  }

  get afterTool(): NonNullable<SessionPart['afterTool']> {
    return this.#hooks.after
  }

  async beforeStop(text: string): Promise<string | undefined> {
    return await this.#hooks.stop(text, this.#run.signal)
  }

  async turnEnded(): Promise<void> {
    this.#given.clear()
    for (const name of this.#active.keys()) {
      if (!this.#lasting.has(name)) await this.end(name)
    }
    this.#run = quiet
  }

  /**
   * Activates a skill, or runs it in a subagent.
   *
   * @throws {SkillError} as `SkillManager.activate`; {ToolNameError} when a tool of it would have the
   *   name of another one.
   */
  async use(
    name: string,
    argumentText: string,
    source: InvocationSource,
    given: Partial<PromptContext> = {},
  ): Promise<SkillUse> {
    const { agent, manager, fork } = this.#options
    const run = { ...this.#run, ...given }
    const notice = (message: string): void => run.onEvent({ type: 'notice', agent, message })
    const prepared = await manager.prepare(name, argumentText, { source })
    for (const { message } of prepared.diagnostics) notice(`Skill ${name}: ${message}.`)
    if (prepared.effects.fork !== undefined) {
      this.#refuseForkWhileNarrowed(prepared.name)
      return { kind: 'forked', activation: prepared, answer: await fork(prepared, run) }
    }
    const skill = await manager.get(prepared.name)
    if (skill === undefined) throw removed(name)
    const ready = await activeSkill(prepared, skill, this.#options, notice, run.signal)
    this.#refuseCollisions(ready)
    this.#active.set(prepared.name, ready)
    await manager.activate(prepared.name, argumentText, { source })
    const repeated =
      this.#given.has(prepared.content) || this.#session?.contains(prepared.content) === true
    this.#given.add(prepared.content)
    const content = repeated ? alreadyActiveNote(prepared.name) : prepared.content
    run.onEvent({ type: 'skill', agent, name: prepared.name, active: true })
    return { kind: 'content', activation: { ...prepared, repeated, content }, content }
  }

  /** False when it is not active. */
  async end(name: string): Promise<boolean> {
    await this.#options.manager.deactivate(name)
    this.#lasting.delete(name)
    if (!this.#active.delete(name)) return false
    this.#tell({ type: 'skill', agent: this.#options.agent, name, active: false })
    return true
  }

  #tell(event: AgentEvent): void {
    this.#run.onEvent(event)
  }

  #notice(message: string): void {
    this.#tell({ type: 'notice', agent: this.#options.agent, message })
  }

  async #refresh(): Promise<void> {
    const all = await this.#options.manager.list()
    this.#catalogue = skillCatalogue(all, catalogTokens)
    this.#finding = this.#findingTools()
  }

  /** The tools by which the model finds and activates skills, when there are any. */
  #findingTools(): AgentTool[] {
    const { skills, incomplete } = this.#catalogue
    if (skills.length === 0) return []
    const tool = skillTool(this.#catalogue, {
      use: async (name, argumentText, { onEvent, signal }) =>
        textFor(await this.use(name, argumentText, 'model', { onEvent, signal })),
      finish: (name) => this.#finish(name),
    })
    return incomplete ? [tool, searchSkillsTool(skills)] : [tool]
  }

  /** An untrusted skill could talk the model into removing what limits it. */
  async #finish(name: string): Promise<string> {
    if (this.#narrowed().some(({ skill }) => skill === name)) {
      return `Error: the untrusted skill ${name} limits the tools until the turn of the user ends.`
    }
    return (await this.end(name))
      ? `The skill ${name} is not active any more.`
      : `Error: the skill ${name} is not active.`
  }

  #effects(): Activation['effects'][] {
    return Array.from(this.#active.values(), ({ activation }) => activation.effects)
  }

  #narrowed(): ReturnType<CallRules['narrowed']> {
    return [...this.#active.values()].flatMap(({ activation: { name, effects } }) =>
      effects.narrowedTo === undefined ? [] : [{ skill: name, tools: effects.narrowedTo }],
    )
  }

  /** The limits of an untrusted skill would not hold in a subagent. */
  #refuseForkWhileNarrowed(name: string): void {
    const [narrowing] = this.#narrowed()
    if (narrowing === undefined) return
    throw new SkillInvocationError({
      code: 'fork-while-narrowed',
      message: `Skill ${name} runs in a subagent, and that is not started while the untrusted skill ${narrowing.skill} limits the tools.`,
      hint: 'It can run in the next turn.',
    })
  }

  /** @throws {ToolNameError} before anything becomes active. */
  #refuseCollisions({ activation, tools }: ActiveSkill): void {
    const active = [...this.#active.values()].flatMap((one) => one.tools())
    const ownNames = new Set(active.map(({ name }) => name))
    const others = (this.#session?.tools() ?? []).filter(
      ({ origin, name }) => origin.kind !== 'skill' || !ownNames.has(name),
    )
    const kept = [...this.#active.values()].filter((one) => one.activation.name !== activation.name)
    toWireNames([...new Set([...others, ...kept.flatMap((one) => one.tools()), ...tools()])])
  }

  async #references(prompt: string): Promise<string> {
    const { manager } = this.#options
    try {
      const found = await promptReferences(prompt, await manager.list(), {
        tokenBudget: referenceTokens,
        isPresent: (text) => this.#session?.contains(text) ?? false,
        confirm: (name) => manager.requireTrusted(name, 'put text before a prompt'),
      })
      for (const message of found.notices) this.#notice(message)
      return found.text
    } catch (error) {
      this.#notice(`References could not be looked for: ${messageOf(error)}`)
      return ''
    }
  }
}

/** What the model reads of a skill that was used. */
function textFor(used: SkillUse): string {
  if (used.kind === 'content') return used.content
  const { name } = used.activation
  return `The skill ${name} was carried out by a subagent. Its answer:\n${used.answer}`
}

/**
 * A skill that a user names: `/name arguments`, the arguments to the end of the prompt. Anything else,
 * and a name that no skill has, is a prompt like any other.
 */
export function typedSkill(
  prompt: string,
  names: readonly string[],
): { name: string; argumentText: string } | undefined {
  const match = /^\s*\/([\p{L}\p{N}][\p{L}\p{N}:-]*)(?:\s+([\s\S]*))?$/u.exec(prompt)
  const name = match?.[1]
  if (name === undefined || !names.includes(name)) return undefined
  return { name, argumentText: (match?.[2] ?? '').trim() }
}

function removed(name: string): SkillInvocationError {
  return new SkillInvocationError({
    code: 'skill-gone',
    message: `Skill ${name} was taken away while it was activated.`,
  })
}
