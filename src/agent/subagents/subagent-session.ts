import type { ModelMessage } from 'ai'
import type { JsonObject } from '#core/json'
import type { Activation } from '#library/activation'
import { parseAllowedTools } from '#skill/allowed-tools'
import type { AgentOptions } from '#agent/agent-options'
import type { CallSettings } from '#agent/check-options'
import { type CallRules, createPermit } from '#agent/approval/permit'
import type { PermissionMode } from '#agent/approval/permission-mode'
import { SubagentDelegationError } from '#agent/errors'
import { promptText } from '#agent/prompt-template'
import { AgentSession } from '#agent/session'
import type { PromptContext, SessionPart } from '#agent/session-contract'
import type { ActiveSkill } from '#agent/skills/active-skills'
import { SkillHooks } from '#agent/skills/skill-hooks'
import { resourceTools } from '#agent/skills/skill-tools'
import { jsonSchemaOf } from '#agent/tool'
import type { AgentTool, ModelObject, TokenUsage, UsageEntry } from '#agent/types'
import { addUsage, noUsage, overspent } from '#agent/usage'
import type { DelegateOptions, SubagentConfig } from './config.ts'
import type { SubagentParent } from './parent.ts'
import { loadSkills } from './skills.ts'
import { selectTools, type ToolSelection } from './tool-selection.ts'

/** A task, and the definition of the subagent that carries it out. */
export interface DelegationRequest {
  /** The ID of the delegation that is resumed; default: a new one. */
  id?: string | undefined
  config: SubagentConfig
  task: string
  options: DelegateOptions
  /** The skill with `context: fork` that the subagent carries out. */
  forked?: Activation | undefined
  /** Tokens that the resumed delegation has used. They count towards the token limit. */
  usedBefore?: TokenUsage | undefined
}

interface SubagentInput extends DelegationRequest {
  parent: SubagentParent
  signal: AbortSignal | undefined
  onUsage: (entry: UsageEntry) => void
}

/**
 * The conversation of a subagent, with a history, tools and usage of its own. It shares the model
 * object and the functions of tools with its parent, and nothing else.
 */
export class SubagentSession {
  readonly id: string
  readonly config: SubagentConfig
  readonly parent: SubagentParent
  readonly conversation: AgentSession
  readonly outputSchema: JsonObject | undefined
  readonly #skills: SubagentSkills
  readonly #mode: PermissionMode
  readonly #mayAsk: boolean
  readonly #usedBefore: TokenUsage
  #used = noUsage
  #selection: ToolSelection

  static async create(input: SubagentInput): Promise<SubagentSession> {
    return new SubagentSession(input, await subagentSkills(input))
  }

  private constructor(input: SubagentInput, skills: SubagentSkills) {
    const { id, config, parent, options, usedBefore = noUsage, onUsage } = input
    const { environment } = parent
    this.id = id ?? environment.runtime.id()
    this.config = config
    this.parent = parent
    this.#usedBefore = usedBefore
    this.#skills = skills
    // The restrictions of both modes apply.
    const modes = [environment.options.permissionMode, config.permissionMode]
    this.#mayAsk = !modes.includes('dont-ask')
    this.#mode = modes.includes('plan') ? 'plan' : this.#mayAsk ? 'default' : 'dont-ask'
    this.#selection = this.#selectTools()
    const schema = options.outputSchema ?? config.outputSchema
    this.outputSchema = schema ? jsonSchemaOf(config.name, schema) : undefined

    const model = options.model ?? config.model ?? undefined
    const maxTokens = options.maxTokens ?? environment.options.maxTokens
    this.conversation = new AgentSession({
      agent: config.name,
      delegation: this.id,
      model: () => this.#resolveModel(model),
      parts: [
        { instructions: (run) => this.#instructions(run), tools: () => this.#selection.tools },
        ...(parent.servers?.subagentWorkflows() ?? []),
        this.#rules(),
      ],
      maxTurns: options.maxTurns ?? config.maxTurns ?? undefined,
      usage: {
        exhausted: () => parent.exhausted?.() ?? overspent(this.totalUsed, maxTokens),
        record: (entry) => {
          this.#used = addUsage(this.#used, entry.usage)
          onUsage(entry)
        },
      },
      messages: options.contextMessages && contextHistory(options.contextMessages),
      limits: environment.options.limits,
      telemetry: environment.options.telemetry,
      callSettings: callSettingsOf(environment.options, model, config.config?.callSettings),
    })
  }

  /** Sentences about tools that the subagent should have and does not get. */
  get notices() {
    return this.#selection.notices
  }

  /** Tokens of this delegation. */
  get used() {
    return this.#used
  }

  /** Tokens of this delegation and of the earlier ones that it resumes. */
  get totalUsed() {
    return addUsage(this.#usedBefore, this.#used)
  }

  #resolveModel(model: string | ModelObject | undefined): ModelObject | Promise<ModelObject> {
    const { environment } = this.parent
    if (!model) return environment.model()
    return typeof model === 'string' ? environment.resolveModel(model) : model
  }

  async #instructions({ onEvent }: PromptContext): Promise<string> {
    // The tools of the parent can have changed since the subagent was created.
    this.#selection = this.#selectTools()
    const { config, notices } = this
    for (const message of notices) onEvent({ type: 'notice', agent: config.name, message })
    // The model reads the notices too, so that it does not look for the missing tools.
    const note = notices.length === 0 ? [] : [['Note:', ...notices].join('\n')]
    const contents = this.#skills.inInstructions.map(({ content }) => content)
    return [systemPrompt(config), ...contents, ...note].join('\n\n')
  }

  #selectTools(): ToolSelection {
    const { name, tools, disallowedTools } = this.config
    return selectTools({
      subagent: name,
      ceiling: this.parent.tools(),
      tools: [...(tools ?? []), ...this.#skills.tools],
      disallowed: disallowedTools,
      readOnly: this.#mode === 'plan',
    })
  }

  /** Checks calls against the deny lists, the selected patterns and the skills; the parent's approver decides. */
  #rules(): SessionPart {
    const { config, parent } = this
    const { denied, options, runtime } = parent.environment
    const hooks = this.#skillHooks()
    const noRules: CallRules = { preApproved: [], narrowed: [] }
    return {
      afterTool: hooks?.after,
      beforeStop: hooks && ((text) => hooks.stop(text, undefined)),
      permit: createPermit({
        agent: config.name,
        platform: runtime.platform,
        denied: [...denied, ...(config.disallowedTools ?? []).flatMap(parseAllowedTools)],
        mode: this.#mode,
        approver: this.#mayAsk ? options.approver : undefined,
        rules: () => {
          const { narrowed, ...rules } = hooks?.rules ?? noRules
          const narrowedInParent = parent.skills()?.rules.narrowed ?? []
          return {
            ...rules,
            narrowed: [...narrowedInParent, ...narrowed],
            limits: this.#selection.limits,
          }
        },
      }),
    }
  }

  /** The hooks of the subagent's skills; undefined if the parent has no skills. */
  #skillHooks(): SkillHooks | undefined {
    const { config, parent } = this
    const { runtime } = parent.environment
    const parentSkills = parent.skills()
    if (!parentSkills) return undefined
    return new SkillHooks({
      skills: () => this.#skills.active,
      manager: parentSkills.manager,
      project: runtime.cwd,
      mode: this.#mode,
      sessionId: parentSkills.sessionId,
      runtime,
      notice: (message) => parent.onEvent({ type: 'notice', agent: config.name, message }),
    })
  }
}

interface SubagentSkills {
  /** Skills of the definition, whose content is part of the instructions. */
  inInstructions: readonly Activation[]
  /** The same skills, and the one that the subagent carries out. */
  active: readonly ActiveSkill[]
  /** Their tools, and one that reads their files. None of them activates a further skill. */
  tools: readonly AgentTool[]
}

async function subagentSkills(input: SubagentInput): Promise<SubagentSkills> {
  const { config, parent, options, forked, signal } = input
  const parentSkills = parent.skills()
  const source = options.source ?? forked?.source
  const inInstructions = await loadSkills(config.skills ?? [], parentSkills, config.name, source)
  const activations = forked ? [...inInstructions, forked] : inInstructions
  if (!parentSkills) return { inInstructions, active: [], tools: [] }
  const loading = activations.map((activation) => parentSkills.load(activation, signal))
  const active = (await Promise.all(loading)).flat()
  const resources = resourceTools(
    active.map(({ skill }) => skill),
    parentSkills.manager,
  )
  return {
    inInstructions,
    active,
    tools: [...active.flatMap(({ tools }) => tools()), ...resources],
  }
}

function systemPrompt({ name, systemPrompt: prompt }: SubagentConfig): string {
  const text = promptText(prompt ?? '').trim()
  return (
    text ||
    `You are the subagent ${name}. Carry out the task with the tools that you have, and answer with the result. You cannot ask questions: make open decisions yourself, and report them.`
  )
}

/** A subagent inherits headers and provider options only if it uses the provider of its parent. */
function callSettingsOf(
  parent: Pick<AgentOptions, 'model' | 'callSettings'>,
  model: SubagentConfig['model'],
  overrides: CallSettings = {},
): CallSettings {
  const { headers, providerOptions, ...general } = parent.callSettings ?? {}
  const providerOf = (name: unknown): unknown =>
    typeof name === 'string' ? name.split(':', 1)[0] : name
  const usesSameProvider = model === undefined || providerOf(model) === providerOf(parent.model)
  if (!usesSameProvider) return { ...general, ...overrides }
  const mergedSettings = { ...general, providerOptions, ...overrides }
  return { ...mergedSettings, headers: { ...headers, ...overrides.headers } }
}

/** Copies messages, without calls that lack their result and results that lack their call. */
function contextHistory(messages: readonly ModelMessage[]): ModelMessage[] {
  if (messages.some(({ role }) => role === 'system')) {
    const message = 'A system message cannot be part of the context of a subagent.'
    throw new SubagentDelegationError({ code: 'context-system-message', message })
  }
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : [...content]))
  const idsOf = (type: 'tool-call' | 'tool-result'): Set<string> =>
    new Set(parts.flatMap((part) => (part.type === type ? part.toolCallId : [])))
  const [calls, results] = [idsOf('tool-call'), idsOf('tool-result')]
  const isPaired = (part: (typeof parts)[number]) => {
    if (part.type === 'tool-call') return results.has(part.toolCallId)
    return part.type !== 'tool-result' || calls.has(part.toolCallId)
  }
  return structuredClone(messages).flatMap((message): ModelMessage[] => {
    if (typeof message.content === 'string' || message.role === 'user') return [message]
    const content = message.content.filter(isPaired)
    return content.length === 0 ? [] : [Object.assign(message, { content })]
  })
}
