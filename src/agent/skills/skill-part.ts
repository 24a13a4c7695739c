import { messageOf } from '../../core/errors.ts'
import type { Activation, InvocationSource } from '../../library/activation.ts'
import { alreadyActiveNote } from '../../skill/catalog.ts'
import { SkillInvocationError } from '../../skill/errors.ts'
import type { CallRules } from '../approval/permit.ts'
import { listNames } from '../approval/tool-patterns.ts'
import type { AgentSession, PromptContext, SessionPart } from '../session.ts'
import type { PermissionMode } from '../subagents/config.ts'
import { splitSkill } from '../subagents/skills.ts'
import { toWireNames } from '../tool.ts'
import type { AfterTool, AgentEvent, AgentTool, ModelObject } from '../types.ts'
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
  agent: string
  /** Skills that are active from the first prompt on, until they are deactivated; `name arguments`. */
  start?: readonly string[] | undefined
  mode?: PermissionMode | undefined
  fork: (activation: Activation, run: PromptContext) => Promise<string>
}

interface SkillUse {
  text: string
  answer: string
}

const catalogTokens = 2000
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
  readonly rules: CallRules
  readonly afterTool: AfterTool

  constructor(options: SkillPartOptions) {
    this.#options = options
    this.#hooks = new SkillHooks({
      ...options,
      skills: () =>
        this.#skills.map(({ activation: { name }, skill, hooks }) => {
          return { name, directory: skill.info.directory, hooks }
        }),
      confirm: (name) => options.manager.requireTrusted(name, 'run its hooks'),
      notice: (message) => this.#notice(message),
    })
    this.rules = {
      preApproved: () => this.#skills.flatMap(({ activation }) => activation.effects.preApproved),
      narrowed: () => this.#narrowed(),
      beforeTool: (...call) => this.#hooks.before(...call),
    }
    this.afterTool = this.#hooks.after
  }

  /** Directories of active trusted skills, which may be read without asking. */
  get directories(): readonly string[] {
    return this.#skills
      .filter(({ activation }) => activation.trustLevel === 'trusted')
      .flatMap(({ skill }) => skill.info.directory || [])
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
    for (const { name, argumentText } of (this.#options.start ?? []).map(splitSkill)) {
      if (this.#started.has(name)) continue
      contents.push((await this.use(name, argumentText, 'code', run)).text)
      this.#started.add(name)
      this.#lasting.add(name)
    }
    const names = (await this.#options.manager.list()).map(({ name }) => name)
    const typed = typedSkill(text, names)
    const used = typed && (await this.use(typed.name, typed.argumentText, 'user', run))
    contents.push(used?.text ?? text)
    return `${await this.#references(text)}${contents.join('\n\n')}`
  }

  tools(): readonly AgentTool[] {
    const withFiles = this.#skills.flatMap(({ skill }) =>
      skill.resources.files.length > 0 ? [skill] : [],
    )
    const resources = withFiles.length === 0 ? [] : [resourceTool(withFiles, this.#options.manager)]
    // Two skills may name one server.
    return [...this.#finding, ...resources, ...new Set(this.#skills.flatMap((one) => one.tools()))]
  }

  offers(tool: AgentTool): boolean {
    return (
      this.#finding.includes(tool) ||
      tool.name === 'skill_resource' ||
      this.#narrowed().every(({ tools }) => listNames(tools, tool))
    )
  }

  model(): ModelObject | undefined {
    return this.#skills.findLast(({ model }) => model !== undefined)?.model
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

  async use(
    wanted: string,
    argumentText: string,
    source: InvocationSource,
    given: Partial<PromptContext> = {},
  ): Promise<SkillUse> {
    const { agent, manager, fork } = this.#options
    const run = { ...this.#run, ...given }
    const notice = (message: string): void => run.onEvent({ type: 'notice', agent, message })
    const prepared = await manager.prepare(wanted, argumentText, { source })
    const { name, content, effects, diagnostics } = prepared
    for (const { message } of diagnostics) notice(`Skill ${wanted}: ${message}.`)
    if (effects.fork !== undefined) {
      this.#refuseForkWhileNarrowed(name)
      const answer = await fork(prepared, run)
      const text = `The skill ${name} was carried out by a subagent. Its answer:\n${answer}`
      return { text, answer }
    }
    const skill = await manager.get(name)
    if (skill === undefined) {
      throw new SkillInvocationError({
        code: 'skill-gone',
        message: `Skill ${wanted} was taken away while it was activated.`,
      })
    }
    const ready = await activeSkill(prepared, skill, this.#options, notice, run.signal)
    this.#refuseCollisions(ready)
    this.#active.set(name, ready)
    await manager.activate(name, argumentText, { source })
    const isRepeated = this.#given.has(content) || this.#session?.contains(content) === true
    this.#given.add(content)
    run.onEvent({ type: 'skill', agent, name, active: true })
    const text = isRepeated ? alreadyActiveNote(name) : content
    return { text, answer: text }
  }

  async end(name: string): Promise<boolean> {
    await this.#options.manager.deactivate(name)
    this.#lasting.delete(name)
    if (!this.#active.delete(name)) return false
    this.#tell({ type: 'skill', agent: this.#options.agent, name, active: false })
    return true
  }

  get #skills(): ActiveSkill[] {
    return [...this.#active.values()]
  }

  #tell(event: AgentEvent): void {
    this.#run.onEvent(event)
  }

  #notice(message: string): void {
    this.#tell({ type: 'notice', agent: this.#options.agent, message })
  }

  async #refresh(): Promise<void> {
    this.#catalogue = skillCatalogue(await this.#options.manager.list(), catalogTokens)
    const { skills, incomplete } = this.#catalogue
    const tool = skillTool(this.#catalogue, {
      use: async (name, argumentText, { onEvent, signal }) =>
        (await this.use(name, argumentText, 'model', { onEvent, signal })).text,
      finish: (name) => this.#finish(name),
    })
    this.#finding = [
      ...(skills.length > 0 ? [tool] : []),
      ...(incomplete ? [searchSkillsTool(skills)] : []),
    ]
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

  #narrowed(): ReturnType<CallRules['narrowed']> {
    return this.#skills.flatMap(({ activation: { name, effects } }) =>
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

  #refuseCollisions({ activation, tools }: ActiveSkill): void {
    const ofSkills = this.#skills.flatMap((one) => one.tools())
    const names = new Set(ofSkills.map(({ name }) => name))
    const others = (this.#session?.tools() ?? []).filter(
      ({ origin, name }) => origin.kind !== 'skill' || !names.has(name),
    )
    const kept = this.#skills.filter((one) => one.activation.name !== activation.name)
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
