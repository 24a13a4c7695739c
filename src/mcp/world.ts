import type { Runtime } from '../core/runtime.ts'
import type { Settings } from '../core/settings.ts'
import type { CallContext, CallReport } from '../tools/call/context.ts'
import type { JsonObject } from '../tools/model.ts'
import type { RequestWorld } from '../tools/call/do-request.ts'
import type { SavePlace } from '../tools/call/content.ts'
import type { InvocationSource } from '../library/activation.ts'
import type { JsonValue } from '../skill/model.ts'
import type { ClientProgress } from './model.ts'

/** Everything that the server offers comes from here; whoever starts it puts it together. */
export interface McpWorld {
  /** Of this package. */
  version: string
  runtime: Runtime
  settings: Settings
  tools: ToolWorld
  chains: ChainWorld
  /** The session of a client that just came, in which prerequisites count as done. */
  session(): string | undefined
  /** The references that the hook would inject for a prompt, of the skills that the source may use. */
  references(prompt: string, source: InvocationSource): ReferenceAnswer
  /** The user who started the server said yes in advance to whatever a tool may change. */
  yes: boolean
  /** Notes for that user; nothing of them reaches the client. */
  note(line: string): void
}

export interface ReferenceAnswer {
  /** As it is injected; empty for nothing. */
  text: string
  injected: readonly { path: string; tokens: number }[]
  deferred: readonly { skill: string; path: string; reason: string }[]
}

/** The tools of the project's MCP servers. Servers start with the first call that needs them. */
export interface ToolWorld {
  /** What `tools route --json` prints. */
  route(request: string, limit: number, signal: AbortSignal): Promise<JsonObject>
  /** What `tools show --json` prints. */
  describe(name: string, signal: AbortSignal): Promise<JsonObject>
  /** The surroundings of one request: what is known now, behind the gate as it is now. */
  open(request: CallSurroundings): OpenCalls
  /** Ends every server that was started. */
  close(): Promise<void>
}

export interface CallSurroundings {
  session: string | undefined
  signal: AbortSignal
  /** Notes for the reader of the answer. */
  note: (line: string) => void
  progress: (tool: string, progress: ClientProgress) => void
  /** Asks whether the steps of a `warn` workflow run; without it they do. */
  ask: ((warning: string) => Promise<'run' | 'skip'>) | undefined
}

export interface OpenCalls {
  calls: CallContext
  place: SavePlace
  router(request: string): RequestWorld['router']
  /** A report as `tools call --json` prints it. */
  reportJson(report: CallReport): Promise<object>
  /** The value of an answer: what is large or binary is saved, and its path given. */
  valueOf(report: CallReport & { status: 'success' }): Promise<JsonValue>
}

/** Chains that an agent is driven through, step by step. */
export interface ChainWorld {
  start(skill: string, given: readonly string[], options: ChainStart): Promise<ChainAnswer>
  report(report: ChainReport, surroundings: ChainSurroundings): Promise<ChainAnswer>
  next(runId: string, surroundings: ChainSurroundings): Promise<ChainAnswer>
  status(runId: string): Promise<JsonObject>
}

export interface ChainSurroundings {
  signal: AbortSignal
  /** Called before the first script of a run: throws where it may not run. */
  permit(run: ScriptRun): Promise<void>
}

export interface ChainStart extends ChainSurroundings {
  requireVerified: boolean
}

/** A run that holds scripts, as a user has to see it. */
export interface ScriptRun {
  skill: string
  given: readonly string[]
  scripts: readonly { step: string; path: string; sandboxed: boolean }[]
}

export interface ChainReport {
  runId: string
  step: string
  status: 'success' | 'failure' | 'critical'
  result: string
  errors: readonly string[]
  metrics: Readonly<Record<string, number>>
}

/** Where a run stands. */
export type ChainAnswer = (
  | { kind: 'next'; runId: string; next: readonly ChainStep[] }
  /** `line`: what a user types to let it continue. */
  | { kind: 'waiting'; runId: string; step: string; line: string }
  | { kind: 'ended'; runId: string; status: string; result: JsonObject }
) & {
  /** The report that led here does not count, and why. */
  dismissed?: { step: string; code: string; message: string } | undefined
  /** What was wrong with the records of the run. */
  notes?: readonly string[] | undefined
}

export interface ChainStep {
  step: string
  skill: string
  attempt: number
  content: string
  /** Whether the user trusts the skill. */
  trusted: boolean
}
