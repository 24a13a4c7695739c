import type { Activation } from '../library/activation.ts'
import { discoverSkills } from '../library/discover.ts'
import { SkillManager } from '../library/manager.ts'
import type { Skill, SkillInfo } from '../library/model.ts'
import { SkillNotFoundError } from '../skill/errors.ts'
import type { AgentEnvironment } from './agent-environment.ts'
import type { AgentOptions } from './agent-options.ts'
import { activeSkill } from './skills/active-skills.ts'
import { SkillPart, type SkillPartOptions } from './skills/skill-part.ts'
import type { AgentTool } from './types.ts'

export class AgentSkills {
  readonly manager: SkillManager
  readonly part: SkillPart
  readonly #given: AgentOptions
  readonly #environment: AgentEnvironment
  readonly #options: SkillPartOptions
  readonly #registered: Promise<PromiseSettledResult<unknown>[]>
  #ready: Promise<void> | undefined

  /** Searches for nothing yet; what was given in code is registered at once. */
  constructor(
    given: AgentOptions,
    environment: AgentEnvironment,
    options: Pick<SkillPartOptions, 'agent' | 'serverTools' | 'fork'>,
  ) {
    const { runtime, project, settings, places } = environment
    const { discover = true, skillDirs = [], startSkills: start, permissionMode: mode } = given
    this.#given = given
    this.#environment = environment
    this.manager = new SkillManager({
      ...places,
      customPaths: [...skillDirs, ...(discover ? settings.skills.paths : [])],
      autoDiscover: discover,
    })
    this.#options = {
      ...options,
      manager: this.manager,
      environment: settings.run.environment,
      project,
      runtime,
      start,
      mode,
      resolveModel: (wanted) => environment.resolveModel(wanted),
    }
    this.part = new SkillPart(this.#options)
    // In order and to the end, so that one that cannot be used hides none of the others.
    const skills = (given.skills ?? []).filter((skill) => !isName(skill))
    this.#registered = Promise.allSettled(skills.map((skill) => this.manager.register(skill)))
  }

  async ready(): Promise<void> {
    this.#ready ??= this.#prepare()
    await this.#ready
  }

  /** Tools that an activation brings along, for a subagent that has the skill. */
  async toolsOf(activation: Activation, signal?: AbortSignal): Promise<readonly AgentTool[]> {
    const skill = await this.manager.get(activation.name)
    if (skill === undefined) return []
    const active = await activeSkill(activation, skill, this.#options, () => undefined, signal)
    return active.tools()
  }

  async #prepare(): Promise<void> {
    const failed = (await this.#registered).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    const { discover = true, skills = [], skillDirs = [] } = this.#given
    if (!discover && skillDirs.length > 0) {
      // Without a search, only what lies in the directories that were named.
      const places = { ...this.#environment.places, projectDirectories: [] }
      const found = discoverSkills({ ...places, customPaths: skillDirs })
      const named = found.skills.filter(({ scope }) => scope === 'custom')
      for (const skill of named) await this.manager.register(skill)
    }
    for (const name of skills.filter(isName)) {
      if ((await this.manager.get(name)) !== undefined) continue
      const names = (await this.manager.list()).map((skill) => skill.name).join(', ')
      throw new SkillNotFoundError({
        code: 'skill-not-found',
        message: `The agent was given a skill called ${name}, and there is none.`,
        hint: `There ${names === '' ? 'are no skills here' : `are: ${names}`}. A path must contain a /.`,
      })
    }
  }
}

/** A text is a name, unless it looks like a path. */
function isName(skill: Skill | SkillInfo | string): skill is string {
  return typeof skill === 'string' && !/[/\\]|^[.~]/.test(skill)
}
