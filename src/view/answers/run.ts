import type { Finding, LongText } from './common.ts'

/** A run in the answer of `runs list --json`. */
export interface ListedRun {
  runId: string
  skill: string
  status: string
  finishedSteps: number
  startedAt: string
  updatedAt: string
}

export interface RunsAnswer {
  runs: readonly ListedRun[]
  /** How many there are; `runs` are the newest of them. */
  total: number
  /** How many are given at most. */
  limit: number
  diagnostics: readonly Finding[]
}

/** What is wrong with a step or an attempt: the first errors, and how many more there are. */
export interface ShownErrors {
  errors: readonly { code: string; message: string }[]
  moreErrors: number
}

export interface ShownAttempt extends ShownErrors {
  attempt: number
  status: string
  steps: readonly ShownStep[]
}

export interface ShownStep extends ShownErrors {
  step: string
  label: string
  skill: string
  /** A status of a result; while the run goes on `running` and `pending` too. */
  status: string
  mark: string
  /** How long it took, in words; empty where nobody knows. */
  time: string
  startedAt: string | null
  durationMs: number
  evidence: string | null
  reason?: string | undefined
  /** Why it failed or was not executed, in a line; empty for a success. */
  said: string
  /** The sandbox that it ran in. */
  sandbox?: string | undefined
  /** What can be done about its failure. */
  hint?: string | undefined
  result: LongText
  log?: { size: number } | undefined
  metrics: readonly (readonly [name: string, value: string])[]
  steps?: readonly ShownStep[] | undefined
  /** Statuses of the attempts of a chain that was repeated. */
  attempts?: readonly string[] | undefined
}

export type RunAnswer =
  | { unchanged: true }
  | {
      unchanged?: undefined
      /** Changes whenever the run does. */
      stamp: string
      runId: string
      skill: string
      status: string
      mode: string
      startedAt: string
      updatedAt: string
      arguments: readonly string[]
      attempts: readonly ShownAttempt[]
      winner?: string | undefined
      /** The step that failed first, as its `step` names it. */
      failedFirst?: string | undefined
      /** What a person types in a terminal to go on. */
      next: readonly { what: string; line: string }[]
      diagnostics: readonly Finding[]
    }
