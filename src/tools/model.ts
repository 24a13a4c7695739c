import type { Diagnostic } from '#core/errors'
import type { JsonObject, JsonValue } from '#core/json'

/** What a server says about a tool: a claim, believed only of trusted servers (MCP, tool annotations). */
export interface ToolAnnotations {
  title?: string | undefined
  readOnlyHint?: boolean | undefined
  destructiveHint?: boolean | undefined
  idempotentHint?: boolean | undefined
  openWorldHint?: boolean | undefined
}

export interface ToolDefinition {
  /** `SERVER__TOOL`, unique in a registry. */
  id: string
  server: string
  name: string
  title?: string | undefined
  description: string
  inputSchema: JsonObject
  outputSchema?: JsonObject | undefined
  annotations?: ToolAnnotations | undefined
}

/** The facts that the router needs to rank a tool, without its schemas. */
export interface ToolSummary {
  id: string
  server: string
  name: string
  description: string
  parameters: readonly string[]
  /** Descriptions of the parameters, one for each line. */
  parameterText?: string | undefined
  /** Values of the parameters that list their possible values. */
  choices?: readonly string[] | undefined
  required: readonly string[]
  /** Canonical category, `undefined` for an uncategorised tool. */
  category?: string | undefined
  /** Phrases that asked for this tool and were confirmed. */
  examples?: readonly string[] | undefined
  /** Whether a call only reads: the user's word, a trusted server's hint, or a read-only verb. */
  readOnly?: boolean | undefined
}

export type ToolContent =
  | { type: 'text'; text: string }
  /** `data` is base64, here and below. */
  | { type: 'image' | 'audio'; mimeType: string; data: string }
  | {
      type: 'resource'
      uri: string
      mimeType?: string | undefined
      text?: string | undefined
      /** The bytes of a resource that is not text (`blob`). */
      data?: string | undefined
    }
  | { type: 'link'; uri: string; name: string; mimeType?: string | undefined }

export interface ToolOutcome {
  isError: boolean
  content: readonly ToolContent[]
  /** `structuredContent` of the answer. */
  structured?: JsonValue | undefined
  /** Bytes of its content and its structured content, as JSON where they are not bytes. */
  size: number
  /** Problems of the answer, whose faulty parts are left out; undefined: none. */
  problems?: readonly AnswerProblem[] | undefined
}

export interface AnswerProblem {
  code: 'answer-invalid' | 'answer-too-deep'
  /** About the answer: `its structured content is nested deeper than 200 levels`. */
  message: string
}

/** Why a call has no outcome. `delivered` says whether the server can have acted on it. */
export interface CallFailure {
  kind:
    | 'tool-not-found'
    | 'invalid-parameters'
    /** The server asks for something before it continues, which is not in the parameters. */
    | 'input-required'
    | 'server-unavailable'
    /** HTTP 429. */
    | 'rate-limited'
    /** The answer arrived but is too large to read. */
    | 'too-large'
    | 'timeout'
    | 'connection-lost'
    | 'protocol'
    | 'cancelled'
  message: string
  delivered: 'no' | 'unknown' | 'yes'
  /** The end of what the server printed before its start failed. */
  stderrTail?: string | undefined
}

/** Anything that can list and call tools: a live connection, a served project, or a test. */
export interface ToolServer {
  readonly name: string
  /** Changes when the server restarts, so that facts about the earlier process no longer apply. */
  instance(): string
  list(options?: ListToolsOptions): Promise<ListedTools>
  /** Rejects with a `ToolCallError` that carries a {@link CallFailure}. `name` is the server's own name of the tool. */
  call(name: string, parameters: JsonObject, options?: ToolCallOptions): Promise<ToolOutcome>
}

export interface ListToolsOptions {
  signal?: AbortSignal | undefined
  /**
   * Whether an earlier answer of the same connection is enough, unless the server has said since that its
   * tools changed.
   */
  reuse?: boolean | undefined
}

export interface ListedTools {
  tools: readonly ToolDefinition[]
  /** Problems of the list, in the words of a warning about its server. */
  problems: readonly Pick<Diagnostic, 'code' | 'message'>[]
  /** How long the list may be kept, where the server says so (MCP of 2026-07-28). */
  ttlMs?: number | undefined
}

export interface ServerFailure {
  server: string
  message: string
  stderrTail: string
  /** The server was not started, because the workspace is not trusted. */
  notTrusted?: boolean | undefined
}

export interface ToolListing {
  /** In the order of the servers, then as each lists them; each ID once. */
  tools: readonly ToolDefinition[]
  failures: readonly ServerFailure[]
  diagnostics?: readonly Diagnostic[] | undefined
  /** How long a server's list may be kept, by the server's name, if it sets a time. */
  ttlMs?: ReadonlyMap<string, number> | undefined
}

export interface ListOptions {
  signal?: AbortSignal | undefined
  /** How long to wait for each server; a slower one continues and counts as failed. */
  patienceMs?: ((server: string) => number) | undefined
  onServer?: ((event: ListingEvent) => void) | undefined
}

export type ListingEvent = { server: string; state: 'starting' | 'running' | 'failed' }

export interface ToolCallOptions {
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  onProgress?: ((progress: ToolProgress) => void) | undefined
  /** Schema of the tool, if the caller has it; servers over HTTP may also want parameters in headers. */
  inputSchema?: JsonObject | undefined
}

export interface ToolProgress {
  progress: number
  total?: number | undefined
  message?: string | undefined
}
