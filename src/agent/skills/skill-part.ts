import type { Activation, InvocationSource } from '#library/activation'
import type { SkillManager } from '#library/manager'
import { alreadyActiveNote } from '#skill/catalog'
import type { AgentEnvironment } from '#agent/agent-options'
import { listNames } from '#agent/approval/tool-patterns'
import type { AgentSession, PromptContext, SessionPart } from '#agent/session'
import { splitSkill } from '#agent/subagents/skills'
import { toWireNames } from '#agent/tool'
import type { AfterTool, AgentTool } from '#agent/types'
import type { ActiveSkill, SkillContext } from './active-skills.ts'
import { SkillHooks } from './skill-hooks.ts'
import { SkillSet, typedSkill } from './skill-set.ts'
import { findingTools, resourceTools, skillCatalogue } from './skill-tools.ts'

interface AgentActions extends Pick<SkillContext, 'serverTools'> {
  fork: (activation: Activation, run: PromptContext) => Promise<string>
}

export const catalogTokens = 2000

const quiet: PromptContext = { onEvent: () => undefined, signal: undefined }

/**
 * The skills of an agent and its conversation. Everything that active skills allow, offer and run is
 * read off `#active`, so that ending an activation leaves exactly what was there before.
 */
export class SkillPart implements SessionPart {
  readonly set: SkillSet
  readonly manager: SkillManager
  readonly afterTool: AfterTool
  readonly #environment: AgentEnvironment
  readonly #fork: AgentActions['fork']
  readonly #hooks: SkillHooks
  readonly #active = new Map<string, ActiveSkill>()
  /** Start skills that were activated, and whether they still last. */
  readonly #started = new Map<string, boolean>()
  /** Content that went into the conversation in this turn; its history may not show it yet. */
  readonly #given = new Set<string>()
  /** Skills that were active when the last turn ended, for one that continues it. */
  #ended: readonly string[] = []
  #session: AgentSession | undefined
  #finding: readonly AgentTool[] = []
  #run = quiet

  constructor(environment: AgentEnvironment, { fork, serverTools }: AgentActions) {
    this.set = new SkillSet(environment, serverTools)
    this.manager = this.set.manager
    this.#environment = environment
    this.#fork = fork
    this.#hooks = new SkillHooks({
      ...this.set.context,
      mode: environment.options.permissionMode,
      skills: () => this.#skills,
      notice: (message) => this.#notice(message),
    })
    this.afterTool = this.#hooks.after
  }

  async ready() {
    await this.set.ready()
  }

  get rules() {
    return this.#hooks.rules
  }

  /** Directories of active trusted skills, which may be read without asking. */
  get directories() {
    return this.#skills
      .filter(({ activation }) => activation.trustLevel === 'trusted')
      .flatMap(({ skill }) => skill.info.directory || [])
  }

  async load(activation: Activation, signal?: AbortSignal) {
    return await this.set.load(activation, () => undefined, signal)
  }

  attach(session: AgentSession) {
    this.#session = session
  }

  /** The catalogue of the skills that the model may activate; every turn begins with it. */
  async instructions(): Promise<string> {
    const catalogue = skillCatalogue(await this.manager.list(), catalogTokens)
    this.#finding = findingTools(catalogue, {
      use: async (name, argumentText, { onEvent, signal }) =>
        (await this.use(name, argumentText, 'model', { onEvent, signal })).text,
      finish: async (name) => {
        this.#hooks.requireEndable(name)
        await this.end(name)
        return `The skill ${name} is not active any more.`
      },
    })
    return catalogue.text
  }

  async prompt(text: string, run: PromptContext): Promise<string> {
    this.#run = run
    this.#hooks.reset()
    const contents: string[] = []
    const { startSkills = [] } = this.#environment.options
    for (const { name, argumentText } of startSkills.map(splitSkill)) {
      if (this.#started.has(name)) continue
      contents.push((await this.use(name, argumentText, 'code')).text)
      this.#started.set(name, true)
    }
    const names = (await this.manager.list()).map(({ name }) => name)
    const typed = typedSkill(text, names)
    const used = typed && (await this.use(typed.name, typed.argumentText, 'user'))
    contents.push(used?.text ?? text)
    const isKnown = (one: string) => this.#session?.contains(one) === true
    const notice = (message: string) => this.#notice(message)
    return `${await this.set.references(text, isKnown, notice)}${contents.join('\n\n')}`
  }

  /** Skills of the turn, `name arguments`: what a turn that continues it begins with. */
  get ofTurn() {
    return this.#active.size === 0 ? this.#ended : this.#names()
  }

  set ofTurn(names: readonly string[]) {
    this.#ended = names
  }

  async resume(run: PromptContext): Promise<void> {
    this.#run = run
    this.#hooks.reset()
    for (const { name, argumentText } of this.#ended.map(splitSkill)) {
      if (!this.#active.has(name)) await this.use(name, argumentText, 'code')
    }
  }

  #names() {
    return this.#skills.map(({ activation: { name, arguments: given } }) =>
      `${name} ${given}`.trim(),
    )
  }

  tools(): readonly AgentTool[] {
    const resources = resourceTools(
      this.#skills.map(({ skill }) => skill),
      this.manager,
    )
    // Two skills may name one server.
    return [...this.#finding, ...resources, ...new Set(this.#skills.flatMap((one) => one.tools()))]
  }

  offers(tool: AgentTool): boolean {
    return (
      this.#finding.includes(tool) ||
      tool.name === 'skill_resource' ||
      this.rules.narrowed.every(({ tools }) => listNames(tools, tool))
    )
  }

  model() {
    return this.#hooks.model
  }

  async beforeStop(text: string) {
    return await this.#hooks.stop(text, this.#run.signal)
  }

  async turnEnded(): Promise<void> {
    this.#given.clear()
    this.#ended = this.#names()
    for (const name of this.#active.keys()) {
      if (this.#started.get(name) !== true) await this.end(name)
    }
    this.#run = quiet
  }

  /** Activates a skill; `answer` is its content, or what the subagent answered that it forks to. */
  async use(
    wanted: string,
    argumentText: string,
    source: InvocationSource,
    given: Partial<PromptContext> = {},
  ): Promise<{ text: string; answer: string }> {
    const { manager } = this
    const run = { ...this.#run, ...given }
    const notice = (message: string) => this.#notice(message, run)
    const prepared = await this.set.prepare(wanted, argumentText, source, notice, run.signal)
    const { activation, active: ready } = prepared
    const { name, content } = activation
    if (!ready) {
      this.#hooks.refuseFork(name)
      const answer = await this.#fork(activation, run)
      const text = `The skill ${name} was carried out by a subagent. Its answer:\n${answer}`
      return { text, answer }
    }
    this.#refuseCollisions(ready)
    this.#active.set(name, ready)
    await manager.activate(name, argumentText, { source })
    const isRepeated = this.#given.has(content) || this.#session?.contains(content)
    this.#given.add(content)
    run.onEvent({ type: 'skill', agent: this.#environment.name, name, active: true })
    const text = isRepeated ? alreadyActiveNote(name) : content
    return { text, answer: text }
  }

  async end(name: string): Promise<boolean> {
    await this.manager.deactivate(name)
    if (this.#started.has(name)) this.#started.set(name, false)
    if (!this.#active.delete(name)) return false
    this.#run.onEvent({ type: 'skill', agent: this.#environment.name, name, active: false })
    return true
  }

  get #skills() {
    return [...this.#active.values()]
  }

  #notice(message: string, run = this.#run) {
    run.onEvent({ type: 'notice', agent: this.#environment.name, message })
  }

  #refuseCollisions({ activation: { name }, tools }: ActiveSkill) {
    const others = (this.#session?.tools() ?? []).filter(
      ({ origin }) => origin.kind !== 'skill' || origin.skill !== name,
    )
    toWireNames([...new Set([...others, ...tools()])])
  }
}
