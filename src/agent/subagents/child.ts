import type { ModelMessage } from 'ai'
import type { Activation } from '../../library/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import { type CallRules, createPermit } from '../approval/permit.ts'
import { callFits } from '../approval/tool-patterns.ts'
import { SubagentDelegationError } from '../errors.ts'
import { promptText } from '../prompt-template.ts'
import type { ModelObject } from '../resolve-model.ts'
import { type AgentSession, openSession, type SessionPart } from '../session.ts'
import { heldHooks } from '../skills/skill-hooks.ts'
import { resourceTool } from '../skills/skill-tools.ts'
import { jsonSchemaOf } from '../tool.ts'
import type { AgentTool, TokenUsage, UsageEntry } from '../types.ts'
import { addUsage, noUsage } from '../usage.ts'
import {
  type DelegateOptions,
  type PermissionMode,
  type SubagentConfig,
  timeoutOf,
} from './config.ts'
import type { SubagentParent } from './parent.ts'
import { selectAgain, type ToolSelection } from './select-tools.ts'
import { loadSkills } from './skills.ts'

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

interface ChildInput {
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
    maxTurns: options.maxTurns ?? config.maxTurns,
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

interface GuardOptions {
  config: SubagentConfig
  /** The one that holds now. */
  selection: () => ToolSelection
  /** Skills whose permissions hold in this conversation. */
  skills: readonly Activation[]
  parent: SubagentParent
}

/**
 * Stands before every call of a subagent: the patterns of its definition, then everything that an
 * agent's own calls are held against, with whoever approves for the parent.
 */
function guardPart(options: GuardOptions): SessionPart {
  const { config, selection, parent } = options
  const { platform } = parent.runtime
  const { mode, asks } = strictest(parent.permissionMode, config.permissionMode)
  const hooks = heldHooks(options.skills, {
    manager: parent.skills(),
    runtime: parent.runtime,
    project: parent.runtime.cwd,
    mode,
    notice: (message) => parent.onEvent({ type: 'notice', agent: config.name, message }),
  })
  const rules = rulesOf(options.skills, parent, hooks.beforeTool)
  return {
    afterTool: hooks.afterTool,
    beforeStop: hooks.beforeStop,
    permit(tool, input, context) {
      const { limits, denied } = selection()
      const limit = limits.get(tool.name)
      if (limit !== undefined && !callFits(tool, input, limit, platform)) {
        const reason = `this subagent may only call it as ${limit.join(' or ')}`
        return Promise.resolve({ allowed: false, reason })
      }
      const permit = createPermit({
        agent: config.name,
        platform,
        rules,
        denied: [...(parent.denied ?? []), ...denied],
        mode,
        approver: asks ? parent.approver() : undefined,
      })
      return permit(tool, input, context)
    },
  }
}

/**
 * Two modes at once: what one of them rules out is ruled out. Reading only and asking nobody can
 * both hold.
 */
function strictest(...modes: readonly (PermissionMode | undefined)[]): {
  mode: PermissionMode
  asks: boolean
} {
  const silent = modes.includes('dont-ask')
  if (modes.includes('plan')) return { mode: 'plan', asks: !silent }
  return { mode: silent ? 'dont-ask' : 'default', asks: !silent }
}

/** What the skills of a subagent allow, and what they and those of its parent narrow. */
function rulesOf(
  skills: readonly Activation[],
  { narrowed: above }: SubagentParent,
  beforeTool: CallRules['beforeTool'],
): CallRules {
  const preApproved = skills.flatMap(({ effects }) => effects.preApproved)
  const narrowed = skills.flatMap(({ name, effects: { narrowedTo } }) =>
    narrowedTo === undefined ? [] : [{ skill: name, tools: narrowedTo }],
  )
  return {
    preApproved: () => preApproved,
    narrowed: () => [...(above?.() ?? []), ...narrowed],
    beforeTool,
  }
}

/**
 * The system prompt of a subagent: its own, then the whole content of its skills.
 *
 * @throws {PromptTemplateError} for a template that lacks a value.
 */
function childInstructions(
  { name, systemPrompt }: SubagentConfig,
  skills: readonly Activation[],
): string {
  const own = promptText(systemPrompt ?? '').trim()
  return [
    own === '' ? `You are the subagent ${name}. ${howToWork}` : own,
    ...skills.map(({ content }) => content),
  ].join('\n\n')
}

const howToWork =
  'Carry out the task that you are given, with the tools that you have, and answer with the result. Nobody answers questions: decide what is open yourself, and say so.'

/** The task with what else the subagent is to know, as its first prompt. */
export function taskPrompt(task: string, context: string | undefined): string {
  if (context === undefined || context.trim() === '') return task
  return `${task}\n\n<context>\n${context.trim()}\n</context>`
}

/** @throws {SubagentDelegationError} for a task without a word in it. */
export function requireTask(task: string, name: string): string {
  if (typeof task === 'string' && task.trim() !== '') return task
  throw new SubagentDelegationError({
    code: 'task-empty',
    message: `The task for ${name} is empty: a subagent knows nothing but its task.`,
    hint: 'Say what to do, with everything that is needed for it.',
  })
}

/**
 * Messages of another conversation as a history to begin with: copies, without calls that have no
 * result and results that have no call, which no provider takes.
 *
 * @throws {SubagentDelegationError} for a message that is none.
 */
function contextHistory(messages: readonly ModelMessage[]): ModelMessage[] {
  const copies = messages.map(copy)
  const calls = idsOf(copies, 'assistant', 'tool-call')
  const results = idsOf(copies, 'tool', 'tool-result')
  return copies.flatMap((message): ModelMessage[] => {
    if (message.role === 'assistant' && typeof message.content !== 'string') {
      const content = message.content.filter(
        (part) => part.type !== 'tool-call' || results.has(part.toolCallId),
      )
      return content.length === 0 ? [] : [{ ...message, content }]
    }
    if (message.role === 'tool') {
      const content = message.content.filter(
        (part) => part.type === 'tool-result' && calls.has(part.toolCallId),
      )
      return content.length === 0 ? [] : [{ ...message, content }]
    }
    return [message]
  })
}

function copy(message: ModelMessage): ModelMessage {
  if (message.role === 'system') {
    throw new SubagentDelegationError({
      code: 'context-system-message',
      message: 'A system message cannot be part of the context of a subagent.',
      hint: 'Put it into `systemPrompt` of its definition, or pass it as the text `context`.',
    })
  }
  return structuredClone(message)
}

function idsOf(
  messages: readonly ModelMessage[],
  role: 'assistant' | 'tool',
  type: 'tool-call' | 'tool-result',
): Set<string> {
  const ids = messages.flatMap((message) => {
    if (message.role !== role || typeof message.content === 'string') return []
    return message.content.flatMap((part) =>
      part.type === type && 'toolCallId' in part ? [part.toolCallId] : [],
    )
  })
  return new Set(ids)
}
