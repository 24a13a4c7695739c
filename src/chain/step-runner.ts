import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '#core/errors'
import { hexDigest } from '#core/json'
import { redactKnown, redactText, secretVariables } from '#core/redact'
import type { Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { makePrivateDirectory, writeAll } from '#core/write-files'
import { childEnvironment } from '#exec/process'
import { splitArguments } from '#skill/arguments'
import { failedOutput, type StepOutput } from '#exec/output-protocol'
import type {
  ChainCall,
  Executor,
  OutputAnswer,
  StepAnswer,
  StepContext,
  TaskCall,
} from './engine.ts'
import { RunFilesError } from './errors.ts'
import { type PlannedStep, sandboxHint } from './plan-model.ts'
import { secretsIn } from './run-line.ts'
import {
  lastOutput,
  type Refusal,
  scriptExecutor,
  type ScriptSetup,
  skillDirectory,
  verifyStep,
} from './executors.ts'
import { mapTexts } from './step-result.ts'
import { skillDigest } from './lookup.ts'

export interface StepRunnerOptions extends Omit<ScriptSetup, 'environment' | 'outputLimit'> {
  runId: string
  arguments: readonly string[]
  runtime: Pick<Runtime, 'env' | 'platform'>
  settings: Settings['run']
  /** Of steps that have no script. */
  executors: readonly Executor[]
  /** A success that nobody but the agent vouches for is a failure. */
  requireVerified: boolean
}

export type StepRunner = ReturnType<typeof createStepRunner>

/**
 * Digest, execution, verification, log. It returns what is recorded, so that a resumed run sees
 * exactly what an undisturbed one saw. Data is never masked: `shown` is what may be displayed of it,
 * where that differs. It throws {@link RunFilesError} alone.
 */
export function createStepRunner(options: StepRunnerOptions) {
  const { runId, runtime, settings, files } = options
  const { outputLimit } = settings
  const environment = childEnvironment(runtime, settings.environment, {})
  const setup = { ...options, environment, outputLimit }
  const executors = [scriptExecutor(setup), ...options.executors]
  const secrets = [...secretsIn(options.arguments), ...secretVariables(environment)]

  async function conclude(
    { step, key }: TaskCall | ChainCall,
    answer: OutputAnswer,
    { signal }: StepContext,
  ): Promise<OutputAnswer> {
    let { output, log = '', sandbox, endedInVerification } = answer
    if (step.verify !== undefined && output.status === 'success') {
      const request = { runId, idempotencyKey: `${runId}/${key}`, signal }
      const verification = await verifyStep(step, output, setup, request)
      output = verification.output
      log = lastOutput(log, verification.log)
      endedInVerification = verification.ended || undefined
      sandbox ??= verification.sandbox
    }
    if (setup.sharesFiles === false && output.artifacts) {
      const message =
        'it returned artifacts; set restate.scratch to a directory that all workers have'
      output = failedOutput('artifact-unusable', message)
    }
    if (options.requireVerified) output = demandEvidence(output)
    const hint = output.status === 'success' ? undefined : hintOf(step, sandbox, setup)
    const masked = mapTexts(output, (text) => redactKnown(text, secrets))
    const shown = JSON.stringify(masked) === JSON.stringify(output) ? undefined : masked
    log = redactText(log, secrets)
    return { ...answer, output, shown, log, sandbox, hint, endedInVerification }
  }

  return {
    async run(call: TaskCall, context: StepContext): Promise<StepAnswer> {
      const { step, key } = call
      const refusal = refusalFor(step, setup)
      if (refusal) return refusal
      const executor = executors.find(({ kind }) => kind === step.executor)
      if (!executor) {
        return failed('no-executor', `nothing here can execute the skill ${step.skill}`)
      }
      const log = new StepLog(logPath(files.logs, key), (text, stream) => {
        const masked = Buffer.from(redactText(text, secrets))
        context.onOutput?.(masked, stream)
        return masked
      })
      const answer = await executor
        .execute({
          call,
          runId,
          idempotencyKey: `${runId}/${key}`,
          arguments: step.args === undefined ? options.arguments : splitArguments(step.args),
          signal: context.signal,
          onOutput: (chunk, stream) => log.add(chunk, stream),
        })
        .catch((error: unknown): StepAnswer => {
          if (error instanceof RunFilesError) throw error
          return failed('executor-failed', messageOf(error))
        })
        .finally(() => log.close())
      return answer.kind === 'pending' ? answer : await conclude(call, answer, context)
    },
    /** What is left to do when a nested chain has ended: its verification. */
    async finishChain(
      call: ChainCall,
      output: StepOutput,
      context: StepContext,
    ): Promise<OutputAnswer> {
      const { step } = call
      const refusal = step.verify === undefined ? undefined : refusalFor(step, setup)
      return refusal ?? (await conclude(call, { kind: 'output', output }, context))
    },
  }
}

function refusalFor(step: PlannedStep, setup: ScriptSetup): OutputAnswer | undefined {
  const { skill } = step
  if (step.executor === 'missing') {
    return failed('skill-not-found', `there is no skill ${skill}`)
  }
  const script = step.executor === 'script' ? step.script : undefined
  const files = [basename(step.path), script, step.verify]
  if (skillDigest(skillDirectory(setup.workspace, step), files) !== step.digest) {
    const message = `the skill ${skill} was changed after the run was planned`
    return failed('digest-changed', message)
  }
  const refusal = untrusted(step, setup)
  if (!refusal) return undefined
  return { ...failed('skill-not-trusted', refusal.message), hint: refusal.hint }
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
  const message = 'only the agent says so, and verification is required'
  const errors = [...output.errors, { code: 'not-verified', message }]
  return { ...output, status: 'failure', errors }
}

function failed(code: string, message: string): OutputAnswer {
  return { kind: 'output', output: failedOutput(code, message) }
}

/** Bytes of a file; a longer log continues in a new one, and of those before the last one is kept. */
export const logFileBytes = 67_108_864

const longestLine = 65_536

type Stream = 'stdout' | 'stderr'

/** Takes what a step prints, and writes what `masked` makes of it, whole lines at a time. */
export class StepLog {
  readonly #path: string
  readonly #masked: (lines: string, stream: Stream) => Buffer
  readonly #rest = { stdout: '', stderr: '' }
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  #descriptor: number | undefined
  #bytes = 0
  #failed = false

  constructor(path: string, masked: (lines: string, stream: Stream) => Buffer) {
    this.#path = path
    this.#masked = masked
  }

  add(chunk: Buffer, stream: Stream): void {
    const text = this.#rest[stream] + this.#decoders[stream].decode(chunk, { stream: true })
    const end = text.length > longestLine ? text.length : text.lastIndexOf('\n') + 1
    this.#rest[stream] = text.slice(end)
    this.#write(text.slice(0, end), stream)
  }

  close(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const rest = this.#rest[stream] + this.#decoders[stream].decode()
      if (rest !== '') this.#write(`${rest}\n`, stream)
    }
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }

  /** A log that cannot be written must not stop the step. */
  #write(text: string, stream: Stream): void {
    if (text === '') return
    const bytes = this.#masked(text, stream)
    if (this.#failed) return
    try {
      if (this.#bytes > 0 && this.#bytes + bytes.length > logFileBytes) this.#rotate()
      this.#descriptor ??= this.#open()
      writeAll(this.#descriptor, bytes)
      this.#bytes += bytes.length
    } catch {
      this.#failed = true
    }
  }

  #open(): number {
    makePrivateDirectory(dirname(this.#path))
    this.#bytes = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
    return openSync(this.#path, 'a', 0o600)
  }

  #rotate(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
    rmSync(`${this.#path}.1`, { force: true })
    renameSync(this.#path, `${this.#path}.1`)
  }
}

export function logPath(directory: string, key: string): string {
  const name = encodeURIComponent(key)
  return join(directory, `${name.length > 200 ? hexDigest(key) : name}.log`)
}

export function readLog(directory: string, key: string): string {
  const path = logPath(directory, key)
  return [`${path}.1`, path].map((one) => textOf(one)).join('')
}

function textOf(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, 'utf8') : ''
}
