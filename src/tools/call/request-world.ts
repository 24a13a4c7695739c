import type { JsonObject, ToolDefinition } from '../model.ts'
import type { PlannedCall } from '../parameters/plan-request.ts'
import type { Route } from '../route/route.ts'
import type { BatchResult, StepListener, StepOptions } from './batch.ts'
import type { ChainResult } from './chain.ts'
import type { CallContext, CallIndex } from './context.ts'
import type { CallReport } from './report.ts'

/** A call of a plan that a person is asked about. */
export interface ProposedCall {
  tool: ToolDefinition
  params: JsonObject
  /** Parameters that the answer of an earlier step gives. */
  bindings: readonly { parameter: string; from: string }[]
  readOnly: boolean
  /** Why a yes in advance is not enough; undefined where it is. */
  unusual?: string | undefined
}

/** What a request in words needs besides a call's context. */
export interface RequestWorld {
  context: CallContext
  /** Routes the request, or a clause of it, over the tools of an index. Asked again after a discovery. */
  router: (index: CallIndex) => Promise<(text: string) => Route>
  /** The user said yes to everything in advance (`--yes`). */
  yes: boolean
  /** What to do about a missing yes; default: to say it at a terminal, or in advance. */
  toAllow?: string | undefined
  /** Asks a person; undefined where nobody can be asked. */
  person?:
    | {
        /** Asks once about the whole plan: everything that is called, in order. */
        confirm(plan: readonly ProposedCall[]): Promise<boolean>
        /** The id of the chosen tool; undefined for none of them. */
        choose(candidates: Route['candidates']): Promise<string | undefined>
        /**
         * The text for a missing parameter, empty or undefined for none. `problem` says why the text
         * that was given before does not do.
         */
        provide(
          tool: ToolDefinition,
          parameter: string,
          problem: string | undefined,
        ): Promise<string | undefined>
      }
    | undefined
  /** Keeps that a person confirmed this tool for this request. */
  learn?: ((request: string, tool: string) => Promise<void>) | undefined
  onStep?: StepListener | undefined
  /** Makes the value of an answer in a batch or a chain. */
  toValue?: StepOptions['toValue']
}

/** What came of a request. */
export type RequestAnswer =
  | { kind: 'batch'; results: readonly BatchResult[] }
  | { kind: 'chain'; result: ChainResult }
  | {
      kind: 'called'
      /** In order; the last one failed where `status` is `error`. */
      calls: readonly { call: PlannedCall; report: CallReport }[]
      status: 'success' | 'error' | 'cancelled'
      /** Tools that a cancellation stopped or did not let begin. */
      cancelled?: readonly string[] | undefined
      /** Candidates that proved wrong before, and why. */
      tried: readonly { tool: string; why: string }[]
      route?: Route | undefined
    }
  | {
      kind: 'unsure'
      /** What it was about, in a sentence. */
      reason: string
      route?: Route | undefined
      tool?: string | undefined
      missing?: readonly string[] | undefined
      /** The command to complete, where parameters are missing. */
      complete?: string | undefined
      tried: readonly { tool: string; why: string }[]
    }
