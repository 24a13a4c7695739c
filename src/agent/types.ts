import type { FilePart, LanguageModel, ModelMessage } from 'ai'
import type { JsonObject, JsonValue } from '#core/json'
import type { FailedResult } from './failed-result.ts'

/** A model object of the AI SDK, not a name. */
export type ModelObject = Exclude<LanguageModel, string>

/** A zod 4 type, or a type of another library that follows Standard Schema and can write JSON Schema. */
export interface SchemaType<Value> {
  readonly '~standard': {
    readonly validate: (value: unknown) => SchemaResult<Value> | Promise<SchemaResult<Value>>
    readonly jsonSchema?: { readonly input: (options: { target: 'draft-2020-12' }) => object }
  }
}

type SchemaResult<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] }

/** The source of a tool. */
type ToolOrigin =
  | { kind: 'program' }
  | { kind: 'built-in' }
  | { kind: 'skill'; skill: string }
  | { kind: 'mcp'; server: string }
  | { kind: 'agent' }

/** A tool that an agent can offer to its model. */
export interface AgentTool {
  /** Letters, digits, `_`, `-`; a `.` separates a group from its tool: `read`, `skill.tool`. */
  name: string
  /** What the tool does and when to use it; the model reads this. */
  description: string
  /** JSON Schema of the input, an object. */
  inputSchema: JsonObject
  /** Other names, as in `allowed-tools` and agent files: `Read`, `Bash`. */
  aliases?: readonly string[] | undefined
  /** A call changes nothing, so it needs no approval. */
  readOnly: boolean
  /** Whether a call needs an approval. Default: unless the tool is read-only or defined by the program. */
  needsApproval?: boolean | undefined
  /** Reason to ask the user about every call, even if a skill or a hook approves it. */
  mustAsk?: string | undefined
  origin: ToolOrigin
  /** Returns the text that `allowed-tools` patterns such as `Bash(git:*)` are compared with. */
  patternText?: ((input: JsonObject) => string) | undefined
  /** How patterns are compared with this text: `tree` is a path and everything below. Default `text`. */
  patternKind?: 'command' | 'path' | 'tree' | 'text' | undefined
  /** Returns why a call needs an approval although the tool is read-only or approved: a path outside. */
  alwaysAsk?: ((input: JsonObject) => string | undefined) | undefined
  /** Describes the effect of a call for the user: a diff, a command. Changes nothing. */
  effect?: ((input: JsonObject) => string | undefined) | undefined
  /**
   * Returns the result for the model. A `{ type: 'image', mimeType, data }` with base64, alone or in
   * a list, is a picture. An exception becomes the text `Error: …`, and the loop continues.
   */
  execute: (input: JsonObject, context: ToolContext) => Promise<JsonValue | FailedResult>
}

export interface ToolContext {
  toolCallId: string
  signal: AbortSignal
  /** Reports progress, such as the events of a delegation. */
  onEvent: (event: AgentEvent) => void
}

/** A question to the approver. */
export interface ApprovalRequest {
  /** The agent that makes the call: `main`, or the name of a subagent. */
  agent: string
  tool: AgentTool
  input: JsonObject
  /** Why the call needs an approval: `not read-only`, `asked by a hook`. */
  reason: string
  /** The effect of the call, if the tool describes it: a diff, a command. */
  effect?: string | undefined
  /** Aborts when the answer is no longer needed: withdraw the question then. */
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

/** A call that a tool has carried out. */
export interface FinishedCall {
  tool: AgentTool
  input: JsonObject
  /** The result, or the text of the error. */
  output: JsonValue
  /** `thrown`: the model reads an error. `reported`: a {@link FailedResult}. Undefined: it succeeded. */
  failure?: 'thrown' | 'reported' | undefined
}

/** Returns text that is added to the result of a call, or to its error. */
export type AfterTool = (call: FinishedCall) => Promise<string | undefined>

/** Tokens of one model call or a sum of them. A count that the provider did not report is 0. */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  cachedInputTokens: number
  reasoningTokens: number
  /** Model calls. */
  requests: number
}

/** The tokens of one model for one agent and delegation. */
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

/** An event of a run. The events of a delegation have its ID. */
export type AgentEvent = { agent: string; delegation?: string | undefined } & (
  | { type: 'text'; text: string }
  /** The reasoning of the model before its answer; one event for all of it, also while streaming. */
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
  /** Whether text events arrive while the model writes; default false: one event for each answer. */
  stream?: boolean | undefined
  /** The shape of the final answer: a JSON Schema or a zod type. Read the answer from `output`. */
  outputSchema?: JsonObject | SchemaType<unknown> | undefined
  maxTurns?: number | undefined
  /** Time limit in milliseconds; default: the agent's. */
  timeoutMs?: number | undefined
  /** Maximum number of input and output tokens of the run and its subagents. Default: the agent's. */
  maxTokens?: number | undefined
}

/** The end of a tool loop. `messages` are the added ones. */
export interface LoopOutcome {
  status: RunStatus
  text: string
  output?: JsonValue | undefined
  messages: readonly ModelMessage[]
  turns: number
  error?: string | undefined
  /** `answer`: the model answered, but its answer was empty or did not match the schema. */
  failure?: 'answer' | undefined
  /** The calls that wait, for the status `waiting`. */
  waiting?: readonly WaitingCall[] | undefined
}

/** A tool of a skill, which the model calls with `skill_tool`. */
export interface DescribedTool {
  tool: string
  description: string
  inputSchema: AgentTool['inputSchema']
}
