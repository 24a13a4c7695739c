import type { Activation, InvocationSource } from '#library/activation'
import type { SkillManager } from '#library/manager'
import { alreadyActiveNote } from '#skill/catalog'
import type { AgentEnvironment } from '#agent/agent-options'
import { listNames } from '#agent/approval/tool-patterns'
import type { JoinedSession, PromptContext, SessionPart } from '#agent/session-contract'
import { toWireNames } from '#agent/tool'
import type { AfterTool, AgentTool } from '#agent/types'
import type { ActiveSkill, SkillContext } from './active-skills.ts'
import { SkillHooks } from './skill-hooks.ts'
import { SkillSet, splitSkill, typedSkill } from './skill-set.ts'
import { findingTools, resourceTools, skillCatalogue } from './skill-tools.ts'

interface AgentActions extends Pick<SkillContext, 'serverTools'> {
  /** Returns the conversation's ID for skills and hooks; undefined until the conversation is loaded. */
  sessionId: () => string | undefined
  /** Warns the program, even if no run has begun. */
  warn: (message: string) => void
  /** Lets a subagent carry out a skill. Returns its answer. */
  fork: (activation: Activation, run: PromptContext) => Promise<string>
}

export const catalogTokens = 2000

/** The context between two runs. */
const noRun: PromptContext = { onEvent: () => undefined, signal: undefined }

/**
 * Offers skills in the conversation of an agent. The approvals, tools and hooks of skills are derived
 * from `#active`, so that the end of an activation leaves nothing behind.
 */
export class SkillPart implements SessionPart {
  readonly set: SkillSet
  readonly manager: SkillManager
  readonly afterTool: AfterTool
  readonly sessionId: AgentActions['sessionId']
  readonly #environment: AgentEnvironment
  readonly #fork: AgentActions['fork']
  readonly #warn: AgentActions['warn']
  readonly #hooks: SkillHooks
  readonly #active = new Map<string, ActiveSkill>()
  /** The start skills that were activated; false once their activation has ended. */
  readonly #started = new Map<string, boolean>()
  /** Contents that this turn added; the history of the conversation may not show them yet. */
  readonly #addedContents = new Set<string>()
  /** Skills that were active at the end of the last turn, for a run that continues it. */
  #lastTurnSkills: readonly string[] = []
  #session: JoinedSession | undefined
  /** The tools that find and activate skills. */
  #findingTools: readonly AgentTool[] = []
  #run = noRun
  #trustWarning: Promise<void> | undefined

  constructor(environment: AgentEnvironment, { fork, serverTools, sessionId, warn }: AgentActions) {
    this.set = new SkillSet(environment, serverTools)
    this.manager = this.set.manager
    this.#environment = environment
    this.#fork = fork
    this.sessionId = sessionId
    this.#warn = warn
    this.#hooks = new SkillHooks({
      ...this.set.context,
      mode: environment.options.permissionMode,
      sessionId,
      skills: () => this.#skills,
      notice: (message) => this.#notice(message),
    })
    this.afterTool = this.#hooks.after
  }

  async ready() {
    await this.set.ready()
    this.#trustWarning ??= this.set.trustWarning().then((warning) => {
      if (warning !== undefined) this.#warn(warning)
    })
    await this.#trustWarning
  }

  get rules() {
    return this.#hooks.rules
  }

  /** Directories of active trusted skills, which can be read without an approval. */
  get directories() {
    return this.#skills
      .filter(({ activation }) => activation.trustLevel === 'trusted')
      .flatMap(({ skill }) => skill.info.directory || [])
  }

  async load(activation: Activation, signal?: AbortSignal) {
    return await this.set.load(activation, () => undefined, signal)
  }

  attach(session: JoinedSession) {
    this.#session = session
  }

  /** Returns the list of the skills that the model can activate. */
  async instructions(): Promise<string> {
    const catalogue = skillCatalogue(await this.manager.list(), catalogTokens)
    this.#findingTools = findingTools(catalogue, {
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

  /** Returns the prompt with references, and with the contents of start skills and of a typed `/skill`. */
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
    const typedRequest = typedSkill(text, names)
    const activation =
      typedRequest && (await this.use(typedRequest.name, typedRequest.argumentText, 'user'))
    contents.push(activation?.text ?? text)
    const isInConversation = (reference: string) => this.#session?.contains(reference) === true
    const notice = (message: string) => this.#notice(message)
    const references = await this.set.references(text, isInConversation, notice)
    return `${references}${contents.join('\n\n')}`
  }

  /** The active skills, `name arguments`; between runs, those of the last turn. */
  get turnSkills() {
    return this.#active.size === 0 ? this.#lastTurnSkills : this.#entries()
  }

  set turnSkills(entries: readonly string[]) {
    this.#lastTurnSkills = entries
  }

  async resume(run: PromptContext): Promise<void> {
    this.#run = run
    this.#hooks.reset()
    for (const { name, argumentText } of this.#lastTurnSkills.map(splitSkill)) {
      if (!this.#active.has(name)) await this.use(name, argumentText, 'code')
    }
  }

  #entries() {
    return this.#skills.map(({ activation }) => `${activation.name} ${activation.arguments}`.trim())
  }

  tools(): readonly AgentTool[] {
    const resources = resourceTools(
      this.#skills.map(({ skill }) => skill),
      this.manager,
    )
    // Two skills can name the same server.
    const skillTools = new Set(this.#skills.flatMap((skill) => skill.tools()))
    return [...this.#findingTools, ...resources, ...skillTools]
  }

  offers(tool: AgentTool): boolean {
    return (
      this.#findingTools.includes(tool) ||
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
    this.#addedContents.clear()
    this.#lastTurnSkills = this.#entries()
    for (const name of this.#active.keys()) {
      if (this.#started.get(name) !== true) await this.end(name)
    }
    this.#run = noRun
  }

  /**
   * Activates a skill, or lets a subagent carry it out.
   * @returns `answer` is the content of the skill or the subagent's answer, `text` the text for the model.
   */
  async use(
    skill: string,
    argumentText: string,
    source: InvocationSource,
    context: Partial<PromptContext> = {},
  ): Promise<{ text: string; answer: string }> {
    const { manager } = this
    const run = { ...this.#run, ...context }
    const notice = (message: string) => this.#notice(message, run)
    const options = { source, sessionId: this.sessionId() }
    const preparation = await this.set.prepare(skill, argumentText, options, notice, run.signal)
    const { activation, active } = preparation
    const { name, content } = activation
    if (!active) {
      this.#hooks.refuseFork(name)
      const answer = await this.#fork(activation, run)
      const text = `The skill ${name} was carried out by a subagent. Its answer:\n${answer}`
      return { text, answer }
    }
    this.#refuseCollisions(active)
    this.#active.set(name, active)
    await manager.activate(name, argumentText, options)
    const isRepeated = this.#addedContents.has(content) || this.#session?.contains(content)
    this.#addedContents.add(content)
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

  /** @throws {ToolNameError} if a tool of the skill has the name of another tool. */
  #refuseCollisions({ activation: { name }, tools }: ActiveSkill) {
    const otherTools = (this.#session?.tools() ?? []).filter(
      ({ origin }) => origin.kind !== 'skill' || origin.skill !== name,
    )
    toWireNames([...new Set([...otherTools, ...tools()])])
  }
}
