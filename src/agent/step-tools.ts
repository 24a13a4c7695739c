import type { Runtime } from '../base/index.ts'
import { type PlannedTask, skillDirectory, type StepContent } from '../chain/index.ts'
import { SkillManager } from '../library/index.ts'
import { createPermit } from './approval/permit.ts'
import { createHands } from './hands/hands.ts'
import type { AgentTool } from './model.ts'
import type { SessionPart } from './session-part.ts'
import { scriptTools } from './skills/script-tools.ts'

/** What the tools of a chain's step work with. */
export interface StepWorld {
  /** The directory that they work in. */
  project: string
  runtime: Runtime
  /** Names of environment variables that they get besides the few that programs need. */
  environment?: readonly string[] | undefined
  /** Names of the built-in tools that the model gets; default none. */
  builtIns?: readonly string[] | undefined
}

/**
 * The tools of a step: the scripts of its skill, which is trusted, and the built-in ones. Nobody can be asked
 * while a chain runs, so of the built-in ones it may use what changes nothing and what `allowed-tools`
 * approves.
 */
export async function stepTools(
  step: PlannedTask,
  { wishes }: StepContent,
  world: StepWorld,
): Promise<SessionPart> {
  const directory = skillDirectory(world.project, step)
  const hands = createHands(world.builtIns ?? [], { ...world, readable: () => [directory] })
  const tools = [...(await ownScripts(step, directory, world)), ...hands]
  return {
    tools: () => tools,
    permit: createPermit({
      agent: step.step,
      platform: world.runtime.platform,
      rules: {
        preApproved: () => wishes.allowedTools,
        narrowed: () => [],
      },
    }),
  }
}

async function ownScripts(
  step: PlannedTask,
  directory: string,
  world: StepWorld,
): Promise<AgentTool[]> {
  // The plan has judged its trust, and it was judged again right before this step.
  const { runtime } = world
  const manager = new SkillManager({ runtime, autoDiscover: false, trustedPaths: [directory] })
  await manager.register(directory)
  const skill = await manager.get(step.skill)
  if (skill === undefined) return []
  const tools = scriptTools(skill, { ...world, agent: step.step, manager })
  return tools.map((tool) => ({ ...tool, needsApproval: false }))
}
