import type { Activation } from '#library/activation'
import { discoverSkills } from '#library/discover'
import { requireFolders } from '#library/locations'
import { type ActivateOptions, SkillManager } from '#library/manager'
import type { Skill, SkillInfo } from '#library/model'
import { SkillInvocationError, SkillNotFoundError } from '#skill/errors'
import { matchTriggers } from '#trigger/examples'
import { SkillNotTrustedError } from '#trust/skill-trust'
import { planInjection, renderInjection } from '#trigger/inject'
import type { AgentEnvironment } from '#agent/agent-options'
import { failureText } from '#agent/loop/results'
import { activeSkill, type SkillContext } from './active-skills.ts'

const referenceTokens = 10_000

type Notice = (message: string) => void

/** The skills of an agent or an application, for all of its conversations. */
export class SkillSet {
  readonly manager: SkillManager
  readonly context: SkillContext
  readonly #environment: AgentEnvironment
  readonly #registered: Promise<PromiseSettledResult<unknown>[]>
  /** Notices about untrusted references, each of which is reported once. */
  readonly #reported = new Set<string>()
  /** The directories of skills that {@link SkillSet.#registerFolders} registered. */
  readonly #ofFolders = new Set<string>()
  #ready: Promise<void> | undefined

  /** Registers the skill objects of the options. The search starts later. */
  constructor(environment: AgentEnvironment, serverTools: SkillContext['serverTools']) {
    const { runtime, project, settings, places, options } = environment
    const { discover = true, skillDirs = [], skills = [] } = options
    const search = {
      ...places,
      customPaths: [...skillDirs, ...(discover ? settings.skills.paths : [])],
      autoDiscover: discover,
    }
    // The folders of the options are checked when the skills are needed.
    const manager = new SkillManager(search, false)
    this.manager = manager
    this.#environment = environment
    this.context = {
      manager,
      runtime,
      project,
      environment: settings.run.environment,
      serverTools,
      resolveModel: (name) => environment.resolveModel(name),
    }
    // All are registered, in order: an invalid one hides none of the others.
    const values = skills.filter((skill) => !isName(skill))
    this.#registered = Promise.allSettled(values.map((skill) => manager.register(skill)))
  }

  ready() {
    return (this.#ready ??= this.#prepare())
  }

  /** Prepares an activation without activating the skill. @throws {SkillError} as `SkillManager.prepare`. */
  async prepare(
    skill: string,
    argumentText: string,
    options: Pick<ActivateOptions, 'source' | 'sessionId'>,
    notice: Notice,
    signal?: AbortSignal,
  ) {
    const activation = await this.manager.prepare(skill, argumentText, options)
    for (const { message } of activation.diagnostics) notice(`Skill ${skill}: ${message}.`)
    if (activation.effects.fork) return { activation, active: undefined }
    const [active] = await this.load(activation, notice, signal)
    if (active) return { activation, active }
    const message = `Skill ${skill} was taken away while it was activated.`
    throw new SkillInvocationError({ code: 'skill-gone', message })
  }

  async load(activation: Activation, notice: Notice, signal?: AbortSignal) {
    const skill = await this.manager.get(activation.name)
    if (!skill) return []
    return [await activeSkill(activation, skill, this.context, notice, signal)]
  }

  /** Returns the references of trusted skills for a prompt, without those that the model has read. */
  async references(
    prompt: string,
    hasRead: (text: string) => boolean,
    notice: Notice,
  ): Promise<string> {
    const skillsWithTriggers = (await this.manager.list()).flatMap(({ fields, ...skill }) =>
      fields.triggers.length === 0 ? [] : [{ ...skill, triggers: fields.triggers }],
    )
    const { matches, diagnostics } = matchTriggers(prompt, skillsWithTriggers)
    const withheld = new Set<string>()
    for (const name of new Set(matches.map(({ skill }) => skill.name))) {
      try {
        await this.manager.requireTrusted(name, 'put text before a prompt')
      } catch (error) {
        withheld.add(name)
        const folder = skillsWithTriggers.find((skill) => skill.name === name)?.source ?? ''
        const isNamed = this.#environment.options.skillDirs?.includes(folder) === true
        // A skill that cannot be read has another reason than trust, whatever the options say.
        const needsOption =
          isNamed && error instanceof SkillNotTrustedError && error.reasonCode === 'custom-path'
        const reason = needsOption
          ? `it is untrusted. To trust it, add ${folder} to the option trustedPaths.`
          : failureText(error)
        const message = `The references of the skill ${name} were left out: ${reason}`
        if (!this.#reported.has(message)) notice(message)
        this.#reported.add(message)
      }
    }
    const mayInject = ({ name }: { name: string }) => !withheld.has(name)
    const plan = planInjection(matches, { tokenBudget: referenceTokens, mayInject })
    for (const { message } of [...diagnostics, ...plan.diagnostics]) notice(message)
    for (const { skill, path, reason } of plan.deferred) {
      if (withheld.has(skill)) continue
      notice(`The reference ${path} of the skill ${skill} was left out: ${reason}.`)
    }
    return renderInjection(plan.injected.filter((one) => !hasRead(renderInjection([one]))))
  }

  /**
   * Searches again: the folders of the options must exist, as at the start.
   * @throws {UsageError} for a folder that is missing.
   */
  async refresh(): Promise<void> {
    const { options, runtime } = this.#environment
    const { skillDirs, trustedPaths } = options
    requireFolders(runtime, { skillDirs, trustedPaths })
    if (options.discover !== false) await this.manager.discover()
    await this.ready()
    if (options.discover === false) await this.#registerFolders()
  }

  /** Returns a sentence for each broken skill of `skillDirs` that was not reported before. */
  brokenSkills(): string[] {
    const { places, options } = this.#environment
    const { skillDirs = [] } = options
    if (skillDirs.length === 0) return []
    const discovery = discoverSkills({ ...places, skillsDirs: [], customPaths: skillDirs })
    const sentences = discovery.broken
      .filter(({ source }) => skillDirs.includes(source))
      .map(({ path, diagnostics }) => {
        const errors = diagnostics.filter(({ severity }) => severity === 'error')
        const [first = diagnostics[0]] = errors
        const line = first?.line === undefined ? '' : `:${first.line}`
        return `A skill cannot be used: ${path}${line}: ${first?.message ?? 'it cannot be read'}.`
      })
    const unreported = sentences.filter((sentence) => !this.#reported.has(sentence))
    for (const sentence of unreported) this.#reported.add(sentence)
    return unreported
  }

  /** Returns a warning about untrusted skills of `skillDirs` that declare what only a trusted skill gets. */
  async trustWarning(): Promise<string | undefined> {
    const folders = this.#environment.options.skillDirs ?? []
    const untrustedSkills = (await this.manager.list()).filter(
      (info) =>
        folders.includes(info.source) && info.trustLevel === 'untrusted' && needsTrust(info),
    )
    if (untrustedSkills.length === 0) return undefined
    const names = untrustedSkills.map(({ name }) => name).join(', ')
    const sources = [...new Set(untrustedSkills.map(({ source }) => source))].join(', ')
    return `Untrusted skills: ${names}. Their references, approvals, hooks and scripts have no effect. To trust them, add ${sources} to the option trustedPaths.`
  }

  async #prepare(): Promise<void> {
    const rejection = (await this.#registered).find(({ status }) => status === 'rejected')
    if (rejection?.status === 'rejected') throw rejection.reason
    const { options, runtime } = this.#environment
    const { discover = true, skills = [], skillDirs = [], trustedPaths } = options
    requireFolders(runtime, { skillDirs, trustedPaths })
    if (!discover) await this.#registerFolders()
    for (const name of skills.filter(isName)) {
      if ((await this.manager.get(name)) !== undefined) continue
      const names = (await this.manager.list()).map((skill) => skill.name).join(', ') || 'none'
      const message = `There is no skill named ${name}, which the agent needs.`
      const hint = `There are: ${names}. A path must contain a /.`
      throw new SkillNotFoundError({ code: 'skill-not-found', message, hint })
    }
  }

  /** Registers the skills of `skillDirs`, which are the only ones without a search; earlier ones stay as they are. */
  async #registerFolders(): Promise<void> {
    const { options, places } = this.#environment
    const { skillDirs = [] } = options
    if (skillDirs.length === 0) return
    const discovery = discoverSkills({ ...places, skillsDirs: [], customPaths: skillDirs })
    const added = discovery.skills.filter(
      ({ scope, realDirectory }) => scope === 'custom' && !this.#ofFolders.has(realDirectory),
    )
    for (const skill of added) {
      await this.manager.register(skill)
      this.#ofFolders.add(skill.realDirectory)
    }
  }
}

/** Whether a skill declares anything that an untrusted skill does not get. */
function needsTrust({ fields }: SkillInfo): boolean {
  const { triggers, allowedTools, hooks, context, run, chain } = fields
  const trustedFields = [allowedTools, hooks, context, run, chain]
  return triggers.length > 0 || trustedFields.some((one) => one !== undefined)
}

function isName(skill: Skill | SkillInfo | string): skill is string {
  return typeof skill === 'string' && !/[/\\]|^[.~]/.test(skill)
}

/** Reads `/name arguments`. Undefined for any other prompt, and for a name that no skill has. */
export function typedSkill(
  prompt: string,
  names: readonly string[],
): { name: string; argumentText: string } | undefined {
  const match = /^\s*\/([\p{L}\p{N}][\p{L}\p{N}:-]*)(?:\s+([\s\S]*))?$/u.exec(prompt)
  const name = match?.[1]
  if (name === undefined || !names.includes(name)) return undefined
  return { name, argumentText: (match?.[2] ?? '').trim() }
}

/** Splits an entry `name arguments`, as in `startSkills` and in definitions of subagents. */
export function splitSkill(entry: string): { name: string; argumentText: string } {
  const [, name = '', argumentText = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(entry) ?? []
  return { name, argumentText: argumentText.trimEnd() }
}

/** Warns a program that has no listener for events. */
export function warnProcess(message: string): void {
  process.emitWarning(message, { code: 'SKILLRAIL_UNTRUSTED' })
}

/** Warns a program that has no listener for events about a skill that cannot be used. */
export function warnBroken(message: string): void {
  process.emitWarning(message, { code: 'SKILLRAIL_BROKEN_SKILL' })
}
