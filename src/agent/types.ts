import type { LanguageModel, ModelMessage } from 'ai'
import type { JsonValue } from '../skill/model.ts'
import type { JsonObject } from '../tools/model.ts'

/** Where a tool of an agent comes from. */
export type ToolOrigin =
  | { kind: 'program' }
  | { kind: 'built-in' }
  | { kind: 'skill'; skill: string }
  | { kind: 'mcp'; server: string }
  | { kind: 'agent' }

/** A tool that an agent can offer to its model. */
export interface AgentTool {
  /** Display name: `read`, `skill.tool`, `server.tool`. The wire name is derived from it. */
  name: string
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
  /**
   * How patterns are compared with that text: `command` as a shell reads it, `path` from the project's
   * directory, `tree` the same for a call that also shows what lies below; default: the whole text,
   * `*` for any characters.
   */
  patternKind?: 'command' | 'path' | 'tree' | 'text' | undefined
  /** Why this very call is asked for, whatever is read-only or approved: a path outside, say. */
  alwaysAsk?: ((input: JsonObject) => string | undefined) | undefined
  /** What a call would do, for the user who is asked: a diff, a command. Changes nothing. */
  effect?: ((input: JsonObject) => string | undefined) | undefined
  /** What the model gets. Throwing becomes the text `Error: …`, and the loop continues. */
  execute: (input: JsonObject, context: ToolContext) => Promise<JsonValue>
  /**
   * Whether the call that was executed with this very object did not do what it should, though the
   * model gets its result as it is: a command with an exit code. Such a call is not a step of a workflow.
   */
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
  /** Aborts when the answer is no longer wanted: a question that is still open is then withdrawn. */
  signal: AbortSignal
}

export type Approval = { approved: true } | { approved: false; reason?: string | undefined }

export type Approver = (request: ApprovalRequest) => Promise<Approval>

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

export type RunStatus = 'completed' | 'failed' | 'cancelled' | 'capped'

/** What happens in a run, in order; a delegation's events carry its id. */
export type AgentEvent =
  | { type: 'text'; agent: string; delegation?: string | undefined; text: string }
  | {
      type: 'tool-call'
      agent: string
      delegation?: string | undefined
      id: string
      tool: string
      input: JsonObject
    }
  | {
      type: 'tool-result'
      agent: string
      delegation?: string | undefined
      id: string
      tool: string
      output: JsonValue
      isError: boolean
    }
  | { type: 'skill'; agent: string; name: string; active: boolean }
  | {
      type: 'delegation'
      agent: string
      delegation: string
      subagent: string
      status: 'started' | RunStatus
    }
  | { type: 'step'; agent: string; delegation?: string | undefined; usage: TokenUsage }
  | { type: 'notice'; agent: string; message: string }

/** Settings of model calls that are passed on to the provider. */
export interface CallSettings {
  maxOutputTokens?: number | undefined
  temperature?: number | undefined
  topP?: number | undefined
  seed?: number | undefined
  /** Further attempts after HTTP 408, 409, 429, 5xx or a lost connection; default 2. */
  maxRetries?: number | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** Options that only one provider knows, by its name. */
  providerOptions?: Readonly<Record<string, Readonly<Record<string, JsonValue>>>> | undefined
}

/** Whether a call may be made, and with which input. */
export type Permission = { allowed: true; input?: JsonObject } | { allowed: false; reason: string }

/** One run of the tool loop, as a value. */
export interface LoopRequest {
  agent: string
  delegation?: string | undefined
  model: LanguageModel
  /** Asked before every step: a model in place of `model`, while a skill wants another one. */
  modelNow?: (() => LanguageModel | undefined) | undefined
  instructions: string
  messages: readonly ModelMessage[]
  /** Asked before every step: all tools there are now, and which of them the model may see. */
  offered: () => readonly AgentTool[]
  /** Asked before every execution of a tool. */
  permit: (tool: AgentTool, input: JsonObject, context: ToolContext) => Promise<Permission>
  /** Called after every execution; what it returns is added to what the model reads. */
  afterTool?:
    | ((
        tool: AgentTool,
        input: JsonObject,
        output: JsonValue,
        isError: boolean,
      ) => Promise<string | undefined>)
    | undefined
  /** Asked when the model has stopped calling tools; text makes it continue (a Stop hook). */
  beforeStop?: ((text: string) => Promise<string | undefined>) | undefined
  /** Model calls before the last, tool-less one for a summary. */
  maxTurns: number
  /** Messages sent to a running agent, taken before every step. */
  steering?: (() => readonly string[]) | undefined
  /** JSON Schema of the final answer, when it is to be structured. */
  outputSchema?: JsonObject | undefined
  signal?: AbortSignal | undefined
  /** Lets the conversation be compacted before a step; returns what is sent instead. */
  prepareMessages?:
    | ((
        messages: readonly ModelMessage[],
      ) => readonly ModelMessage[] | Promise<readonly ModelMessage[]>)
    | undefined
  onUsage: (entry: UsageEntry) => void
  onEvent: (event: AgentEvent) => void
  /** Whether text is to be streamed as it comes; default false. */
  stream?: boolean | undefined
  callSettings?: CallSettings | undefined
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
}
