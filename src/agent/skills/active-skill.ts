import type { LanguageModel } from 'ai'
import { messageOf } from '../../base/index.ts'
import type { Activation, Skill } from '../../library/index.ts'
import { readHooks, type SkillHook } from '../skill-hooks/read-hooks.ts'
import type { AgentTool } from '../model.ts'
import type { UseContext } from './conversation-skills.ts'
import { programTools } from './program-tools.ts'
import { scriptTools } from './script-tools.ts'
import { serverNames } from './server-names.ts'
import type { SkillPartOptions } from './skill-world.ts'

/** A skill that is active in a conversation, with everything that it adds to it. */
export interface ActiveSkill {
  activation: Activation
  skill: Skill
  /** Its tools now: those that a program registered may change while it is active. */
  tools: () => readonly AgentTool[]
  hooks: readonly SkillHook[]
  model: LanguageModel | undefined
}

/** Puts together what an activation adds; whatever cannot be had is told and left out. */
export async function activeSkill(
  activation: Activation,
  skill: Skill,
  options: SkillPartOptions,
  run: Pick<UseContext, 'notice' | 'signal'>,
): Promise<ActiveSkill> {
  const { notice } = run
  const { name, trustLevel, effects } = activation
  const trusted = trustLevel === 'trusted'
  const { hooks, problems } = readHooks(effects.hooks)
  for (const problem of problems) notice(`Skill ${name}: ${problem}.`)
  const scripts = scriptTools(skill, options)
  const servers = trusted ? await toolsOfServers(skill, options, run) : []
  return {
    activation,
    skill,
    tools: () => [
      ...withoutTwins(programTools(options.manager.getTools(name)), scripts),
      ...servers,
    ],
    hooks,
    model: trusted ? await modelOf(activation, options, notice) : undefined,
  }
}

/** A tool that the program registered stands for a script of the same name. */
function withoutTwins(own: readonly AgentTool[], scripts: readonly AgentTool[]): AgentTool[] {
  const names = new Set(own.map((tool) => tool.name))
  return [...own, ...scripts.filter((tool) => !names.has(tool.name))]
}

async function toolsOfServers(
  { info }: Skill,
  { serverTools }: SkillPartOptions,
  { notice, signal }: Pick<UseContext, 'notice' | 'signal'>,
): Promise<readonly AgentTool[]> {
  const tools: AgentTool[] = []
  for (const server of serverNames(info.fields)) {
    try {
      if (serverTools === undefined) throw new Error('this agent has no MCP servers')
      tools.push(...(await serverTools(server, signal)))
    } catch (error) {
      if (signal?.aborted === true) break
      notice(`Skill ${info.name} wants the MCP server ${server}: ${messageOf(error)}`)
    }
  }
  return tools
}

async function modelOf(
  { name, effects }: Activation,
  { resolveModel }: SkillPartOptions,
  notice: (message: string) => void,
): Promise<LanguageModel | undefined> {
  const wanted = effects.model
  if (wanted === undefined || wanted === 'inherit') return undefined
  try {
    if (resolveModel === undefined) throw new Error('this agent has one model only.')
    return await resolveModel(wanted)
  } catch (error) {
    notice(
      `Skill ${name} wants the model ${wanted}, and the agent keeps its own: ${messageOf(error)}`,
    )
    return undefined
  }
}
