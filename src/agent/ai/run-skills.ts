import type { LanguageModel, LanguageModelMiddleware, ModelMessage, UserModelMessage } from 'ai'
import { messageOf } from '#core/errors'
import { objectOf } from '#core/json'
import { aiSdk } from '#agent/ai-sdk'
import type { InvocationSource } from '#library/activation'
import { SkillInvocationError } from '#skill/errors'
import type { ActiveSkill } from '#agent/skills/active-skills'
import { SkillHooks } from '#agent/skills/skill-hooks'
import { hasText, messageTexts, skillToolName } from '#agent/conversation/compact'
import { type SkillSet, typedSkill } from '#agent/skills/skill-set'
import type { PermissionMode } from '#agent/subagents/config'
import type { DescribedTool } from '#agent/types'

interface RunSkillsOptions {
  set: SkillSet
  start: readonly AskedSkill[]
  lifetime: 'turn' | 'conversation'
  mode: PermissionMode | undefined
  notice: (message: string) => void
}

/** The active skills of one call of a model loop, as its conversation has them. */
export class RunSkills {
  readonly hooks: SkillHooks
  readonly #options: RunSkillsOptions
  #active: ReadonlyMap<string, ActiveSkill> = new Map()
  /** Skills of this turn that the user typed and that run in a subagent. */
  #typedForks: readonly AskedSkill[] = []

  constructor(options: RunSkillsOptions) {
    const { set, mode, notice } = options
    this.#options = options
    this.hooks = new SkillHooks({ ...set.context, mode, notice, skills: () => this.active })
  }

  get active() {
    return [...this.#active.values()]
  }

  /** A skill in a subagent that the user typed and that was not called yet. */
  get pendingFork(): AskedSkill | undefined {
    return this.#typedForks[0]
  }

  /** Who asks for a skill when the model calls it: the user, where the user typed it in this turn. */
  sourceOf(name: string): AskedSkill['source'] {
    return this.#typedForks.some((fork) => fork.name === name) ? 'user' : 'model'
  }

  /** Takes over the activations of a conversation; those that are known already stay as they are. */
  async follow(messages: readonly ModelMessage[]): Promise<void> {
    const { set, start, lifetime, notice } = this.#options
    const names = (await set.manager.list()).map(({ name }) => name)
    const active = new Map<string, ActiveSkill>()
    const forks: AskedSkill[] = []
    for (const asked of [...start, ...activationsIn(messages, names, lifetime)]) {
      const key = JSON.stringify(asked)
      const known = this.#active.get(key)
      if (known) active.set(key, known)
      if (known) continue
      try {
        const { name, arguments: given, source } = asked
        const prepared = await set.prepare(name, given, source, notice)
        if (prepared.active) active.set(key, prepared.active)
        else if (asked.source === 'user') forks.push(asked)
      } catch (error) {
        notice(`The skill ${asked.name} is not active: ${messageOf(error)}`)
      }
    }
    this.#active = active
    this.#typedForks = forks
  }

  /** What the model reads of prompts: `/name` becomes the skill, references come before the text. */
  async prompts(messages: readonly ModelMessage[]): Promise<ModelMessage[]> {
    const { set, notice } = this.#options
    const names = (await set.manager.list()).map(({ name }) => name)
    const read: ModelMessage[] = []
    for (const message of messages) {
      if (message.role !== 'user') {
        read.push(message)
        continue
      }
      const [asked] = activationsIn([message], names, 'turn')
      const text = messageTexts(message).join('\n')
      const isKnown = (one: string) => hasText([...read, message], one)
      const references = await set.references(text, isKnown, notice)
      const content = asked ? await this.#typed(asked) : text
      const isSame = references === '' && content === text
      read.push(isSame ? message : withText(message, `${references}${content}`))
    }
    return read
  }

  /** The content of active skills that the model does not read in these messages. */
  missing(messages: readonly ModelMessage[]) {
    return this.active
      .filter(({ activation }) => !hasText(messages, activation.content))
      .map(skillText)
  }

  async #typed({ name, arguments: given, source }: AskedSkill): Promise<string> {
    const { set } = this.#options
    try {
      const { activation, active } = await set.prepare(name, given, source, () => undefined)
      if (active) return skillText(active)
      const input = JSON.stringify({ name: activation.name, arguments: given })
      return `The user asks for the skill ${name}. Call the tool skill with ${input}.`
    } catch (error) {
      if (!(error instanceof SkillInvocationError)) throw error
      return `The user typed /${name}, and that is refused: ${messageOf(error)}`
    }
  }
}

interface AskedSkill {
  name: string
  arguments: string
  source: InvocationSource
}

/**
 * Returns the activations that hold at the end of a conversation, in their order: calls of the tool
 * `skill` that succeeded, and `/name` of the user. With the lifetime `turn`, a message of the user
 * ends all of them.
 */
function activationsIn(
  messages: readonly ModelMessage[],
  names: readonly string[],
  lifetime: 'turn' | 'conversation',
): AskedSkill[] {
  const held = new Map<string, AskedSkill>()
  const inputs = new Map<string, unknown>()
  for (const message of messages) {
    if (message.role === 'user') {
      if (lifetime === 'turn') held.clear()
      const typed = typedSkill(messageTexts(message).join('\n'), names)
      if (typed) {
        held.set(typed.name, { name: typed.name, arguments: typed.argumentText, source: 'user' })
      }
    }
    if (typeof message.content === 'string') continue
    for (const part of message.content) {
      if (part.type === 'tool-call' && part.toolName === skillToolName) {
        inputs.set(part.toolCallId, part.input)
      }
      if (part.type !== 'tool-result' || !inputs.has(part.toolCallId)) continue
      if (/^(?:error|execution-denied)/.test(part.output.type)) continue
      const { name, arguments: given, done, hook } = objectOf(inputs.get(part.toolCallId))
      if (typeof name !== 'string' || hook !== undefined) continue
      if (done === true) held.delete(name)
      else if (!held.has(name) || held.get(name)?.arguments !== given) {
        const argumentText = typeof given === 'string' ? given : ''
        held.set(name, { name, arguments: argumentText, source: 'model' })
      }
    }
  }
  return [...held.values()]
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

/** `skill.tool` is `tool` for who names the skill beside it. */
export function shortName(skill: string, tool: string): string {
  return tool.startsWith(`${skill}.`) ? tool.slice(skill.length + 1) : tool
}

export function withTools(content: string, name: string, tools: readonly DescribedTool[]): string {
  if (tools.length === 0) return content
  const lines = tools.map((tool) => JSON.stringify(tool))
  return [content, `Tools of the skill ${name}, to be called with skill_tool:`, ...lines].join('\n')
}

type Generated = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapGenerate']>>>
type ToolCall = Extract<Generated['content'][number], { type: 'tool-call' }>

/**
 * A model whose final answers the Stop hooks of active skills see. Where they want it to continue, a
 * call of the tool `skill` is added to the answer; its result is what the hooks say.
 */
export async function withStopHooks(
  model: Exclude<LanguageModel, string>,
  { hooks }: RunSkills,
): Promise<LanguageModel> {
  const { wrapLanguageModel } = await aiSdk()
  const continued = async (text: string, signal?: AbortSignal): Promise<ToolCall[]> => {
    const reason = await hooks.stop(text, signal)
    if (reason === undefined) return []
    const input = JSON.stringify({ name: 'Stop', hook: reason })
    const toolCallId = `stop-${crypto.randomUUID()}`
    return [{ type: 'tool-call', toolCallId, toolName: skillToolName, input }]
  }
  const finishReason: Generated['finishReason'] = { unified: 'tool-calls', raw: 'stop-hook' }
  const middleware: LanguageModelMiddleware = {
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate()
      if (result.content.some(({ type }) => type === 'tool-call')) return result
      const text = result.content
        .flatMap((part) => (part.type === 'text' ? part.text : []))
        .join('')
      const calls = await continued(text, params.abortSignal)
      if (calls.length === 0) return result
      return { ...result, content: [...result.content, ...calls], finishReason }
    },
    async wrapStream({ doStream, params }) {
      const { stream, ...result } = await doStream()
      let text = ''
      let isFinal = true
      type Part = typeof stream extends ReadableStream<infer One> ? One : never
      const transform = new TransformStream<Part, Part>({
        async transform(part, controller) {
          if (part.type === 'text-delta') text += part.delta
          if (part.type === 'tool-call') isFinal = false
          if (part.type !== 'finish' || !isFinal) return controller.enqueue(part)
          const calls = await continued(text, params.abortSignal)
          for (const call of calls) controller.enqueue(call)
          controller.enqueue(calls.length === 0 ? part : { ...part, finishReason })
        },
      })
      return { ...result, stream: stream.pipeThrough(transform) }
    },
  }
  return wrapLanguageModel({ model, middleware })
}
