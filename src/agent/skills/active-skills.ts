import { messageOf } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { Runtime } from '../../core/runtime.ts'
import type { Activation } from '../../library/activation.ts'
import type { SkillManager } from '../../library/manager.ts'
import type { Skill } from '../../library/model.ts'
import type { OfferedTool } from '../../library/registry.ts'
import type { JsonValue, SkillFields } from '../../skill/model.ts'
import type { JsonObject } from '../../tools/model.ts'
import { tool } from '../tool.ts'
import type { AgentTool, ModelObject } from '../types.ts'
import { readHooks, type SkillHook } from './hook-format.ts'
import { scriptTools } from './script-tools.ts'

export interface SkillContext {
  manager: SkillManager
  runtime: Runtime
  project: string
  environment: readonly string[]
  serverTools: (server: string, signal: AbortSignal | undefined) => Promise<readonly AgentTool[]>
  resolveModel: (name: string) => Promise<ModelObject>
}

export interface ActiveSkill {
  activation: Activation
  skill: Skill
  /** Its tools now: those that a program registered may change while it is active. */
  tools: () => readonly AgentTool[]
  hooks: readonly SkillHook[]
  model: ModelObject | undefined
}

/** Collects what an activation adds; what is not available is reported and left out. */
export async function activeSkill(
  activation: Activation,
  skill: Skill,
  context: SkillContext,
  notice: (message: string) => void,
  signal: AbortSignal | undefined,
): Promise<ActiveSkill> {
  const { name, trustLevel, effects } = activation
  const { manager, serverTools, resolveModel } = context
  const isTrusted = trustLevel === 'trusted'
  const { hooks, problems } = readHooks(effects.hooks)
  for (const problem of problems) notice(`Skill ${name}: ${problem}.`)
  const scripts = scriptTools(skill, context)
  const ofServers: AgentTool[] = []
  for (const server of isTrusted ? serverNames(skill.info.fields) : []) {
    try {
      ofServers.push(...(await serverTools(server, signal)))
    } catch (error) {
      if (signal?.aborted === true) break
      notice(`Skill ${name} wants the MCP server ${server}: ${messageOf(error)}`)
    }
  }
  let model: ModelObject | undefined
  const wanted = effects.model === 'inherit' || !isTrusted ? undefined : effects.model
  try {
    if (wanted !== undefined) model = await resolveModel(wanted)
  } catch (error) {
    notice(
      `Skill ${name} wants the model ${wanted}, and the agent keeps its own: ${messageOf(error)}`,
    )
  }
  return {
    activation,
    skill,
    hooks,
    model,
    tools() {
      // A tool that the program registered replaces a script of the same name.
      const own = manager.getTools(name).map(programTool)
      const names = new Set(own.map((one) => one.name))
      return [...own, ...scripts.filter((one) => !names.has(one.name)), ...ofServers]
    },
  }
}

/** A tool that a program registered for a skill: its own code, which asks nobody. */
function programTool({ name, skill, description, inputSchema, execute }: OfferedTool): AgentTool {
  const schema: unknown = JSON.parse(JSON.stringify({ type: 'object', ...inputSchema }))
  const definition = {
    name,
    description: description ?? `A tool of the skill ${skill}.`,
    input: isObject<JsonValue>(schema) ? schema : { type: 'object' },
    execute: (input: JsonObject) => execute(input),
  }
  return { ...tool(definition), origin: { kind: 'skill', skill } }
}

/**
 * The MCP servers that a skill wants: names of configured servers in `metadata.mcp-servers`, separated
 * by blanks or commas. A skill can name servers and never define one.
 */
export function serverNames({ metadata }: SkillFields): string[] {
  const names = (metadata['mcp-servers'] ?? '').split(/[\s,]+/).filter((name) => name !== '')
  return [...new Set(names)]
}
