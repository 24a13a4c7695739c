import type { Activation, InvocationSource } from '#library/activation'
import { discoverSkills } from '#library/discover'
import { SkillManager } from '#library/manager'
import type { Skill, SkillInfo } from '#library/model'
import { SkillInvocationError, SkillNotFoundError } from '#skill/errors'
import { matchTriggers } from '#trigger/examples'
import { planInjection, renderInjection } from '#trigger/inject'
import type { AgentEnvironment } from '#agent/agent-options'
import { failureText } from '#agent/loop/results'
import { activeSkill, type SkillContext } from './active-skills.ts'

const referenceTokens = 10_000

type Notice = (message: string) => void

/** The skills that an agent or an application has, whatever its conversations do with them. */
export class SkillSet {
  readonly manager: SkillManager
  readonly context: SkillContext
  readonly #environment: AgentEnvironment
  readonly #registered: Promise<PromiseSettledResult<unknown>[]>
  readonly #told = new Set<string>()
  #ready: Promise<void> | undefined

  /** Searches for nothing yet; what was given in code is registered at once. */
  constructor(environment: AgentEnvironment, serverTools: SkillContext['serverTools']) {
    const { runtime, project, settings, places, options } = environment
    const { discover = true, skillDirs = [], skills = [] } = options
    const manager = new SkillManager({
      ...places,
      customPaths: [...skillDirs, ...(discover ? settings.skills.paths : [])],
      autoDiscover: discover,
    })
    this.manager = manager
    this.#environment = environment
    this.context = {
      manager,
      runtime,
      project,
      environment: settings.run.environment,
      serverTools,
      resolveModel: (wanted) => environment.resolveModel(wanted),
    }
    // In order and to the end, so that one that cannot be used hides none of the others.
    const given = skills.filter((skill) => !isName(skill))
    this.#registered = Promise.allSettled(given.map((skill) => manager.register(skill)))
  }

  ready() {
    return (this.#ready ??= this.#prepare())
  }

  /** Prepares; nothing becomes active. @throws {SkillError} as `SkillManager.prepare`. */
  async prepare(
    wanted: string,
    argumentText: string,
    source: InvocationSource,
    notice: Notice,
    signal?: AbortSignal,
  ) {
    const activation = await this.manager.prepare(wanted, argumentText, { source })
    for (const { message } of activation.diagnostics) notice(`Skill ${wanted}: ${message}.`)
    if (activation.effects.fork) return { activation, active: undefined }
    const [active] = await this.load(activation, notice, signal)
    if (active) return { activation, active }
    const message = `Skill ${wanted} was taken away while it was activated.`
    throw new SkillInvocationError({ code: 'skill-gone', message })
  }

  async load(activation: Activation, notice: Notice, signal?: AbortSignal) {
    const skill = await this.manager.get(activation.name)
    if (!skill) return []
    return [await activeSkill(activation, skill, this.context, notice, signal)]
  }

  /** References for a prompt, without those that `isKnown` has; trust is confirmed. */
  async references(
    prompt: string,
    isKnown: (text: string) => boolean,
    notice: Notice,
  ): Promise<string> {
    const declared = (await this.manager.list()).flatMap(({ fields, ...skill }) =>
      fields.triggers.length === 0 ? [] : [{ ...skill, triggers: fields.triggers }],
    )
    const { matches, diagnostics } = matchTriggers(prompt, declared)
    const withheld = new Set<string>()
    for (const name of new Set(matches.map(({ skill }) => skill.name))) {
      try {
        await this.manager.requireTrusted(name, 'put text before a prompt')
      } catch (error) {
        withheld.add(name)
        const left = `The references of the skill ${name} were left out: ${failureText(error)}`
        if (!this.#told.has(left)) notice(left)
        this.#told.add(left)
      }
    }
    const mayInject = ({ name }: { name: string }) => !withheld.has(name)
    const found = planInjection(matches, { tokenBudget: referenceTokens, mayInject })
    for (const { message } of [...diagnostics, ...found.diagnostics]) notice(message)
    for (const { skill, path, reason } of found.deferred) {
      if (withheld.has(skill)) continue
      notice(`The reference ${path} of the skill ${skill} was left out: ${reason}.`)
    }
    return renderInjection(found.injected.filter((one) => !isKnown(renderInjection([one]))))
  }

  async #prepare(): Promise<void> {
    const failed = (await this.#registered).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    const { options, places } = this.#environment
    const { discover = true, skills = [], skillDirs = [] } = options
    if (!discover && skillDirs.length > 0) {
      // Without a search, only what lies in the directories that were named.
      const found = discoverSkills({ ...places, skillsDirs: [], customPaths: skillDirs })
      const named = found.skills.filter(({ scope }) => scope === 'custom')
      for (const skill of named) await this.manager.register(skill)
    }
    for (const name of skills.filter(isName)) {
      if ((await this.manager.get(name)) !== undefined) continue
      const names = (await this.manager.list()).map((skill) => skill.name).join(', ') || 'none'
      const message = `The agent was given a skill called ${name}, and there is none.`
      const hint = `There are: ${names}. A path must contain a /.`
      throw new SkillNotFoundError({ code: 'skill-not-found', message, hint })
    }
  }
}

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
