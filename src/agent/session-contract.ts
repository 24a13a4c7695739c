import type { ModelMessage, TelemetryOptions } from 'ai'
import type { CallSettings } from './check-options.ts'
import type { ConversationLimits } from './conversation/compact.ts'
import type { AfterTool, AgentEvent, AgentTool, ModelObject, Permit } from './types.ts'
import type { UsageLedger } from './usage.ts'

/** Options of an agent that apply to its conversation. */
export interface SessionSettings {
  /** Maximum number of model calls of one run before the last one, which sums up; default 50, at most 10,000. */
  maxTurns?: number | undefined
  /** Time limit of one run or delegation in milliseconds; default an hour, at most 2,147,483,647. */
  timeoutMs?: number | undefined
  /** Maximum length of the conversation, and the strategy that shortens it. */
  limits?: ConversationLimits | undefined
  /** Messages with which the conversation begins. */
  messages?: readonly ModelMessage[] | undefined
  callSettings?: CallSettings | undefined
  /** Telemetry settings of the AI SDK, which records nothing until a program registers a telemetry. */
  telemetry?: TelemetryOptions | undefined
}

export interface SessionOptions extends SessionSettings {
  agent: string
  delegation?: string | undefined
  /** Called at the start of every run; `run` throws its errors. */
  model: () => ModelObject | Promise<ModelObject>
  parts?: readonly SessionPart[] | undefined
  usage: Pick<UsageLedger, 'record' | 'exhausted'>
  onMessages?: (() => Promise<void>) | undefined
}

/** The session as its parts see it. */
export interface JoinedSession {
  /** The tools that the model would be offered now. */
  tools(): readonly AgentTool[]
  /** Whether the conversation contains a text, in a prompt, an answer or a tool's result. */
  contains(text: string): boolean
  /** Sends a message that the model reads before its next step. */
  steer(text: string): void
}

/** Something that takes part in a conversation: skills, approvals, delegation, MCP servers. */
export interface SessionPart {
  attach?: ((session: JoinedSession) => void) | undefined
  /** Prepares the part for a turn. Returns instructions for the model. */
  instructions?: ((run: PromptContext) => Promise<string | undefined>) | undefined
  /** Returns the text that the model reads instead of the prompt. */
  prompt?: ((text: string, run: PromptContext) => Promise<string>) | undefined
  /** Called instead of `prompt` if the last turn continues. */
  resume?: ((run: PromptContext) => Promise<void>) | undefined
  tools?: (() => readonly AgentTool[]) | undefined
  /** Whether the model may see a tool now; every part must agree. */
  offers?: ((tool: AgentTool) => boolean) | undefined
  /** Replaces the agent's model. Called before every step; the last part with a model takes precedence. */
  model?: (() => ModelObject | undefined) | undefined
  /** Called part by part until one refuses. Each part gets the input that the previous one returned. */
  permit?: Permit | undefined
  /** Called before an allowed call; an exception prevents the call. */
  beforeTool?: ((...call: Parameters<Permit>) => Promise<void>) | undefined
  afterTool?: AfterTool | undefined
  /** Text that makes the model continue instead of ending its turn; the first part with one takes precedence. */
  beforeStop?: ((text: string) => Promise<string | undefined>) | undefined
  turnEnded?: (() => Promise<void>) | undefined
  close?: (() => Promise<void>) | undefined
}

export interface PromptContext {
  onEvent: (event: AgentEvent) => void
  signal: AbortSignal | undefined
}
