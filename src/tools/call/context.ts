import type { Diagnostic } from '#core/errors'
import type { Runtime } from '#core/runtime'
import type { JsonValue, JsonObject } from '#core/json'
import type { ToolHold } from '#tools/cache/tool-index'
import type { PlannedStep } from '#tools/workflow/plan'
import type { GatedCall, WorkflowMode } from '#tools/workflow/model'
import type {
  CallFailure,
  ToolDefinition,
  ToolOutcome,
  ToolProgress,
  ToolServer,
  ToolSummary,
} from '#tools/model'
import type { FailureKind, RetrySettings } from './attempts.ts'
import type { ToolPermissions } from '#tools/workflow/match'
import type { SchemaChecker } from './schema-checker.ts'

export interface CallContext {
  /** What is known of the tools; replaced by {@link CallContext.discover}. */
  index: CallIndex
  /** Asks the servers for their tools now, at most once in a context; undefined: never. */
  discover?: ((signal: AbortSignal) => Promise<CallIndex>) | undefined
  servers: {
    get(name: string, options?: { signal?: AbortSignal | undefined }): Promise<ToolServer>
    /** What can be asked, where that is known. */
    readonly definitions?: readonly { name: string }[] | undefined
  }
  rules: (server: string) => ServerRules
  /**
   * Why a tool is held back until a user accepts it; undefined lets it pass. `now`: its definition, if its
   * server was asked.
   */
  hold?: ((tool: ToolSummary, now?: ToolDefinition) => ToolHold | undefined) | undefined
  permissions?: ToolPermissions | undefined
  /** IDs of tools that always ask, and that a user allowed as prerequisites. */
  approvedSteps?: ReadonlySet<string> | undefined
  gate?: CallGate | undefined
  /** `server`: the name of the tool's server, whose secrets are masked in the log. */
  log?: ((record: CallRecord, server: string) => Promise<void>) | undefined
  retry: RetrySettings
  schemas: SchemaChecker
  runtime: Pick<Runtime, 'elapsed'>
  signal: AbortSignal
  /** Notes for a user: repeated attempts, workflows. */
  note: (line: string) => void
  progress?: ((tool: string, progress: ToolProgress) => void) | undefined
}

export interface CallIndex {
  readonly tools: readonly ToolSummary[]
  definition(id: string): ToolDefinition | undefined
}

export interface ServerRules {
  trusted: boolean
  /** Names of tools, `*` for any characters. When it is there, only these are called. */
  allow?: readonly string[] | undefined
  deny?: readonly string[] | undefined
  callTimeoutMs?: number | undefined
  /** Where its relative paths can start; undefined: it does not read the files of this machine. */
  files?: readonly string[] | undefined
}

export interface CallGate {
  /** Throws when a required step failed; the tool is then not called. */
  pass(call: CallAtGate, callStep: StepCaller): Promise<void>
  /** What would run first, as far as is known. Throws where the call would be refused. */
  foresee?: ((call: GatedCall) => Promise<ForeseenGate | undefined>) | undefined
  /** Whether a workflow might match if all of its tools were known: servers are then asked once. */
  lacks?: ((call: GatedCall) => boolean) | undefined
  /** Makes calls of a server whose state counts one after the other, with their prerequisites. */
  inTurn?: (<T>(call: CallInTurn, work: () => Promise<T>) => Promise<T>) | undefined
  /** After the tool was called; `text` is the answer of a call that succeeded. */
  after(call: CallAtGate, text: string | undefined): Promise<void>
}

export interface CallAtGate extends GatedCall {
  instance: string
  signal: AbortSignal
}

export type CallInTurn = Pick<CallAtGate, 'instance' | 'signal'> & { server: string }

export interface ForeseenGate {
  workflow: string
  mode: WorkflowMode
  prerequisites: readonly ForeseenStep[]
}

export type ForeseenStep = Pick<PlannedStep, 'step' | 'tool' | 'id' | 'params' | 'required'>

/** Calls a prerequisite: the same path, without the gate. */
export type StepCaller = (
  tool: string,
  params: JsonObject,
  signal?: AbortSignal,
) => Promise<StepAnswer>

export type StepAnswer =
  | { ok: true; text: string; value: JsonValue }
  | { ok: false; error: string; suggestion?: string | undefined }

export interface CallRecord {
  tool: string
  durationMs: number
  /** `success`, or why there is none: `error`, `timeout`, `refused` … */
  outcome: string
  /** Bytes of the raw answer. */
  size: number
  params?: JsonObject | undefined
  error?: string | undefined
}

export interface FailureReport {
  tool: string
  attempts: number
  errors: readonly string[]
  suggestion: string
}

interface CallFacts {
  tool: ToolDefinition
  category?: string | undefined
  params: JsonObject
  attempts: number
  durationMs: number
  /** Notes for the reader of the answer, such as that a retry was needed. */
  notes: readonly string[]
  diagnostics: readonly Diagnostic[]
}

export type CallReport = CallFacts &
  (
    | { status: 'success'; outcome: ToolOutcome }
    | {
        status: 'error'
        outcome?: ToolOutcome | undefined
        failure: {
          kind: FailureKind
          message: string
          delivered: CallFailure['delivered']
          suggestions: readonly string[]
        }
        report: FailureReport
      }
  )

export interface ToolRequest {
  /** An id or a name; see `resolveTool`. */
  tool: string
  params: JsonObject
  requestText?: string | undefined
}
