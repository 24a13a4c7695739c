import type { Activation } from '../../library/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import type { AgentTool, TokenUsage, UsageEntry } from '../model.ts'
import type { ModelObject } from '../models/resolve-model.ts'
import { type AgentSession, openSession } from '../session.ts'
import { jsonSchemaOf } from '../tool.ts'
import { resourceTool } from '../skills/resource-tool.ts'
import { addUsage, noUsage } from '../usage/token-usage.ts'
import { defaultMaxTurns, type SubagentConfig } from './config.ts'
import { type DelegateOptions, timeoutOf } from './delegate-options.ts'
import { guardPart, strictest } from './guard-part.ts'
import { childInstructions } from './instructions.ts'
import { loadSkills } from './load-skills.ts'
import type { SubagentParent } from './parent.ts'
import { selectAgain, type ToolSelection } from './select-tools.ts'
import { contextHistory } from './task-context.ts'

/** A subagent that was made and has a conversation of its own; it may not have been asked yet. */
export interface Child {
  id: string
  config: SubagentConfig
  session: AgentSession
  outputSchema: JsonObject | undefined
  timeoutMs: number | undefined
  /** What was asked for and is not there, as of the last {@link Child.refresh}. */
  notices: () => readonly string[]
  /** Holds the tools against what the parent may use now. */
  refresh: () => void
  /** What its model calls used so far, of all its runs. */
  used: () => TokenUsage
}

export interface ChildInput {
  id: string
  config: SubagentConfig
  parent: SubagentParent
  options: DelegateOptions
  /** Ends the wait for servers that a skill names. */
  signal?: AbortSignal | undefined
  /** Skills that are part of the task rather than of the definition: one that forks. */
  forked?: readonly Activation[] | undefined
  onUsage: (entry: UsageEntry) => void
}

/**
 * Makes a subagent: its own history, tools and usage. It shares the model object and the tools'
 * functions with its parent, and nothing else.
 *
 * @throws {SkillNotFoundError} for a skill that it is to have and that is not there;
 *   {SkillInvocationError} for one that no model may start, where a model delegates.
 */
export async function createChild(input: ChildInput): Promise<Child> {
  const { id, config, parent, options } = input
  const { skills: preloaded } = config
  const source = options.source ?? input.forked?.[0]?.source
  const skills = preloaded ? await loadSkills(preloaded, parent.skills(), config.name, source) : []
  const active = [...skills, ...(input.forked ?? [])]
  const ofSkills = active.length === 0 ? [] : await toolsOf(active, input)
  let selection = select()
  let used = noUsage
  const session = openSession({
    agent: config.name,
    delegation: id,
    model: () => modelOf(input),
    instructions: childInstructions(config, skills),
    parts: [
      {
        instructions: async () => missingTools(selection.notices),
        tools: () => selection.tools,
      },
      ...(parent.partsOfChild?.({ agent: config.name }) ?? []),
      guardPart({
        config,
        selection: () => selection,
        skills: active,
        parent,
      }),
    ],
    maxTurns: options.maxTurns ?? config.maxTurns ?? defaultMaxTurns,
    usage: { record },
    messages: options.contextMessages && contextHistory(options.contextMessages),
    callSettings: config.config?.callSettings,
  })
  return {
    id,
    config,
    session,
    outputSchema: schemaOf(config, options),
    timeoutMs: timeoutOf(config, options),
    notices: () => selection.notices,
    refresh: () => {
      selection = select()
    },
    used: () => used,
  }

  function select(): ToolSelection {
    return selectAgain(config, {
      subagent: config.name,
      ceiling: parent.tools(),
      tools: ofSkills.length === 0 ? config.tools : [...(config.tools ?? []), ...ofSkills],
      disallowed: config.disallowedTools,
      readOnly: strictest(parent.permissionMode, config.permissionMode).mode === 'plan',
    })
  }

  function record(entry: UsageEntry): void {
    used = addUsage(used, entry.usage)
    input.onUsage(entry)
  }
}

async function toolsOf(
  skills: readonly Activation[],
  { parent, signal }: ChildInput,
): Promise<readonly AgentTool[]> {
  const tools = await Promise.all(
    skills.map(async (skill) => (await parent.toolsOfSkill?.(skill, signal)) ?? []),
  )
  return [...tools.flat(), ...(await resourcesOf(skills, parent))]
}

/** What the content of a skill refers to can be read, and no further skill can be activated. */
async function resourcesOf(
  skills: readonly Activation[],
  parent: SubagentParent,
): Promise<readonly AgentTool[]> {
  const manager = parent.skills()
  if (manager === undefined) return []
  const loaded = await Promise.all(skills.map(async ({ name }) => await manager.get(name)))
  const withFiles = loaded
    .filter((skill) => skill !== undefined)
    .filter(({ resources: { files } }) => files.length > 0)
  return withFiles.length === 0 ? [] : [resourceTool(withFiles, manager)]
}

function modelOf({ config, options, parent }: ChildInput): ModelObject | Promise<ModelObject> {
  const wanted = options.model ?? config.model
  if (wanted === undefined) return parent.model()
  return typeof wanted === 'string' ? parent.resolveModel(wanted) : wanted
}

function schemaOf(config: SubagentConfig, options: DelegateOptions): JsonObject | undefined {
  const schema = options.outputSchema ?? config.outputSchema
  return schema === undefined ? undefined : jsonSchemaOf(config.name, schema)
}

/** A name that leads nowhere is said, so that the model does not look for the tool. */
function missingTools(notices: readonly string[]): string | undefined {
  return notices.length === 0 ? undefined : ['Note:', ...notices].join('\n')
}
