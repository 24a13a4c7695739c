import type { JsonValue } from '../skill/index.ts'

/** How a skill ended. `failure` and `critical` both count as failed. */
export type StepStatus = 'success' | 'failure' | 'critical'

/** Who vouches for a result: the exit code of a script, our own verification, only the agent. */
export type Evidence = 'exit-code' | 'verified' | 'self-reported'

/** One thing that went wrong. `code` is kebab-case; a plain sentence of a skill is `reported`. */
export interface ReportedError {
  code: string
  message: string
}

/** The standard output of a skill in a chain. */
export interface StepOutput {
  status: StepStatus
  /** A summary for people. */
  result: string
  errors: readonly ReportedError[]
  metrics: Readonly<Record<string, JsonValue>>
  evidence: Evidence
}

/** A failure of ours to report as the output of a skill. */
export function failedOutput(code: string, message: string): StepOutput {
  return {
    status: 'failure',
    result: message,
    errors: [{ code, message }],
    metrics: {},
    evidence: 'exit-code',
  }
}
