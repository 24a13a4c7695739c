import type { StepOutput } from '../exec/output-protocol.ts'
import type { StepResult, TaskCall } from './engine.ts'
import type { TaskExecutor } from './plan-model.ts'

/**
 * How steps of one kind are executed: a script, an agent's command line, a model. The engine picks
 * the executor that the plan names and records what it answers.
 */
export interface Executor {
  readonly kind: TaskExecutor
  /** Executes the step; a failure is an output. Must end soon after an abort. */
  execute(request: StepRequest): Promise<StepAnswer>
}

export interface StepRequest {
  call: TaskCall
  runId: string
  /** Run, step and attempt: the same again when the step is repeated after a crash. */
  idempotencyKey: string
  arguments: readonly string[]
  signal: AbortSignal
  onOutput?: ((chunk: Buffer, stream: 'stdout' | 'stderr') => void) | undefined
}

export type StepAnswer =
  | (Pick<StepResult, 'sandbox' | 'hint'> & {
      kind: 'output'
      output: StepOutput
      shown?: StepOutput | undefined
      log?: string | undefined
      promptDigest?: string | undefined
      /** How long an agent had it, from handing out to its report, before it was executed here. */
      workedMs?: number | undefined
      /** `scripts/verify` was stopped before it finished. */
      endedInVerification?: true | undefined
    })
  /** Nothing to execute here: the step was handed out, and somebody will report. */
  | { kind: 'pending'; handedAt: number }
