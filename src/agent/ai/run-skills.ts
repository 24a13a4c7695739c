import type { ModelMessage, UserModelMessage } from 'ai'
import { messageOf } from '#core/errors'
import { objectOf } from '#core/json'
import type { InvocationSource } from '#library/activation'
import { SkillError, SkillInvocationError } from '#skill/errors'
import type { ActiveSkill } from '#agent/skills/active-skills'
import { SkillHooks } from '#agent/skills/skill-hooks'
import { hasText, messageTexts, skillToolName } from '#agent/conversation/messages'
import { type SkillSet, typedSkill } from '#agent/skills/skill-set'
import type { PermissionMode } from '#agent/approval/permission-mode'
import type { DescribedTool } from '#agent/types'

interface RunSkillsOptions {
  set: SkillSet
  /** Skills that are active from the start. */
  start: readonly SkillRequest[]
  lifetime: SkillLifetime
  mode: PermissionMode | undefined
  notice: (message: string) => void
}

/** How long a skill is active: until the user's next message, or to the end of the conversation. */
export type SkillLifetime = 'turn' | 'conversation'

/** A request for a skill in a conversation. */
export interface SkillRequest {
  name: string
  arguments: string
  source: InvocationSource
}

/** The skills that are active in one call of `generateText`, `streamText` or an agent. */
export class RunSkills {
  readonly hooks: SkillHooks
  readonly #options: RunSkillsOptions
  #active: ReadonlyMap<string, ActiveSkill> = new Map()
  /** Skills that the user typed in this turn and that run in a subagent. */
  #typedForks: readonly SkillRequest[] = []
  /** Objections of Stop hooks, by the IDs of their calls of `skill_stop` that wait for a decision. */
  readonly #objections = new Map<string, string>()

  constructor(options: RunSkillsOptions) {
    const { set, mode, notice } = options
    this.#options = options
    this.hooks = new SkillHooks({ ...set.context, mode, notice, skills: () => this.active })
  }

  /** Asks the Stop hooks about a final answer. If they object, returns the ID for a call of `skill_stop`. */
  async stop(text: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    const objection = await this.hooks.stop(text, signal)
    if (objection === undefined) return undefined
    const toolCallId = `stop-${crypto.randomUUID()}`
    this.#objections.set(toolCallId, objection)
    return toolCallId
  }

  /** Returns the objection behind a call of `skill_stop`, once; undefined for a call that no hook made. */
  takeObjection(toolCallId: string): string | undefined {
    const objection = this.#objections.get(toolCallId)
    this.#objections.delete(toolCallId)
    return objection
  }

  get active() {
    return [...this.#active.values()]
  }

  /** A skill that the user typed, that runs in a subagent, and that has not been called. */
  get pendingFork(): SkillRequest | undefined {
    return this.#typedForks[0]
  }

  /** Returns whose request a model's call of a skill carries out: the user's, if the user typed it. */
  sourceOf(name: string): InvocationSource {
    return this.#typedForks.some((fork) => fork.name === name) ? 'user' : 'model'
  }

  /** Reads the activations from a conversation. A skill that is already active is not prepared again. */
  async follow(messages: readonly ModelMessage[]): Promise<void> {
    const { set, start, lifetime, notice } = this.#options
    const names = (await set.manager.list()).map(({ name }) => name)
    const active = new Map<string, ActiveSkill>()
    const forks: SkillRequest[] = []
    for (const request of [...start, ...activationsIn(messages, names, lifetime)]) {
      const { name, arguments: argumentText, source } = request
      const key = JSON.stringify(request)
      const current = this.#active.get(key)
      if (current) {
        active.set(key, current)
        continue
      }
      try {
        const preparation = await set.prepare(name, argumentText, { source }, notice)
        if (preparation.active) active.set(key, preparation.active)
        else if (source === 'user') forks.push(request)
      } catch (error) {
        notice(`The skill ${name} is not active: ${messageOf(error)}`)
      }
    }
    this.#active = active
    this.#typedForks = forks
  }

  /** Returns messages as the model reads them: `/name` becomes the skill, after its references. */
  async prompts(messages: readonly ModelMessage[]): Promise<ModelMessage[]> {
    const { set, notice } = this.#options
    const names = (await set.manager.list()).map(({ name }) => name)
    const promptMessages: ModelMessage[] = []
    for (const message of messages) {
      if (message.role !== 'user') {
        promptMessages.push(message)
        continue
      }
      const [request] = activationsIn([message], names, 'turn')
      const text = messageTexts(message).join('\n')
      const isInMessages = (reference: string) => hasText([...promptMessages, message], reference)
      const references = await set.references(text, isInMessages, notice)
      const content = request ? await this.#typedContent(request) : text
      const isSame = references === '' && content === text
      promptMessages.push(isSame ? message : withText(message, `${references}${content}`))
    }
    return promptMessages
  }

  /** Returns the contents of active skills that these messages do not contain. */
  missingContents(messages: readonly ModelMessage[]) {
    return this.active
      .filter(({ activation }) => !hasText(messages, activation.content))
      .map(skillText)
  }

  /** Returns the text that replaces `/name arguments` of the user. */
  async #typedContent({ name, arguments: argumentText, source }: SkillRequest): Promise<string> {
    const { set } = this.#options
    const ignoreNotice = () => undefined
    try {
      const { activation, active } = await set.prepare(name, argumentText, { source }, ignoreNotice)
      if (active) return skillText(active)
      const input = JSON.stringify({ name: activation.name, arguments: argumentText })
      return `The user asks for the skill ${name}. Call the tool skill with ${input}.`
    } catch (error) {
      // A skill can break or be deleted while the program runs: that must not fail a request.
      if (!(error instanceof SkillError)) throw error
      const isRefusal = error instanceof SkillInvocationError
      const verb = isRefusal ? 'that is refused' : 'the skill cannot be used'
      return `The user typed /${name}, and ${verb}: ${messageOf(error)}`
    }
  }
}

/**
 * Returns the activations that last at the end of a conversation, in their order: successful calls of
 * the tool `skill`, and `/name` of the user. With the lifetime `turn`, a message of the user ends all
 * earlier ones.
 */
function activationsIn(
  messages: readonly ModelMessage[],
  names: readonly string[],
  lifetime: SkillLifetime,
): SkillRequest[] {
  const active = new Map<string, SkillRequest>()
  const inputs = new Map<string, unknown>()
  for (const message of messages) {
    if (message.role === 'user') {
      if (lifetime === 'turn') active.clear()
      const typedRequest = typedSkill(messageTexts(message).join('\n'), names)
      if (typedRequest) {
        const { name, argumentText } = typedRequest
        active.set(name, { name, arguments: argumentText, source: 'user' })
      }
    }
    if (typeof message.content === 'string') continue
    for (const part of message.content) {
      if (part.type === 'tool-call' && part.toolName === skillToolName) {
        inputs.set(part.toolCallId, part.input)
      }
      if (part.type !== 'tool-result' || !inputs.has(part.toolCallId)) continue
      if (/^(?:error|execution-denied)/.test(part.output.type)) continue
      const input = objectOf(inputs.get(part.toolCallId))
      const { name } = input
      if (typeof name !== 'string') continue
      if (input['done'] === true) active.delete(name)
      else if (!active.has(name) || active.get(name)?.arguments !== input['arguments']) {
        const argumentText = typeof input['arguments'] === 'string' ? input['arguments'] : ''
        active.set(name, { name, arguments: argumentText, source: 'model' })
      }
    }
  }
  return [...active.values()]
}

function withText(message: UserModelMessage, text: string): UserModelMessage {
  if (typeof message.content === 'string') return { ...message, content: text }
  const files = message.content.filter(({ type }) => type !== 'text')
  return { ...message, content: [...files, { type: 'text', text }] }
}

function skillText(skill: ActiveSkill) {
  return withTools(skill.activation.content, skill.activation.name, describedTools(skill))
}

export function describedTools({ activation, tools }: ActiveSkill): DescribedTool[] {
  return tools().map(({ name, description, inputSchema }) => {
    return { tool: shortName(activation.name, name), description, inputSchema }
  })
}

/** Returns `tool` for `skill.tool`, for a text that names the skill too. */
export function shortName(skill: string, tool: string): string {
  return tool.startsWith(`${skill}.`) ? tool.slice(skill.length + 1) : tool
}

export function withTools(content: string, name: string, tools: readonly DescribedTool[]): string {
  if (tools.length === 0) return content
  const lines = tools.map((tool) => JSON.stringify(tool))
  return [content, `Tools of the skill ${name}, to be called with skill_tool:`, ...lines].join('\n')
}
