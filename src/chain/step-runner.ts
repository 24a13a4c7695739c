import {
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '#core/errors'
import { hexDigest } from '#core/json'
import { redactSecrets, redactText, secretVariables } from '#core/redact'
import type { Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { makePrivateDirectory, writeAll } from '#core/write-files'
import { childEnvironment, colorVariables } from '#exec/process'
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
  confirmStep,
  hasCheck,
  lastOutput,
  type Refusal,
  type RunConfinement,
  type RunFiles,
  scriptExecutor,
  type ScriptSetup,
  skillDirectory,
} from './executors.ts'
import { mapTexts } from './step-result.ts'
import { skillDigest } from './lookup.ts'

/** The parts that execute the steps of one run, on this machine (src/chain/run-chain.ts) or on a worker. */
export interface StepRunnerOptions {
  runId: string
  /** The real path of the project, where scripts run. */
  workspace: string
  files: RunFiles
  /** Whether later steps can read the files of earlier ones. */
  sharesFiles: boolean
  /** The arguments of the run, for each step without arguments of its own. */
  arguments: readonly string[]
  /** Whether a success that only an agent reports counts as a failure. */
  requireVerified: boolean
  runtime: Pick<Runtime, 'env' | 'platform'>
  settings: Settings['run']
  /** Execute the steps without a script. */
  executors: readonly Executor[]
  /** Where untrusted scripts run; undefined if none may run. */
  confinement: RunConfinement | undefined
  /** Returns, right before a step, why the skill in a directory must not be executed any more. */
  refusalOf: ((directory: string) => Refusal | undefined) | undefined
}

/**
 * Executes steps: checks digest and trust, executes, verifies, logs. Callers record the answer as it is,
 * so that a resumed run gets the same data as an uninterrupted one. The data is never masked; `shown` is a
 * masked copy for display, if the two differ. Throws only {@link RunFilesError}.
 */
export class StepRunner {
  readonly #options: StepRunnerOptions
  readonly #scripts: ScriptSetup
  readonly #executors: readonly Executor[]
  readonly #secrets: readonly string[]

  constructor(options: StepRunnerOptions) {
    const { runtime, settings, workspace, files, confinement } = options
    // Logs have no colours.
    const isColored = settings.environment.some((name) => colorVariables.has(name))
    const colorSettings: Record<string, string> = isColored ? {} : { NO_COLOR: '1' }
    const environment = childEnvironment(runtime, [...settings.environment, 'CI'], colorSettings)
    const { outputLimit } = settings
    this.#options = options
    this.#scripts = { workspace, files, environment, outputLimit, confinement }
    this.#executors = [scriptExecutor(this.#scripts), ...options.executors]
    this.#secrets = [...secretsIn(options.arguments), ...secretVariables(environment)]
  }

  async run(call: TaskCall, context: StepContext): Promise<StepAnswer> {
    const { step, key } = call
    const { runId, files, arguments: words } = this.#options
    const refusal = this.#refusalFor(step)
    if (refusal) return refusal
    const executor = this.#executors.find(({ kind }) => kind === step.executor)
    if (!executor) {
      return failedAnswer('no-executor', `nothing here can execute the skill ${step.skill}`)
    }
    const log = new StepLog(logPath(files.logs, key), (text, stream) => {
      const maskedText = Buffer.from(redactText(text, this.#secrets))
      context.onOutput?.(maskedText, stream)
      return maskedText
    })
    const answer = await executor
      .execute({
        call,
        runId,
        idempotencyKey: `${runId}/${key}`,
        arguments: step.args === undefined ? words : splitArguments(step.args),
        signal: context.signal,
        onOutput: (chunk, stream) => log.add(chunk, stream),
      })
      .catch((error: unknown): StepAnswer => {
        if (error instanceof RunFilesError) throw error
        return failedAnswer('executor-failed', messageOf(error))
      })
      .finally(() => log.close())
    if (answer.kind === 'pending') return answer
    const notUtf8 = log.isReplaced || undefined
    return await this.#conclude(call, { ...answer, notUtf8 }, context)
  }

  /** Runs the check of a step before a result is recorded. `key` identifies the processes of the check. */
  async confirm(
    step: PlannedStep,
    key: string,
    output: StepOutput,
    context: StepContext,
  ): Promise<OutputAnswer> {
    const refusal = this.#refusalFor(step)
    return refusal ?? (await this.#conclude({ step, key }, { kind: 'output', output }, context))
  }

  /** Verifies a nested chain that has ended. */
  async finishChain(
    call: ChainCall,
    output: StepOutput,
    context: StepContext,
  ): Promise<OutputAnswer> {
    const { step } = call
    const refusal = step.verify === undefined ? undefined : this.#refusalFor(step)
    return refusal ?? (await this.#conclude(call, { kind: 'output', output }, context))
  }

  async #conclude(
    { step, key }: { step: PlannedStep; key: string },
    answer: OutputAnswer,
    { signal }: StepContext,
  ): Promise<OutputAnswer> {
    const { runId, sharesFiles, requireVerified } = this.#options
    let { output, log = '', sandbox, endedInVerification } = answer
    if (hasCheck(step) && !answer.isConfirmed && output.status === 'success') {
      const request = { runId, idempotencyKey: `${runId}/${key}`, signal }
      const confirmation = await confirmStep(step, output, this.#scripts, request)
      output = confirmation.output
      log = lastOutput(log, confirmation.log)
      endedInVerification = confirmation.wasStopped || undefined
      sandbox ??= confirmation.sandbox
    }
    if (!sharesFiles && output.artifacts) {
      const message =
        'it returned artifacts; set restate.scratch to a directory that all workers have'
      output = failedOutput('artifact-unusable', message)
    }
    if (requireVerified) output = demandEvidence(output)
    const hint = output.status === 'success' ? undefined : this.#hintFor(step, sandbox)
    const maskedOutput = mapTexts(output, (text) => redactSecrets(text, this.#secrets))
    const shown = JSON.stringify(maskedOutput) === JSON.stringify(output) ? undefined : maskedOutput
    log = redactText(log, this.#secrets)
    return { ...answer, output, shown, log, sandbox, hint, endedInVerification }
  }

  #refusalFor(step: PlannedStep): OutputAnswer | undefined {
    const { skill } = step
    if (step.executor === 'missing') {
      return failedAnswer('skill-not-found', `there is no skill ${skill}`)
    }
    const script = step.executor === 'script' ? step.script : undefined
    const files = [basename(step.path), script, step.verify]
    const directory = skillDirectory(this.#options.workspace, step)
    if (skillDigest(directory, files) !== step.digest) {
      const message = `the skill ${skill} was changed after the run was planned`
      return failedAnswer('digest-changed', message)
    }
    const refusal = needsTrust(step) ? this.#options.refusalOf?.(directory) : undefined
    if (!refusal) return undefined
    return { ...failedAnswer('skill-not-trusted', refusal.message), hint: refusal.hint }
  }

  #hintFor(step: PlannedStep, sandbox: string | undefined): string | undefined {
    if (sandbox === undefined) return undefined
    const { workspace, refusalOf } = this.#options
    const refusal = refusalOf?.(skillDirectory(workspace, step))
    return sandboxHint(sandbox, { allowing: refusal?.hint, grants: true })
  }
}

const actingExecutors: readonly PlannedStep['executor'][] = ['script', 'agent', 'model']

/** Whether trust is checked again: an edit of a helper file changes the trust and not the digest. */
function needsTrust(step: PlannedStep): boolean {
  const acts = actingExecutors.includes(step.executor)
  // A step that was planned for the sandbox runs there, even if its trust has changed since.
  // A check never runs in a sandbox.
  if (step.check !== undefined) return true
  const isConfined = step.sandboxed === true && (step.executor === 'script' || !acts)
  return !isConfined && (acts || step.verify !== undefined)
}

function demandEvidence(output: StepOutput): StepOutput {
  const { status, evidence } = output
  if (status !== 'success' || evidence === 'verified' || evidence === 'exit-code') return output
  const reason =
    evidence === 'accepted' ? 'a user accepted it without its check' : 'only the agent says so'
  const message = `${reason}, and verification is required`
  const errors = [...output.errors, { code: 'not-verified', message }]
  return { ...output, status: 'failure', errors }
}

function failedAnswer(code: string, message: string): OutputAnswer {
  return { kind: 'output', output: failedOutput(code, message) }
}

/** The most bytes in a log file. A longer log continues in a new file; the previous file becomes `.1`. */
export const logFileBytes = 67_108_864

const longestLine = 65_536

type Stream = 'stdout' | 'stderr'

/** Writes the output of a step in whole lines, masked by `mask`. */
export class StepLog {
  readonly #path: string
  readonly #mask: (lines: string, stream: Stream) => Buffer
  readonly #rest = { stdout: '', stderr: '' }
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  #descriptor: number | undefined
  /** Whether the step printed bytes that are not UTF-8, which became replacement characters. */
  isReplaced = false
  #bytes = 0
  #failed = false

  constructor(path: string, mask: (lines: string, stream: Stream) => Buffer) {
    this.#path = path
    this.#mask = mask
  }

  add(chunk: Buffer, stream: Stream): void {
    const newText = this.#decoders[stream].decode(chunk, { stream: true })
    this.isReplaced ||= newText.includes(replacement) && !chunk.includes(replacement)
    const text = this.#rest[stream] + newText
    const end = text.length > longestLine ? text.length : text.lastIndexOf('\n') + 1
    this.#rest[stream] = text.slice(end)
    this.#write(text.slice(0, end), stream)
  }

  close(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const lastText = this.#rest[stream] + this.#decoders[stream].decode()
      if (lastText !== '') this.#write(`${lastText}\n`, stream)
    }
    if (this.isReplaced) this.#write(notUtf8Line, 'stderr')
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }

  /** A log that cannot be written must not stop the step. */
  #write(text: string, stream: Stream): void {
    if (text === '') return
    const bytes = this.#mask(text, stream)
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

  /** Adds the size of the oldest file to the count of lost bytes, before the next file replaces it. */
  #countLost(): void {
    const oldest = statSync(`${this.#path}.1`, { throwIfNoEntry: false })
    if (!oldest) return
    writeFileSync(`${this.#path}.lost`, `${lostBytesOf(this.#path) + oldest.size}`, { mode: 0o600 })
    rmSync(`${this.#path}.1`, { force: true })
  }

  #rotate(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
    this.#countLost()
    renameSync(this.#path, `${this.#path}.1`)
  }
}

const replacement = '\u{fffd}'
const notUtf8Line = '(skillrail: not UTF-8; shown with replacement characters)\n'

export function logPath(directory: string, key: string): string {
  const name = encodeURIComponent(key)
  return join(directory, `${name.length > 200 ? hexDigest(key) : name}.log`)
}

/** Returns the output of a step without its first `lostBytes`, which were not stored. */
export function readLog(directory: string, key: string): { text: string; lostBytes: number } {
  const path = logPath(directory, key)
  const text = [`${path}.1`, path].map((one) => textOf(one)).join('')
  return { text, lostBytes: lostBytesOf(path) }
}

function lostBytesOf(path: string): number {
  return Number(textOf(`${path}.lost`)) || 0
}

function textOf(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, 'utf8') : ''
}
