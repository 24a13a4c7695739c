import { messageOf } from '../../core/errors.ts'
import type { Activation, InvocationSource } from '../../library/activation.ts'
import { discoverSkills } from '../../library/discover.ts'
import { SkillManager } from '../../library/manager.ts'
import type { Skill, SkillInfo } from '../../library/model.ts'
import { alreadyActiveNote } from '../../skill/catalog.ts'
import { SkillInvocationError, SkillNotFoundError } from '../../skill/errors.ts'
import { planInjection, renderInjection } from '../../trigger/inject.ts'
import { matchTriggers } from '../../trigger/examples.ts'
import { SkillNotTrustedError } from '../../trust/decide.ts'
import type { AgentEnvironment } from '../agent-options.ts'
import type { CallRules } from '../approval/permit.ts'
import { listNames } from '../approval/tool-patterns.ts'
import type { AgentSession, PromptContext, SessionPart } from '../session.ts'
import { splitSkill } from '../subagents/skills.ts'
import { toWireNames } from '../tool.ts'
import type { AfterTool, AgentTool, ModelObject } from '../types.ts'
import { type ActiveSkill, activeSkill, rulesOf, type SkillContext } from './active-skills.ts'
import { SkillHooks } from './skill-hooks.ts'
import { findingTools, resourceTools, skillCatalogue } from './skill-tools.ts'

interface AgentActions extends Pick<SkillContext, 'serverTools'> {
  fork: (activation: Activation, run: PromptContext) => Promise<string>
}

const catalogTokens = 2000
const referenceTokens = 10_000

const quiet: PromptContext = { onEvent: () => undefined, signal: undefined }

/**
 * The skills of an agent and its conversation. Everything that active skills allow, offer and run is
 * read off `#active`, so that ending an activation leaves exactly what was there before.
 */
export class SkillPart implements SessionPart {
  readonly manager: SkillManager
  readonly afterTool: AfterTool
  readonly #environment: AgentEnvironment
  readonly #fork: AgentActions['fork']
  readonly #context: SkillContext
  readonly #hooks: SkillHooks
  readonly #registered: Promise<PromiseSettledResult<unknown>[]>
  #ready: Promise<void> | undefined
  readonly #active = new Map<string, ActiveSkill>()
  /** Start skills that were activated, and those of them that have not been ended since. */
  readonly #started = new Set<string>()
  readonly #lasting = new Set<string>()
  /** Content that went into the conversation in this turn; its history may not show it yet. */
  readonly #given = new Set<string>()
  #session: AgentSession | undefined
  #finding: readonly AgentTool[] = []
  #run = quiet

  /** Searches for nothing yet; what was given in code is registered at once. */
  constructor(environment: AgentEnvironment, { fork, serverTools }: AgentActions) {
    const { runtime, project, settings, places, options } = environment
    const { discover = true, skillDirs = [], skills = [], permissionMode: mode } = options
    const manager = new SkillManager({
      ...places,
      customPaths: [...skillDirs, ...(discover ? settings.skills.paths : [])],
      autoDiscover: discover,
    })
    this.manager = manager
    this.#environment = environment
    this.#fork = fork
    this.#context = {
      manager,
      runtime,
      project,
      environment: settings.run.environment,
      serverTools,
      resolveModel: (wanted) => environment.resolveModel(wanted),
    }
    this.#hooks = new SkillHooks({
      ...this.#context,
      mode,
      skills: () => this.#skills,
      notice: (message) => this.#notice(message),
    })
    this.afterTool = this.#hooks.after
    // In order and to the end, so that one that cannot be used hides none of the others.
    const given = skills.filter((skill) => !isName(skill))
    this.#registered = Promise.allSettled(given.map((skill) => manager.register(skill)))
  }

  /** Waits until the skills that were given are registered. */
  async ready(): Promise<void> {
    this.#ready ??= this.#prepare()
    await this.#ready
  }

  get rules(): CallRules {
    return { ...rulesOf(this.#skills), beforeTool: (...call) => this.#hooks.before(...call) }
  }

  /** Directories of active trusted skills, which may be read without asking. */
  get directories(): readonly string[] {
    return this.#skills
      .filter(({ activation }) => activation.trustLevel === 'trusted')
      .flatMap(({ skill }) => skill.info.directory || [])
  }

  /** What an activation brings along, for a subagent that has the skill. */
  async load(activation: Activation, signal?: AbortSignal): Promise<ActiveSkill[]> {
    const skill = await this.manager.get(activation.name)
    if (skill === undefined) return []
    return [await activeSkill(activation, skill, this.#context, () => undefined, signal)]
  }

  attach(session: AgentSession): void {
    this.#session = session
  }

  async instructions(): Promise<string> {
    return await this.#refresh()
  }

  async prompt(text: string, run: PromptContext): Promise<string> {
    this.#run = run
    this.#hooks.reset()
    await this.#refresh()
    const contents: string[] = []
    const { startSkills = [] } = this.#environment.options
    for (const { name, argumentText } of startSkills.map(splitSkill)) {
      if (this.#started.has(name)) continue
      contents.push((await this.use(name, argumentText, 'code')).text)
      this.#started.add(name)
      this.#lasting.add(name)
    }
    const names = (await this.manager.list()).map(({ name }) => name)
    const typed = typedSkill(text, names)
    const used = typed && (await this.use(typed.name, typed.argumentText, 'user'))
    contents.push(used?.text ?? text)
    return `${await this.#references(text)}${contents.join('\n\n')}`
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

  /** Activates a skill; `answer` is its content, or what the subagent answered that it forks to. */
  async use(
    wanted: string,
    argumentText: string,
    source: InvocationSource,
    given: Partial<PromptContext> = {},
  ): Promise<{ text: string; answer: string }> {
    const { manager } = this
    const run = { ...this.#run, ...given }
    const notice = (message: string): void => this.#notice(message, run)
    const prepared = await manager.prepare(wanted, argumentText, { source })
    const { name, content, effects, diagnostics } = prepared
    for (const { message } of diagnostics) notice(`Skill ${wanted}: ${message}.`)
    if (effects.fork !== undefined) {
      this.#refuseForkWhileNarrowed(name)
      const answer = await this.#fork(prepared, run)
      const text = `The skill ${name} was carried out by a subagent. Its answer:\n${answer}`
      return { text, answer }
    }
    const skill = await manager.get(name)
    if (skill === undefined) {
      const message = `Skill ${wanted} was taken away while it was activated.`
      throw new SkillInvocationError({ code: 'skill-gone', message })
    }
    const ready = await activeSkill(prepared, skill, this.#context, notice, run.signal)
    this.#refuseCollisions(ready)
    this.#active.set(name, ready)
    await manager.activate(name, argumentText, { source })
    const isRepeated = this.#given.has(content) || this.#session?.contains(content) === true
    this.#given.add(content)
    run.onEvent({ type: 'skill', agent: this.#environment.name, name, active: true })
    const text = isRepeated ? alreadyActiveNote(name) : content
    return { text, answer: text }
  }

  async end(name: string): Promise<boolean> {
    await this.manager.deactivate(name)
    this.#lasting.delete(name)
    if (!this.#active.delete(name)) return false
    this.#run.onEvent({ type: 'skill', agent: this.#environment.name, name, active: false })
    return true
  }

  get #skills(): ActiveSkill[] {
    return [...this.#active.values()]
  }

  #notice(message: string, run = this.#run): void {
    run.onEvent({ type: 'notice', agent: this.#environment.name, message })
  }

  async #prepare(): Promise<void> {
    const failed = (await this.#registered).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    const { options, places } = this.#environment
    const { discover = true, skills = [], skillDirs = [] } = options
    if (!discover && skillDirs.length > 0) {
      // Without a search, only what lies in the directories that were named.
      const found = discoverSkills({ ...places, projectDirectories: [], customPaths: skillDirs })
      const named = found.skills.filter(({ scope }) => scope === 'custom')
      for (const skill of named) await this.manager.register(skill)
    }
    for (const name of skills.filter(isName)) {
      if ((await this.manager.get(name)) !== undefined) continue
      const names = (await this.manager.list()).map((skill) => skill.name).join(', ')
      const message = `The agent was given a skill called ${name}, and there is none.`
      const hint = `There ${names === '' ? 'are no skills here' : `are: ${names}`}. A path must contain a /.`
      throw new SkillNotFoundError({ code: 'skill-not-found', message, hint })
    }
  }

  /** Returns the catalogue of the skills that the model may activate. */
  async #refresh(): Promise<string> {
    const catalogue = skillCatalogue(await this.manager.list(), catalogTokens)
    this.#finding = findingTools(catalogue, {
      use: async (name, argumentText, { onEvent, signal }) =>
        (await this.use(name, argumentText, 'model', { onEvent, signal })).text,
      finish: (name) => this.#finish(name),
    })
    return catalogue.text
  }

  /**
   * The references that the triggers of trusted skills put before a prompt. One that the conversation
   * has already, with the same text, is not repeated; the trust of skills that match is confirmed.
   */
  async #references(prompt: string): Promise<string> {
    const skills = (await this.manager.list()).filter(
      ({ trustLevel, fields }) => trustLevel === 'trusted' && fields.triggers.length > 0,
    )
    const declared = skills.map(({ fields, ...skill }) => {
      return { ...skill, triggers: fields.triggers }
    })
    const { matches, diagnostics } = matchTriggers(prompt, declared)
    const withheld = new Set<string>()
    for (const name of new Set(matches.map(({ skill }) => skill.name))) {
      try {
        await this.manager.requireTrusted(name, 'put text before a prompt')
      } catch (error) {
        withheld.add(name)
        if (error instanceof SkillNotTrustedError) continue
        this.#notice(`The references of the skill ${name} were left out: ${messageOf(error)}`)
      }
    }
    const mayInject = ({ name }: { name: string }): boolean => !withheld.has(name)
    const found = planInjection(matches, { tokenBudget: referenceTokens, mayInject })
    for (const { message } of [...diagnostics, ...found.diagnostics]) this.#notice(message)
    for (const { skill, path, reason } of found.deferred) {
      this.#notice(`The reference ${path} of the skill ${skill} was left out: ${reason}.`)
    }
    const isNew = (text: string): boolean => this.#session?.contains(text) !== true
    return renderInjection(found.injected.filter((one) => isNew(renderInjection([one]))))
  }

  async #finish(name: string): Promise<string> {
    if (this.rules.narrowed.some(({ skill }) => skill === name)) {
      return `Error: the untrusted skill ${name} limits the tools until the turn of the user ends.`
    }
    return (await this.end(name))
      ? `The skill ${name} is not active any more.`
      : `Error: the skill ${name} is not active.`
  }

  /** The limits of an untrusted skill would not hold in a subagent. */
  #refuseForkWhileNarrowed(name: string): void {
    const [narrowing] = this.rules.narrowed
    if (narrowing === undefined) return
    const message = `Skill ${name} runs in a subagent, and that is not started while the untrusted skill ${narrowing.skill} limits the tools.`
    const hint = 'It can run in the next turn.'
    throw new SkillInvocationError({ code: 'fork-while-narrowed', message, hint })
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
}

/** A text is a name, unless it looks like a path. */
function isName(skill: Skill | SkillInfo | string): skill is string {
  return typeof skill === 'string' && !/[/\\]|^[.~]/.test(skill)
}

/** Reads `/name arguments`; undefined for any other prompt and a name that no skill has. */
export function typedSkill(
  prompt: string,
  names: readonly string[],
): { name: string; argumentText: string } | undefined {
  const match = /^\s*\/([\p{L}\p{N}][\p{L}\p{N}:-]*)(?:\s+([\s\S]*))?$/u.exec(prompt)
  const name = match?.[1]
  if (name === undefined || !names.includes(name)) return undefined
  return { name, argumentText: (match?.[2] ?? '').trim() }
}
