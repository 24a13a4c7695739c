import type { FilePart, LanguageModel, ModelMessage } from 'ai'
import type { JsonObject, JsonValue } from '#core/json'
import type { SchemaType } from './tool.ts'

/** A model of the AI SDK; a bare name is not one. */
export type ModelObject = Exclude<LanguageModel, string>

/** Where a tool of an agent comes from. */
type ToolOrigin =
  | { kind: 'program' }
  | { kind: 'built-in' }
  | { kind: 'skill'; skill: string }
  | { kind: 'mcp'; server: string }
  | { kind: 'agent' }

/** A tool that an agent can offer to its model. */
export interface AgentTool {
  /** Letters, digits, `_`, `-`; a `.` parts a group from the tool: `read`, `skill.tool`. */
  name: string
  /** What it does and when to use it: the model reads this. */
  description: string
  /** JSON Schema of the input, an object. */
  inputSchema: JsonObject
  /** Names by which `allowed-tools` and agent files call it: `Read`, `Bash`. */
  aliases?: readonly string[] | undefined
  /** Whether a call changes nothing; such a call needs no approval. */
  readOnly: boolean
  /** `false`: never asked for. Default: asked for unless it is read-only or the program's own. */
  needsApproval?: boolean | undefined
  origin: ToolOrigin
  /** The text that `allowed-tools` patterns such as `Bash(git:*)` are compared with; default none. */
  patternText?: ((input: JsonObject) => string) | undefined
  /** How patterns are compared with it: `tree` is a path with what lies below. Default `text`. */
  patternKind?: 'command' | 'path' | 'tree' | 'text' | undefined
  /** Why this call is asked for although its tool is read-only or approved: a path outside. */
  alwaysAsk?: ((input: JsonObject) => string | undefined) | undefined
  /** What a call would do, for the user who is asked: a diff, a command. Changes nothing. */
  effect?: ((input: JsonObject) => string | undefined) | undefined
  /**
   * What the model gets. A `{ type: 'image', mimeType, data }` with base64, alone or in a list, is a
   * picture. Throwing becomes the text `Error: …`, and the loop continues.
   */
  execute: (input: JsonObject, context: ToolContext) => Promise<JsonValue>
  /** Whether the call with this very object failed although it has a result: an exit code. */
  hasFailed?: ((input: JsonObject) => boolean) | undefined
}

export interface ToolContext {
  toolCallId: string
  signal: AbortSignal
  /** Progress of something long, such as the events of a delegation. */
  onEvent: (event: AgentEvent) => void
}

/** What the approver is asked. */
export interface ApprovalRequest {
  /** The agent that wants the call: `main`, or the name of a subagent. */
  agent: string
  tool: AgentTool
  input: JsonObject
  /** Why it is asked: `not read-only`, `asked by a hook`. */
  reason: string
  /** What the call would do, where the tool can tell: a diff, a command. */
  effect?: string | undefined
  /** Aborts when the answer is no longer wanted: withdraw the question then. */
  signal: AbortSignal
}

/** `later`: the run ends as `waiting`, and `resume` asks again; for a subagent it is a refusal. */
export type Approval =
  | { approved: true }
  | { approved: false; reason?: string | undefined }
  | { approved: 'later'; reason?: string | undefined }

export type Approver = (request: ApprovalRequest) => Promise<Approval>

/** Whether a call may be made, and with which input. */
export type Permission =
  | { allowed: true; input?: JsonObject }
  | { allowed: false; reason: string; waits?: boolean | undefined }

export type Permit = (
  tool: AgentTool,
  input: JsonObject,
  context: ToolContext,
) => Promise<Permission>

/** Returns text that is added to the result of a call, or to its error. */
export type AfterTool = (
  tool: AgentTool,
  input: JsonObject,
  output: JsonValue,
  isError: boolean,
) => Promise<string | undefined>

/** Tokens of one model call or a sum of them. A count that the provider did not report is 0. */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  cachedInputTokens: number
  reasoningTokens: number
  /** Model calls. */
  requests: number
}

/** One booking: which model answered for which agent and delegation. */
export interface UsageEntry {
  model: string
  agent: string
  delegation?: string | undefined
  usage: TokenUsage
}

export type RunStatus = 'completed' | 'failed' | 'cancelled' | 'capped' | 'waiting'

/** A call that waits for an approval. */
export interface WaitingCall {
  id: string
  tool: string
  input: JsonObject
  reason: string
}

/** What happens in a run, in order; a delegation's events carry its id. */
export type AgentEvent = { agent: string; delegation?: string | undefined } & (
  | { type: 'text'; text: string }
  /** What the model thinks before it answers; a whole one, also while streaming. */
  | { type: 'reasoning'; text: string }
  | ({ type: 'waiting' } & WaitingCall)
  | { type: 'tool-call'; id: string; tool: string; input: JsonObject }
  | { type: 'tool-result'; id: string; tool: string; output: JsonValue; isError: boolean }
  | { type: 'skill'; name: string; active: boolean }
  | { type: 'delegation'; delegation: string; subagent: string; status: 'started' | RunStatus }
  | { type: 'step'; usage: TokenUsage }
  | { type: 'notice'; message: string }
)

export interface RunOptions {
  signal?: AbortSignal | undefined
  onEvent?: ((event: AgentEvent) => void) | undefined
  /** Pictures and other files that go with the prompt; `data` is base64 or a URL. */
  files?: readonly FilePart[] | undefined
  /** Whether text events come while the model writes; default false: one event an answer. */
  stream?: boolean | undefined
  /** The shape of the final answer: JSON Schema, or a type of zod. Read it from `output`. */
  outputSchema?: JsonObject | SchemaType<unknown> | undefined
  maxTurns?: number | undefined
  /** Milliseconds; default: those of the agent. */
  timeoutMs?: number | undefined
  /** Tokens in and out, subagents included; the run ends when they are used. Default: the agent's. */
  maxTokens?: number | undefined
}

/** How a loop ended. `messages` are those that were added to the given ones. */
export interface LoopOutcome {
  status: RunStatus
  text: string
  output?: JsonValue | undefined
  messages: readonly ModelMessage[]
  turns: number
  error?: string | undefined
  /** Of a failure: the model did answer, but nothing, or nothing of the asked shape. */
  failure?: 'answer' | undefined
  /** Of the status `waiting`. */
  waiting?: readonly WaitingCall[] | undefined
}

/** How the tool `skill_tool` is called for a tool of a skill. */
export interface DescribedTool {
  tool: string
  description: string
  inputSchema: AgentTool['inputSchema']
}
