import { dirname, join, resolve } from 'node:path'
import { reasonOf } from '#core/errors'
import { hexDigest, sha256 } from '#core/json'
import type { Runtime } from '#core/runtime'
import { jsonText } from '#core/text'
import { makePrivateDirectory } from '#core/write-files'
import {
  type AgentCli,
  agentPrompt,
  type AgentWishes,
  networkVariables,
  runAgent,
} from '#exec/agent-clients'
import { findScript, findVerifyScript } from '#exec/find-script'
import { failedOutput, type StepOutput } from '#exec/output-protocol'
import { verificationKey } from '#exec/process-group'
import { capturedText, childEnvironment } from '#exec/process'
import type { Confinement } from '#exec/sandbox/open-sandbox'
import { ownVariables, runScript, startScript } from '#exec/script'
import type { Executor, StepRequest, TaskCall } from './engine.ts'
import { RunFilesError } from './errors.ts'
import type { RunJournal, RunRecord } from './run-journal.ts'
import type { PlannedStep, PlannedTask } from './plan-model.ts'
import type { RunStore } from './run-store.ts'

export interface ScriptSetup {
  workspace: string
  files: RunFiles
  environment: Readonly<Record<string, string>>
  outputLimit: number
  confinement?: RunConfinement | undefined
  /** Whether later steps find the files of this one; default true. */
  sharesFiles?: boolean
  /** Why the skill in a directory may not be executed any more; undefined when it may. */
  refusalOf?: ((directory: string) => Refusal | undefined) | undefined
}

export interface Refusal {
  message: string
  hint?: string | undefined
}

/** `off`: the user gave up the sandbox for this run; those scripts run like any other. */
export type RunConfinement = Confinement | 'off'

export function scriptExecutor(setup: ScriptSetup): Executor {
  return {
    kind: 'script',
    async execute(request) {
      const { step, attempt, state, key } = request.call
      const directory = skillDirectory(setup.workspace, step)
      const search = findScript(directory, step.script)
      if (search.kind !== 'found') {
        const output = failedOutput('digest-changed', `the script of ${step.skill} is gone`)
        return { kind: 'output', output }
      }
      const confinement = confinementOf(step, setup)
      const { unwritable, output, stdout, stderr } = await runScript({
        script: search.script,
        skillDirectory: directory,
        cwd: setup.workspace,
        arguments: request.arguments,
        input: JSON.stringify({ chain_state: state }),
        runId: request.runId,
        step: step.step,
        attempt,
        idempotencyKey: request.idempotencyKey,
        scratch: setup.files.scratch,
        // Keys contain characters that file names cannot have; each process makes new files.
        files: join(setup.files.steps, `${hexDigest(key, 16)}-${process.pid}`),
        environment: setup.environment,
        outputLimit: setup.outputLimit,
        signal: request.signal,
        confinement,
        onOutput: request.onOutput,
      })
      if (unwritable !== undefined) throw cannotPrepare(request, unwritable)
      const log = lastOutput(stdout, stderr)
      return { kind: 'output', output, log, sandbox: confinement?.sandbox.name }
    },
  }
}

/** Nothing of the skill ran: a full disk is not a failure of a step. */
function cannotPrepare({ call }: Pick<StepRequest, 'call'>, reason: string): RunFilesError {
  return new RunFilesError(
    'run-files-unwritable',
    `the step ${call.step.step} could not be started: ${reason}`,
    'Fix that; recorded results are not lost.',
  )
}

/** Runs `scripts/verify` with the output on stdin; a code other than 0 is `verification-failed`. */
export async function verifyStep(
  step: PlannedStep,
  output: StepOutput,
  setup: ScriptSetup,
  { runId, idempotencyKey, signal }: Pick<StepRequest, 'runId' | 'idempotencyKey' | 'signal'>,
): Promise<{ output: StepOutput; log: string; ended: boolean; sandbox?: string | undefined }> {
  const directory = skillDirectory(setup.workspace, step)
  const search = findVerifyScript(directory)
  if (search.kind !== 'found') {
    return { output: unverified(output, 'its scripts/verify is gone'), log: '', ended: false }
  }
  const confinement = confinementOf(step, setup)
  const sandbox = confinement?.sandbox.name
  const { end, stdout, stderr } = await startScript({
    script: search.script,
    skillDirectory: directory,
    cwd: setup.workspace,
    arguments: [],
    input: JSON.stringify({ output }),
    runId,
    step: step.step,
    idempotencyKey: verificationKey(idempotencyKey),
    scratch: setup.files.scratch,
    environment: setup.environment,
    outputLimit: setup.outputLimit,
    confinement,
    signal,
  })
  const log = lastOutput(capturedText(stdout), capturedText(stderr))
  if (end.kind === 'exit' && end.code === 0) {
    return { output: { ...output, evidence: 'verified' }, log, ended: false, sandbox }
  }
  const more = 'message' in end ? `: ${end.message}` : ''
  const how = end.kind === 'exit' ? `exit code ${end.code}` : `${end.kind}${more}`
  const failed = unverified(output, `scripts/verify ended with ${how}`)
  return { output: failed, log, ended: end.kind === 'aborted', sandbox }
}

/** Characters of what a step printed that go into the journal. */
const maxLogCharacters = 4096

export function lastOutput(stdout: string, stderr: string): string {
  const half = maxLogCharacters / 2
  return [stdout, stderr]
    .map((text) => text.trimEnd())
    .filter((text) => text !== '')
    .map((text) => (text.length > half ? `…${text.slice(-half)}` : text))
    .join('\n')
}

function confinementOf(step: PlannedStep, setup: ScriptSetup): Confinement | undefined {
  if (!step.sandboxed || setup.confinement === 'off') return undefined
  if (setup.confinement) return setup.confinement
  throw new RunFilesError(
    'sandbox-missing',
    `the scripts of ${step.skill} run only in a sandbox, and there is none here`,
  )
}

function unverified(output: StepOutput, message: string): StepOutput {
  const errors = [...output.errors, { code: 'verification-failed', message }]
  return { ...output, status: 'failure', errors }
}

export interface RunFiles {
  /** `SKILLRAIL_SCRATCH`: shared by the steps of the run. */
  scratch: string
  steps: string
  logs: string
}

export function runFiles(runsDirectory: string, runId: string): RunFiles {
  const base = join(runsDirectory, runId)
  return { scratch: join(base, 'scratch'), steps: join(base, 'steps'), logs: join(base, 'logs') }
}

export function skillDirectory(workspace: string, step: PlannedStep): string {
  return dirname(resolve(workspace, step.path))
}

export function recordOf(confinement: RunConfinement | undefined): Pick<RunRecord, 'confinement'> {
  if (!confinement) return {}
  if (confinement === 'off') return { confinement: { sandbox: 'off' } }
  const { read, write, network, environment } = confinement.grants
  const grants = { read, write, network, environment: Object.keys(environment) }
  return { confinement: { sandbox: confinement.sandbox.name, ...grants } }
}

/** Steps that a driven agent does and reports; time-outs count between, across processes. */
export function drivenExecutor(
  journal: RunJournal,
  clock: Pick<Runtime, 'now'>,
  onHandOut?: (call: TaskCall) => void,
): Executor {
  return {
    kind: 'driven',
    async execute({ call }) {
      const handed = journal.handed.get(call.key)
      const handedAt = handed === undefined ? clock.now() : Date.parse(handed)
      const report = journal.reports.get(call.key)
      const until = report ? Date.parse(report.at) : clock.now()
      const workedMs = Math.max(0, until - handedAt)
      const isLate = call.timeoutMs !== 0 && workedMs > call.timeoutMs
      if (!isLate && !report) {
        onHandOut?.(call)
        return { kind: 'pending', handedAt }
      }
      const message = `no report came within ${call.timeoutMs / 1000} s`
      const late = failedOutput('timeout', message)
      const output = isLate || !report ? late : report.output
      return { kind: 'output', output: { ...output, evidence: 'self-reported' }, workedMs }
    },
  }
}

export interface StepContent {
  content: string
  /** The references that its triggers inject for the arguments, rendered; empty for none. */
  references: string
  wishes: AgentWishes
}

export interface AgentExecutorOptions {
  client: AgentCli
  program: string
  workspace: string
  store: Pick<RunStore, 'directory'>
  runtime: Pick<Runtime, 'env' | 'platform'>
  environment: readonly string[]
  outputLimit: number
  /** Reads the skill of a step, whose digest was just compared with the plan's. */
  contentOf(step: PlannedTask, arguments_: readonly string[]): StepContent
}

/** The prompt holds everything that the client needs; its output block is its report. */
export function agentExecutor(options: AgentExecutorOptions): Executor {
  return {
    kind: 'agent',
    async execute(request) {
      const { step, state } = request.call
      const { content, references, wishes } = options.contentOf(step, request.arguments)
      const prompt = agentPrompt({ content, references, step: step.step, state: jsonText(state) })
      const { output, stdout, stderr } = await runAgent({
        client: options.client,
        program: options.program,
        wishes,
        prompt,
        cwd: options.workspace,
        environment: environmentOf(request, options),
        outputLimit: options.outputLimit,
        signal: request.signal,
        onOutput: request.onOutput,
      })
      const log = lastOutput(stdout, stderr)
      return { kind: 'output', output, log, promptDigest: sha256(prompt) }
    },
  }
}

export function environmentOf(
  { call, runId, idempotencyKey }: StepRequest,
  options: AgentExecutorOptions,
): Record<string, string> {
  const { client, runtime } = options
  const { step, attempt } = call
  const facts = { runId, step: step.step, idempotencyKey }
  const own = Object.keys(runtime.env).filter((name) =>
    client.variables.some((beginning) => name.startsWith(beginning)),
  )
  const names = [...own, ...networkVariables, ...options.environment]
  const { scratch } = runFiles(options.store.directory, runId)
  try {
    makePrivateDirectory(dirname(scratch))
    makePrivateDirectory(scratch)
  } catch (error) {
    const reason = reasonOf(error)
    throw cannotPrepare({ call }, `${scratch} cannot be made: ${reason}`)
  }
  return childEnvironment(runtime, names, {
    NO_COLOR: '1',
    TERM: 'dumb',
    ...ownVariables(facts, skillDirectory(options.workspace, step), scratch),
    SKILLRAIL_ATTEMPT: String(attempt),
  })
}
