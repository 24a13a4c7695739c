import type { Runtime, Settings } from '../base/index.ts'
import {
  type Activation,
  discoverSkills,
  type Skill,
  type SkillInfo,
  SkillManager,
} from '../library/index.ts'
import { SkillNotFoundError } from '../skill/index.ts'
import type { AgentOptions } from './agent-options.ts'
import type { AgentTool } from './model.ts'
import { activeSkill } from './skills/active-skill.ts'
import { createSkillPart, type SkillPart } from './skills/skill-part.ts'
import type { SkillPartOptions } from './skills/skill-world.ts'

/** The skills of an agent: where they are, and their part in its conversation. */
export interface AgentSkills {
  readonly manager: SkillManager
  readonly part: SkillPart
  /**
   * Waits until the skills that the agent was given are there.
   * @throws {SkillError} for one of them that is not, or cannot be used.
   */
  ready(): Promise<void>
  /** Tools that an activation brings along, for a subagent that has the skill. */
  toolsOf(activation: Activation, signal?: AbortSignal): Promise<readonly AgentTool[]>
}

export interface AgentSkillsOptions {
  given: Pick<AgentOptions, 'skills' | 'skillDirs' | 'discover'>
  runtime: Runtime
  settings: Settings
  /** Everything that the part needs besides where the skills are. */
  part: Omit<SkillPartOptions, 'manager' | 'runtime' | 'environment'>
}

/** Finds nothing yet; what was given in code is registered at once. */
export function createAgentSkills({
  given,
  runtime,
  settings,
  part: partOptions,
}: AgentSkillsOptions): AgentSkills {
  const { paths, trustedPaths, precedence } = settings.skills
  const { workspaceTrust } = settings
  const finds = given.discover ?? true
  const customPaths = [...(given.skillDirs ?? []), ...(finds ? paths : [])]
  const places = { runtime, trustedPaths, workspaceTrust, precedence }
  const manager = new SkillManager({ ...places, customPaths, autoDiscover: finds })
  const options = { ...partOptions, manager, runtime, environment: settings.run.environment }
  const registered = registerGiven(manager, given.skills ?? [])
  registered.catch(() => undefined)
  let ready: Promise<void> | undefined
  return {
    manager,
    part: createSkillPart(options),
    ready() {
      ready ??= prepare()
      return ready
    },
    async toolsOf(activation, signal) {
      const skill = await manager.get(activation.name)
      if (skill === undefined) return []
      const run = { notice: () => undefined, signal }
      return (await activeSkill(activation, skill, options, run)).tools()
    },
  }

  async function prepare(): Promise<void> {
    await registered
    if (!finds) await registerOnlyFrom(given.skillDirs ?? [])
    for (const name of (given.skills ?? []).filter(isName)) {
      if ((await manager.get(name)) === undefined) throw unknownSkill(name, await manager.list())
    }
  }

  /** Without a search, only what lies in the directories that were named. */
  async function registerOnlyFrom(directories: readonly string[]): Promise<void> {
    if (directories.length === 0) return
    const { skills } = discoverSkills({
      ...places,
      projectDirectories: [],
      customPaths: directories,
    })
    for (const skill of skills.filter(({ scope }) => scope === 'custom')) {
      await manager.register(skill)
    }
  }
}

/** In order and to the end, so that one that cannot be used hides none of the others. */
async function registerGiven(
  manager: SkillManager,
  skills: readonly (Skill | SkillInfo | string)[],
): Promise<void> {
  const results = await Promise.allSettled(
    skills.filter((skill) => !isName(skill)).map((skill) => manager.register(skill)),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/** A text is a name, unless it looks like a path. */
function isName(skill: Skill | SkillInfo | string): skill is string {
  return typeof skill === 'string' && !/[/\\]|^[.~]/.test(skill)
}

function unknownSkill(name: string, known: readonly SkillInfo[]): SkillNotFoundError {
  return new SkillNotFoundError({
    code: 'skill-not-found',
    message: `The agent was given a skill called ${name}, and there is none.`,
    hint:
      known.length === 0
        ? 'There are no skills here. A path must contain a /.'
        : `There are: ${known.map((skill) => skill.name).join(', ')}. A path must contain a /.`,
  })
}
