import { basename } from 'node:path'
import { messageOf } from '../core/errors.ts'
import { redactText, redactValue } from '../core/redact.ts'
import { failedOutput, type StepOutput } from '../exec/output-protocol.ts'
import type { ChainCall, TaskCall } from './engine.ts'
import { RunFilesError } from './errors.ts'
import type { Executor, StepAnswer } from './executor.ts'
import type { PlannedStep } from './plan-model.ts'
import { secretsIn } from './run-line.ts'
import {
  lastOutput,
  type Refusal,
  type ScriptSetup,
  skillDirectory,
  verifyStep,
} from './script-executor.ts'
import { sandboxHint } from './render-plan.ts'
import { skillDigest } from './lookup.ts'

export interface StepRunner {
  run(call: TaskCall, context: StepContext): Promise<StepAnswer>
  /** What is left to do when a nested chain has ended: its verification. */
  finishChain(call: ChainCall, output: StepOutput, context: StepContext): Promise<StepAnswer>
}

export interface StepContext {
  signal: AbortSignal
  onOutput?: ((chunk: Buffer, stream: 'stdout' | 'stderr') => void) | undefined
}

export interface StepRunnerOptions {
  runId: string
  arguments: readonly string[]
  executors: readonly Executor[]
  setup: ScriptSetup
  /** A success that nobody but the agent vouches for is a failure. */
  requireVerified: boolean
}

/**
 * Digest, execution, verification, masking of secrets. It returns what is recorded, so that a
 * resumed run sees exactly what an undisturbed one saw. It throws {@link RunFilesError} alone.
 */
export function createStepRunner(options: StepRunnerOptions): StepRunner {
  const { setup, runId } = options
  const secrets = secretsIn(options.arguments)

  async function conclude(
    step: PlannedStep,
    answer: Extract<StepAnswer, { kind: 'output' }>,
    context: StepContext,
    idempotencyKey: string,
  ): Promise<StepAnswer> {
    let { output, log = '', sandbox } = answer
    let ended = false
    if (step.verify !== undefined && output.status === 'success') {
      const request = { runId, idempotencyKey, signal: context.signal }
      const verification = await verifyStep(step, output, setup, request)
      output = verification.output
      log = lastOutput(log, verification.log)
      ended = verification.ended
      sandbox ??= verification.sandbox
    }
    const judged = options.requireVerified ? demandEvidence(output) : output
    const { promptDigest, workedMs } = answer
    const hint = judged.status === 'success' ? undefined : hintOf(step, sandbox, setup)
    const endedInVerification = ended || undefined
    const facts = { sandbox, hint, promptDigest, workedMs, endedInVerification }
    return { ...masked(judged, log, secrets), ...facts }
  }

  return {
    async run(call, context) {
      const { step, key } = call
      const idempotencyKey = `${runId}/${key}`
      const refusal = refusalFor(step, setup)
      if (refusal !== undefined) return refusal
      const executor = options.executors.find((candidate) => candidate.kind === step.executor)
      if (executor === undefined) {
        const message = `nothing here can execute the skill ${step.skill}`
        return masked(failedOutput('no-executor', message))
      }
      const answer = await executor
        .execute({
          call,
          runId,
          idempotencyKey,
          arguments: options.arguments,
          signal: context.signal,
          onOutput: maskedOutput(context, secrets),
        })
        .catch((error: unknown): StepAnswer => {
          if (error instanceof RunFilesError) throw error
          return { kind: 'output', output: failedOutput('executor-failed', messageOf(error)) }
        })
      if (answer.kind === 'pending') return answer
      return await conclude(step, answer, context, idempotencyKey)
    },
    async finishChain(call, output, context) {
      const { step } = call
      const refusal = step.verify === undefined ? undefined : refusalFor(step, setup)
      if (refusal !== undefined) return refusal
      const answer = { kind: 'output', output } as const
      return await conclude(step, answer, context, `${runId}/${call.key}`)
    },
  }
}

function refusalFor(step: PlannedStep, setup: ScriptSetup): StepAnswer | undefined {
  const { skill } = step
  if (step.executor === 'missing') {
    return masked(failedOutput('skill-not-found', `there is no skill ${skill}`))
  }
  const script = step.executor === 'script' ? step.script : undefined
  const files = [basename(step.path), script, step.verify]
  if (skillDigest(skillDirectory(setup.workspace, step), files) !== step.digest) {
    const message = `the skill ${skill} was changed after the run was planned`
    return masked(failedOutput('digest-changed', message))
  }
  const refusal = untrusted(step, setup)
  if (refusal === undefined) return undefined
  return { ...masked(failedOutput('skill-not-trusted', refusal.message)), hint: refusal.hint }
}

function hintOf(step: PlannedStep, sandbox: string | undefined, setup: ScriptSetup) {
  if (sandbox === undefined) return undefined
  const refusal = setup.refusalOf?.(skillDirectory(setup.workspace, step))
  return sandboxHint(sandbox, { allowing: refusal?.hint, grants: true })
}

const actingExecutors: readonly PlannedStep['executor'][] = ['script', 'agent', 'model']

/** An edit of a helper beside the script leaves the digest as it was, but not the trust. */
function untrusted(step: PlannedStep, setup: ScriptSetup): Refusal | undefined {
  const acts = actingExecutors.includes(step.executor)
  // What runs in a sandbox runs there whatever its trust is by now.
  const confined = step.sandboxed === true && (step.executor === 'script' || !acts)
  if (confined || (!acts && step.verify === undefined)) return undefined
  return setup.refusalOf?.(skillDirectory(setup.workspace, step))
}

function demandEvidence(output: StepOutput): StepOutput {
  if (output.status !== 'success' || output.evidence !== 'self-reported') return output
  const message = 'only the agent itself says that it succeeded, and verification is required'
  return {
    ...output,
    status: 'failure',
    errors: [...output.errors, { code: 'not-verified', message }],
  }
}

function masked(
  output: StepOutput,
  log = '',
  secrets: readonly string[] = [],
): Extract<StepAnswer, { kind: 'output' }> {
  return { kind: 'output', output: redactValue(output, secrets), log: redactText(log, secrets) }
}

/** Masked in the output as printed; a secret that comes in pieces is masked in the record only. */
function maskedOutput(
  { onOutput }: StepContext,
  secrets: readonly string[],
): StepContext['onOutput'] {
  if (onOutput === undefined) return undefined
  return (chunk, stream) => onOutput(Buffer.from(redactText(chunk.toString(), secrets)), stream)
}
