import type { LanguageModel } from 'ai'
import type { JsonObject } from '../tools/index.ts'
import type { AgentEvent, AgentTool, LoopRequest, Permission, ToolContext } from './model.ts'
import type { AgentSession } from './session.ts'

/**
 * Something that takes part in a conversation: skills, built-in tools with their approvals, hooks,
 * delegation, MCP servers. Every member is optional.
 */
export interface SessionPart {
  /** Told once, before anything else, whose part it is. */
  attach?: ((session: AgentSession) => void) | undefined
  /** What is added to the instructions; asked at the start of every run. */
  instructions?: ((run: PromptContext) => Promise<string | undefined>) | undefined
  /** What the model gets for a prompt of the user; the next part gets what this one returns. */
  prompt?: ((text: string, run: PromptContext) => Promise<string>) | undefined
  /** Tools that are offered now; asked before every step. */
  tools?: (() => readonly AgentTool[]) | undefined
  /** Whether the model may see a tool now; one that any part does not offer is not there. */
  offers?: ((tool: AgentTool) => boolean) | undefined
  /** A model in place of the agent's own; asked before every step, the last part with one wins. */
  model?: (() => LanguageModel | undefined) | undefined
  /**
   * Whether a call may be made. All parts are asked in order until one refuses; the input of one is
   * what the next one sees. Where no part has this, what needs an approval is refused.
   */
  permit?:
    | ((tool: AgentTool, input: JsonObject, context: ToolContext) => Promise<Permission>)
    | undefined
  /** Done before a call that is allowed; throwing keeps it from being made. */
  beforeTool?:
    | ((tool: AgentTool, input: JsonObject, context: ToolContext) => Promise<void>)
    | undefined
  /** Text that is added to a tool's result, or its error; those of all parts are joined. */
  afterTool?: LoopRequest['afterTool']
  /** Text that makes the model go on instead of ending its turn; the first part with one wins. */
  beforeStop?: ((text: string) => Promise<string | undefined>) | undefined
  /** The user's turn is over, however it ended. */
  turnEnded?: (() => Promise<void>) | undefined
  close?: (() => Promise<void>) | undefined
}

export interface PromptContext {
  onEvent: (event: AgentEvent) => void
  signal: AbortSignal | undefined
}

/**
 * All parts as one; parts that join later come last. Every delegation goes through all of this, so a
 * member that a part does not have is not waited for.
 */
export interface JoinedParts {
  add(part: SessionPart): void
  instructions(run: PromptContext): Promise<readonly string[]>
  prompt(text: string, run: PromptContext): Promise<string>
  /** After those that are given, the tools of all parts. */
  tools(before?: readonly AgentTool[]): readonly AgentTool[]
  /** Those of the tools that every part offers. */
  offered(tools: readonly AgentTool[]): readonly AgentTool[]
  model(): LanguageModel | undefined
  permit(tool: AgentTool, input: JsonObject, context: ToolContext): Promise<Permission>
  afterTool: NonNullable<LoopRequest['afterTool']>
  beforeStop(text: string): Promise<string | undefined>
  turnEnded(): Promise<void>
  close(): Promise<void>
}

export function joinParts(): JoinedParts {
  const parts: SessionPart[] = []
  return {
    add: (part) => void parts.push(part),
    async instructions(run) {
      const texts: string[] = []
      for (const part of parts) {
        if (part.instructions === undefined) continue
        const text = await part.instructions(run)
        if (text !== undefined && text !== '') texts.push(text)
      }
      return texts
    },
    async prompt(text, run) {
      let current = text
      for (const part of parts) {
        if (part.prompt !== undefined) current = await part.prompt(current, run)
      }
      return current
    },
    model() {
      let last: LanguageModel | undefined
      for (const part of parts) last = part.model?.() ?? last
      return last
    },
    tools(before = []) {
      const tools = [...before]
      for (const part of parts) if (part.tools !== undefined) tools.push(...part.tools())
      return tools
    },
    offered(tools) {
      const judges = parts.filter(({ offers }) => offers !== undefined)
      if (judges.length === 0) return tools
      return tools.filter((tool) => judges.every((part) => part.offers?.(tool) ?? true))
    },
    async permit(tool, input, context) {
      let used = input
      let isGuarded = false
      for (const { permit } of parts) {
        if (permit === undefined) continue
        isGuarded = true
        const permission = await permit(tool, used, context)
        if (!permission.allowed) return permission
        used = permission.input ?? used
      }
      const refusal = isGuarded ? undefined : unguarded(tool, input)
      if (refusal !== undefined) return refusal
      for (const part of parts) {
        if (part.beforeTool === undefined) continue
        // Nothing begins for a call that nobody waits for any more.
        context.signal.throwIfAborted()
        await part.beforeTool(tool, used, context)
      }
      return { allowed: true, input: used }
    },
    async afterTool(tool, input, output, isError) {
      const remarks: string[] = []
      for (const part of parts) {
        if (part.afterTool === undefined) continue
        const remark = await part.afterTool(tool, input, output, isError)
        if (remark !== undefined) remarks.push(remark)
      }
      return remarks.length === 0 ? undefined : remarks.join('\n\n')
    },
    async beforeStop(text) {
      for (const part of parts) {
        if (part.beforeStop === undefined) continue
        const more = await part.beforeStop(text)
        if (more !== undefined) return more
      }
      return undefined
    },
    async turnEnded() {
      for (const part of parts) if (part.turnEnded !== undefined) await part.turnEnded()
    },
    async close() {
      for (const part of parts) await part.close?.()
    },
  }
}

/** Without a part that decides, only what nobody need be asked for is done. */
function unguarded(tool: AgentTool, input: JsonObject): Permission | undefined {
  const asked =
    tool.alwaysAsk?.(input) !== undefined ||
    (tool.needsApproval ?? !(tool.readOnly || tool.origin.kind === 'program'))
  return asked
    ? { allowed: false, reason: 'it needs an approval, and nobody can give one here' }
    : undefined
}
