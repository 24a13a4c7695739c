import type { ModelMessage } from 'ai'
import type { Activation } from '../../library/activation.ts'
import type { JsonObject } from '../../tools/model.ts'
import { type CallRules, createPermit } from '../approval/permit.ts'
import { callFits } from '../approval/tool-patterns.ts'
import { SubagentDelegationError } from '../errors.ts'
import { promptText } from '../prompt-template.ts'
import type { ModelObject } from '../types.ts'
import { AgentSession, type SessionPart } from '../session.ts'
import { readHooks } from '../skills/hook-format.ts'
import { SkillHooks } from '../skills/skill-hooks.ts'
import { resourceTool } from '../skills/skill-tools.ts'
import { jsonSchemaOf } from '../tool.ts'
import type { AgentTool, TokenUsage, UsageEntry } from '../types.ts'
import { addUsage, noUsage } from '../usage.ts'
import type { DelegateOptions, PermissionMode, SubagentConfig } from './config.ts'
import type { SubagentParent } from './parent.ts'
import { selectTools, type ToolSelection } from './select-tools.ts'
import { loadSkills } from './skills.ts'

interface ChildInput {
  id: string
  config: SubagentConfig
  parent: SubagentParent
  options: DelegateOptions
  /** Ends the wait for servers that a skill names. */
  signal?: AbortSignal | undefined
  /** A skill that is the task itself: one that forks. */
  forked?: Activation | undefined
  onUsage: (entry: UsageEntry) => void
}

/**
 * A subagent with its own history, tools and usage; it may not have been asked yet. It shares the model
 * object and the tools' functions with its parent, and nothing else.
 */
export class Child {
  readonly id: string
  readonly config: SubagentConfig
  readonly session: AgentSession
  readonly outputSchema: JsonObject | undefined
  readonly #input: ChildInput
  readonly #toolsOfSkills: readonly AgentTool[]
  #selection: ToolSelection
  #used = noUsage

  /**
   * @throws {SkillNotFoundError} for a skill that it is to have and that does not exist;
   *   {SkillInvocationError} for one that no model may start, where a model delegates.
   */
  static async create(input: ChildInput): Promise<Child> {
    const { config, parent, options, forked, signal } = input
    const source = options.source ?? forked?.source
    const own = config.skills
      ? await loadSkills(config.skills, parent.skills(), config.name, source)
      : []
    const skills = forked === undefined ? own : [...own, forked]
    const tools = await Promise.all(
      skills.map(async (skill) => (await parent.toolsOfSkill?.(skill, signal)) ?? []),
    )
    return new Child(input, own, skills, [...tools.flat(), ...(await resources(skills, parent))])
  }

  private constructor(
    input: ChildInput,
    own: readonly Activation[],
    skills: readonly Activation[],
    toolsOfSkills: readonly AgentTool[],
  ) {
    const { id, config, parent, options } = input
    this.id = id
    this.config = config
    this.#input = input
    this.#toolsOfSkills = toolsOfSkills
    this.#selection = this.#select()
    const schema = options.outputSchema ?? config.outputSchema
    this.outputSchema = schema === undefined ? undefined : jsonSchemaOf(config.name, schema)
    this.session = new AgentSession({
      agent: config.name,
      delegation: id,
      model: () => modelOf(input),
      instructions: instructionsOf(config, own),
      parts: [
        {
          // The model is told of a name that selects nothing, so that it does not look for the tool.
          instructions: async () =>
            this.notices.length === 0 ? undefined : ['Note:', ...this.notices].join('\n'),
          tools: () => this.#selection.tools,
        },
        ...(parent.partsOfChild?.() ?? []),
        this.#guard(skills),
      ],
      maxTurns: options.maxTurns ?? config.maxTurns,
      usage: {
        record: (entry) => {
          this.#used = addUsage(this.#used, entry.usage)
          input.onUsage(entry)
        },
      },
      messages: options.contextMessages && contextHistory(options.contextMessages),
      callSettings: config.config?.callSettings,
    })
  }

  /** What was asked for and does not exist, as of the last {@link Child.refresh}. */
  get notices(): readonly string[] {
    return this.#selection.notices
  }

  /** What its model calls used so far, of all its runs. */
  get used(): TokenUsage {
    return this.#used
  }

  /** Selects the tools again, from those that the parent may use now. */
  refresh(): void {
    this.#selection = this.#select()
  }

  #select(): ToolSelection {
    const { config, parent } = this.#input
    return selectTools({
      subagent: config.name,
      ceiling: parent.tools(),
      tools: [...(config.tools ?? []), ...this.#toolsOfSkills],
      disallowed: config.disallowedTools,
      readOnly: strictest(parent.permissionMode, config.permissionMode).mode === 'plan',
    })
  }

  /**
   * Decides about every call: the patterns of the definition first, then all rules of an agent's own
   * calls, with the approver of the parent.
   */
  #guard(skills: readonly Activation[]): SessionPart {
    const { config, parent } = this.#input
    const { platform } = parent.runtime
    const { mode, asks } = strictest(parent.permissionMode, config.permissionMode)
    const hooks = hooksOf(skills, this.#input, mode)
    const rules: CallRules = {
      preApproved: () => skills.flatMap(({ effects }) => effects.preApproved),
      narrowed: () => [
        ...(parent.narrowed?.() ?? []),
        ...skills.flatMap(({ name, effects: { narrowedTo } }) =>
          narrowedTo === undefined ? [] : [{ skill: name, tools: narrowedTo }],
        ),
      ],
      beforeTool: hooks && ((...call) => hooks.before(...call)),
    }
    return {
      afterTool: hooks?.after,
      beforeStop: hooks && ((text) => hooks.stop(text, undefined)),
      permit: async (tool, input, context) => {
        const { limits, denied } = this.#selection
        const limit = limits.get(tool.name)
        if (limit !== undefined && !callFits(tool, input, limit, platform)) {
          const reason = `this subagent may only call it as ${limit.join(' or ')}`
          return { allowed: false, reason }
        }
        const permit = createPermit({
          agent: config.name,
          platform,
          rules,
          denied: [...(parent.denied ?? []), ...denied],
          mode,
          approver: asks ? parent.approver() : undefined,
        })
        return await permit(tool, input, context)
      },
    }
  }
}

/** The files that the content of a skill refers to can be read; no further skill can be activated. */
async function resources(
  skills: readonly Activation[],
  parent: SubagentParent,
): Promise<readonly AgentTool[]> {
  const manager = parent.skills()
  if (manager === undefined) return []
  const loaded = await Promise.all(skills.map(({ name }) => manager.get(name)))
  const withFiles = loaded
    .filter((skill) => skill !== undefined)
    .filter((skill) => skill.resources.files.length > 0)
  return withFiles.length === 0 ? [] : [resourceTool(withFiles, manager)]
}

function modelOf({ config, options, parent }: ChildInput): ModelObject | Promise<ModelObject> {
  const wanted = options.model ?? config.model
  if (wanted === undefined) return parent.model()
  return typeof wanted === 'string' ? parent.resolveModel(wanted) : wanted
}

/** The hooks of skills that a subagent has from the start, for as long as it lives. */
function hooksOf(
  activations: readonly Activation[],
  { config, parent }: ChildInput,
  mode: PermissionMode,
): SkillHooks | undefined {
  const manager = parent.skills()
  const hooked = activations.filter(({ effects }) => effects.hooks !== undefined)
  if (manager === undefined || hooked.length === 0) return undefined
  const skills = hooked.map(async ({ name, effects }) => ({
    name,
    directory: (await manager.get(name))?.info.directory ?? '',
    hooks: readHooks(effects.hooks).hooks,
  }))
  return new SkillHooks({
    skills: () => Promise.all(skills),
    confirm: (name) => manager.requireTrusted(name, 'run its hooks'),
    project: parent.runtime.cwd,
    mode,
    runtime: parent.runtime,
    notice: (message) => parent.onEvent({ type: 'notice', agent: config.name, message }),
  })
}

/** Combines two modes: what one of them rules out is ruled out. `asks` is false for `dont-ask`. */
function strictest(...modes: readonly (PermissionMode | undefined)[]): {
  mode: PermissionMode
  asks: boolean
} {
  const silent = modes.includes('dont-ask')
  if (modes.includes('plan')) return { mode: 'plan', asks: !silent }
  return { mode: silent ? 'dont-ask' : 'default', asks: !silent }
}

/**
 * The system prompt of a subagent: its own, then the whole content of its skills.
 *
 * @throws {PromptTemplateError} for a template that lacks a value.
 */
function instructionsOf(
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
  'Carry out the task that you are given, with the tools that you have, and answer with the result. You cannot ask questions: make open decisions yourself, and report them.'

/**
 * Messages of another conversation as a history to begin with: copies, without calls that have no
 * result and results that have no call, which no provider accepts.
 *
 * @throws {SubagentDelegationError} for a system message.
 */
function contextHistory(messages: readonly ModelMessage[]): ModelMessage[] {
  if (messages.some(({ role }) => role === 'system')) {
    throw new SubagentDelegationError({
      code: 'context-system-message',
      message: 'A system message cannot be part of the context of a subagent.',
      hint: 'Put it into `systemPrompt` of its definition, or pass it as the text `context`.',
    })
  }
  const calls = idsOf(messages, 'tool-call')
  const results = idsOf(messages, 'tool-result')
  return structuredClone(messages).flatMap((message): ModelMessage[] => {
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

function idsOf(
  messages: readonly ModelMessage[],
  type: 'tool-call' | 'tool-result',
): ReadonlySet<string> {
  const role = type === 'tool-call' ? 'assistant' : 'tool'
  const ids = messages.flatMap((message) => {
    if (message.role !== role || typeof message.content === 'string') return []
    return message.content.flatMap((part) =>
      part.type === type && 'toolCallId' in part ? [part.toolCallId] : [],
    )
  })
  return new Set(ids)
}
