import type { ModelMessage } from 'ai'
import type { JsonObject } from '#core/json'
import type { Activation } from '#library/activation'
import { didYouMean } from '#core/text'
import { parseAllowedTools } from '#skill/allowed-tools'
import type { AgentOptions } from '#agent/agent-options'
import type { CallSettings } from '#agent/check-options'
import { type CallRules, createPermit } from '#agent/approval/permit'
import { type ToolSelector, toolSelectors } from '#agent/approval/tool-patterns'
import { knownBuiltIns } from '#agent/built-in-tools/built-in-tools'
import { SubagentDelegationError } from '#agent/errors'
import { promptText } from '#agent/prompt-template'
import { AgentSession, type SessionPart } from '#agent/session'
import type { ActiveSkill } from '#agent/skills/active-skills'
import { SkillHooks } from '#agent/skills/skill-hooks'
import { resourceTools } from '#agent/skills/skill-tools'
import { jsonSchemaOf } from '#agent/tool'
import type { AgentTool, TokenUsage, UsageEntry } from '#agent/types'
import { addUsage, noUsage, overspent } from '#agent/usage'
import type { DelegateOptions, PermissionMode, SubagentConfig, SubagentParent } from './config.ts'
import { loadSkills } from './skills.ts'

export interface Work {
  /** That of the delegation that is resumed. */
  id?: string | undefined
  config: SubagentConfig
  task: string
  options: DelegateOptions
  /** A skill that is the task itself: one that forks. */
  forked?: Activation | undefined
  /** What its limit of tokens holds for too: by the parts of the delegation that it resumes. */
  usedBefore?: TokenUsage | undefined
}

interface ChildInput extends Work {
  parent: SubagentParent
  signal: AbortSignal | undefined
  onUsage: (entry: UsageEntry) => void
}

/**
 * A subagent with its own history, tools and usage; it may not have been asked yet. It shares the model
 * object and the tools' functions with its parent, and nothing else.
 */
export class Child {
  readonly id: string
  readonly config: SubagentConfig
  readonly parent: SubagentParent
  readonly session: AgentSession
  readonly outputSchema: JsonObject | undefined
  readonly #skills: readonly ActiveSkill[]
  readonly #skillTools: readonly AgentTool[]
  readonly #mode: PermissionMode
  readonly #asks: boolean
  #selection: ToolSelection
  readonly #usedBefore: TokenUsage
  #used = noUsage

  static async create(input: ChildInput): Promise<Child> {
    const { config, parent, options, forked, signal } = input
    const ofParent = parent.skills()
    const manager = ofParent?.manager
    const source = options.source ?? forked?.source
    const own = await loadSkills(config.skills ?? [], manager, config.name, source)
    const skills = forked ? [...own, forked] : own
    const loaded = await Promise.all(
      skills.map(async (skill) => (await ofParent?.load(skill, signal)) ?? []),
    )
    return new Child(input, own, loaded.flat())
  }

  private constructor(
    { id, config, parent, options, usedBefore = noUsage, onUsage }: ChildInput,
    inInstructions: readonly Activation[],
    skills: readonly ActiveSkill[],
  ) {
    const { environment } = parent
    this.id = id ?? environment.runtime.id()
    this.config = config
    this.parent = parent
    this.#usedBefore = usedBefore
    this.#skills = skills
    const manager = parent.skills()?.manager
    const files = skills.map(({ skill }) => skill)
    // The files that a content refers to can be read; no further skill can be activated.
    const resources = manager ? resourceTools(files, manager) : []
    this.#skillTools = [...skills.flatMap(({ tools }) => tools()), ...resources]
    // What one of the two modes rules out is ruled out.
    const modes = [environment.options.permissionMode, config.permissionMode]
    this.#asks = !modes.includes('dont-ask')
    this.#mode = modes.includes('plan') ? 'plan' : this.#asks ? 'default' : 'dont-ask'
    this.#selection = this.#select()
    const schema = options.outputSchema ?? config.outputSchema
    this.outputSchema = schema ? jsonSchemaOf(config.name, schema) : undefined
    const model = options.model ?? config.model
    this.session = new AgentSession({
      agent: config.name,
      delegation: this.id,
      model: () => {
        if (model === undefined) return environment.model()
        return typeof model === 'string' ? environment.resolveModel(model) : model
      },
      parts: [
        {
          instructions: async ({ onEvent }) => {
            // What its parent may use can have changed since it was made.
            this.#selection = this.#select()
            for (const message of this.notices) {
              onEvent({ type: 'notice', agent: config.name, message })
            }
            // The model is told of a name that selects nothing, so that it does not look for the tool.
            const notes = this.notices.length === 0 ? [] : [['Note:', ...this.notices].join('\n')]
            return [...instructionsOf(config, inInstructions), ...notes].join('\n\n')
          },
          tools: () => this.#selection.tools,
        },
        ...(parent.servers?.workflowsOfChild() ?? []),
        this.#guard(),
      ],
      maxTurns: options.maxTurns ?? config.maxTurns,
      usage: {
        exhausted: () =>
          parent.exhausted?.() ??
          overspent(this.usedInAll, options.maxTokens ?? environment.options.maxTokens),
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

  get notices() {
    return this.#selection.notices
  }

  get used() {
    return this.#used
  }

  get usedInAll() {
    return addUsage(this.#usedBefore, this.#used)
  }

  #select(): ToolSelection {
    const { name, tools, disallowedTools } = this.config
    return selectTools({
      subagent: name,
      ceiling: this.parent.tools(),
      tools: [...(tools ?? []), ...this.#skillTools],
      disallowed: disallowedTools,
      readOnly: this.#mode === 'plan',
    })
  }

  /** The patterns of the definition, then the rules of calls with the approver of the parent. */
  #guard(): SessionPart {
    const { config, parent } = this
    const { denied, options, runtime } = parent.environment
    const hooks = this.#hooks()
    const none: CallRules = { preApproved: [], narrowed: [] }
    return {
      afterTool: hooks?.after,
      beforeStop: hooks && ((text) => hooks.stop(text, undefined)),
      permit: createPermit({
        agent: config.name,
        platform: runtime.platform,
        denied: [...denied, ...(config.disallowedTools ?? []).flatMap(parseAllowedTools)],
        mode: this.#mode,
        approver: this.#asks ? options.approver : undefined,
        rules: () => {
          const { narrowed, ...rules } = hooks?.rules ?? none
          const ofParent = parent.skills()?.rules.narrowed ?? []
          return { ...rules, narrowed: [...ofParent, ...narrowed], limits: this.#selection.limits }
        },
      }),
    }
  }

  #hooks(): SkillHooks | undefined {
    const { config, parent } = this
    const { runtime } = parent.environment
    const manager = parent.skills()?.manager
    if (!manager) return undefined
    return new SkillHooks({
      skills: () => this.#skills,
      manager,
      project: runtime.cwd,
      mode: this.#mode,
      runtime,
      notice: (message) => parent.onEvent({ type: 'notice', agent: config.name, message }),
    })
  }
}

/** Headers and options of a provider are the parent's only where its provider is the parent's too. */
function callSettingsOf(
  parent: Pick<AgentOptions, 'model' | 'callSettings'>,
  model: SubagentConfig['model'],
  own: CallSettings = {},
): CallSettings {
  const { headers, providerOptions, ...others } = parent.callSettings ?? {}
  const providerOf = (name: unknown): unknown =>
    typeof name === 'string' ? name.split(':', 1)[0] : name
  const isSame = model === undefined || providerOf(model) === providerOf(parent.model)
  const ofProvider = isSame ? { headers, providerOptions } : {}
  const merged = { ...others, ...ofProvider, ...own }
  return isSame ? { ...merged, headers: { ...headers, ...own.headers } } : merged
}

function instructionsOf({ name, systemPrompt }: SubagentConfig, skills: readonly Activation[]) {
  const own = promptText(systemPrompt ?? '').trim()
  const howToWork = `You are the subagent ${name}. Carry out the task with the tools that you have, and answer with the result. You cannot ask questions: make open decisions yourself, and report them.`
  return [own || howToWork, ...skills.map(({ content }) => content)]
}

/** Copies of messages without calls and results that lack the other, which no provider accepts. */
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

type ToolSelection = ReturnType<typeof selectTools>

/**
 * The allow list, then the deny list, under the ceiling of the parent. A tool that was given as a value
 * is the program's, is not held against the ceiling and takes precedence. Tools of the agent itself are
 * bound to its conversation and never passed on.
 */
export function selectTools(input: {
  subagent: string
  /** What the parent may use now: nothing else is ever selected by name. */
  ceiling: readonly AgentTool[]
  tools: readonly (string | AgentTool)[] | null | undefined
  disallowed: readonly string[] | null | undefined
  readOnly: boolean
}) {
  const asked = input.tools ?? []
  const own = asked.filter((item) => typeof item !== 'string')
  const selectors = toolSelectors(asked.filter((item) => typeof item === 'string'))
  const denied = toolSelectors(input.disallowed ?? []).filter((one) => one.pattern === undefined)
  const ceiling = input.ceiling.filter(({ origin }) => origin.kind !== 'agent')
  const limits = new Map<string, readonly string[]>()
  const names = new Set<string>()
  const tools: AgentTool[] = []
  for (const tool of [...own, ...ceiling]) {
    const entries = selectors.filter(({ selects }) => selects(tool))
    const isOwn = own.includes(tool)
    if (names.has(tool.name) || (!isOwn && entries.length === 0)) continue
    names.add(tool.name)
    if ((input.readOnly && !tool.readOnly) || denied.some(({ selects }) => selects(tool))) continue
    tools.push(tool)
    const patterns = entries.flatMap(({ pattern }) => pattern ?? [])
    if (!isOwn && patterns.length === entries.length) limits.set(tool.name, patterns)
  }
  const notices = selectors.flatMap((name) => missing(name, ceiling, input.subagent))
  return { tools, limits, notices }
}

function missing(name: ToolSelector, ceiling: readonly AgentTool[], subagent: string) {
  if (name.text === '*' || ceiling.some((tool) => name.selects(tool))) return []
  const wanted = `The tool ${name.text}, which the subagent ${subagent} is to have, is not there, or not allowed here.`
  return [`${wanted} ${hintFor(name, ceiling)}`.trim()]
}

function hintFor({ text, selects }: ToolSelector, ceiling: readonly AgentTool[]): string {
  const builtIn = knownBuiltIns().find(selects)?.name
  if (builtIn !== undefined) return `--tools ${builtIn}, or builtIns in a program, gives it.`
  const [, server] = /^mcp__([^*]+?)(?:__|$)/i.exec(text) ?? []
  if (server !== undefined) return `--mcp-server ${server}, or mcp in a program, gives it.`
  return didYouMean(
    text,
    ceiling.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])]),
  )
}
