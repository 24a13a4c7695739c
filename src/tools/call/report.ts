import type { Diagnostic } from '../../base/index.ts'
import type { CallFailure, JsonObject, ToolDefinition, ToolOutcome } from '../model.ts'
import type { FailureKind } from './retry-policy.ts'

/** The failure report of the seed. */
export interface FailureReport {
  tool: string
  attempts: number
  /** `Attempt 1: …`, one for each attempt. */
  errors: readonly string[]
  suggestion: string
}

interface CallFacts {
  tool: ToolDefinition
  /** Canonical category, where the index knows one. */
  category?: string | undefined
  params: JsonObject
  attempts: number
  durationMs: number
  /** Remarks for the reader of the answer, such as that a retry was needed. */
  notes: readonly string[]
  diagnostics: readonly Diagnostic[]
}

/** What came of a call that was made. */
export type CallReport = CallFacts &
  (
    | { status: 'success'; outcome: ToolOutcome }
    | {
        status: 'error'
        /** The answer, where it was one of a failure. */
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
