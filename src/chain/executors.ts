import { dirname, join, resolve } from 'node:path'
import { reasonOf } from '#core/errors'
import { hexDigest, sha256 } from '#core/json'
import { type Runtime, timeBetween } from '#core/runtime'
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
import { capturedText, childEnvironment, type ProcessEnd } from '#exec/process'
import type { Confinement } from '#exec/sandbox/open-sandbox'
import { stepVariables, runScript, startScript } from '#exec/script'
import { runShellCommand } from '#exec/shell-command'
import type { Executor, StepRequest, TaskCall } from './engine.ts'
import { RunFilesError } from './errors.ts'
import type { RunJournal, RunRecord } from './run-journal.ts'
import type { PlannedStep, PlannedTask } from './plan-model.ts'
import type { RunStore } from './run-store.ts'

/** How the scripts of a run are executed. */
export interface ScriptSetup {
  /** The working directory of scripts. */
  workspace: string
  files: RunFiles
  environment: Readonly<Record<string, string>>
  /** The most bytes of stdout, and of stderr, in memory. */
  outputLimit: number
  confinement: RunConfinement | undefined
}

/** Why a skill must not be executed. */
export interface Refusal {
  message: string
  hint?: string | undefined
}

/** Where untrusted scripts run. `off`: the user allowed them to run without a sandbox. */
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

/** The script did not start: a full disk is not a failure of the step. */
function cannotPrepare({ call }: Pick<StepRequest, 'call'>, reason: string): RunFilesError {
  return new RunFilesError(
    'run-files-unwritable',
    `the step ${call.step.step} could not be started: ${reason}`,
    'Fix that; recorded results are not lost.',
  )
}

export interface Confirmation {
  /** With the evidence `verified`, or a failure. */
  output: StepOutput
  log: string
  /** The check was stopped before it finished. */
  wasStopped: boolean
  sandbox?: string | undefined
}

type ConfirmationRequest = Pick<StepRequest, 'runId' | 'idempotencyKey' | 'signal'>

export function hasCheck({ check, verify }: Pick<PlannedStep, 'check' | 'verify'>): boolean {
  return check !== undefined || verify !== undefined
}

/** Confirms a success: runs the `check` of the step, then `scripts/verify` of its skill. */
export async function confirmStep(
  step: PlannedStep,
  output: StepOutput,
  setup: ScriptSetup,
  request: ConfirmationRequest,
): Promise<Confirmation> {
  const confirmation =
    step.check === undefined ? undefined : await checkStep(step.check, output, setup, request)
  if (step.verify === undefined || confirmation?.output.status === 'failure') {
    return confirmation ?? { output, log: '', wasStopped: false }
  }
  const verification = await verifyStep(step, output, setup, request)
  return { ...verification, log: lastOutput(confirmation?.log ?? '', verification.log) }
}

/** Runs the command of `check` in the project's root. An exit code other than 0 is `check-failed`. */
async function checkStep(
  command: string,
  output: StepOutput,
  setup: ScriptSetup,
  { runId, idempotencyKey, signal }: ConfirmationRequest,
): Promise<Confirmation> {
  const { end, stdout, stderr } = await runShellCommand({
    command,
    platform: process.platform,
    cwd: setup.workspace,
    env: {
      ...setup.environment,
      SKILLRAIL_RUN_ID: runId,
      SKILLRAIL_IDEMPOTENCY_KEY: verificationKey(idempotencyKey),
    },
    outputLimit: setup.outputLimit,
    signal,
  })
  const log = lastOutput(capturedText(stdout), capturedText(stderr))
  if (end.kind === 'exit' && end.code === 0) {
    return { output: { ...output, evidence: 'verified' }, log, wasStopped: false }
  }
  const error = { code: 'check-failed', message: `the check \`${command}\` ${endWords(end)}` }
  const failureOutput: StepOutput = {
    ...output,
    status: 'failure',
    errors: [...output.errors, error],
  }
  return { output: failureOutput, log, wasStopped: end.kind === 'aborted' }
}

function endWords(end: ProcessEnd): string {
  if (end.kind === 'exit') return `ended with exit code ${end.code}`
  return `ended with ${end.kind}${'message' in end ? `: ${end.message}` : ''}`
}

/** Runs `scripts/verify` with the output on stdin. An exit code other than 0 is `verification-failed`. */
async function verifyStep(
  step: PlannedStep,
  output: StepOutput,
  setup: ScriptSetup,
  { runId, idempotencyKey, signal }: ConfirmationRequest,
): Promise<Confirmation> {
  const directory = skillDirectory(setup.workspace, step)
  const search = findVerifyScript(directory)
  if (search.kind !== 'found') {
    return {
      output: failVerification(output, 'its scripts/verify is gone'),
      log: '',
      wasStopped: false,
    }
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
    return { output: { ...output, evidence: 'verified' }, log, wasStopped: false, sandbox }
  }
  const failureOutput = failVerification(output, `scripts/verify ${endWords(end)}`)
  return { output: failureOutput, log, wasStopped: end.kind === 'aborted', sandbox }
}

/** The most characters of printed output in the journal, for one step. */
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

function failVerification(output: StepOutput, message: string): StepOutput {
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

/** Hands steps out to an agent that reports them. Their time limits count across processes. */
export function drivenExecutor(
  journal: RunJournal,
  clock: Pick<Runtime, 'now'>,
  onHandOut?: (call: TaskCall) => void,
): Executor {
  return {
    kind: 'driven',
    async execute({ call }) {
      const recordedAt = journal.handed.get(call.key)
      const handedAt = recordedAt === undefined ? clock.now() : Date.parse(recordedAt)
      const report = journal.reports.get(call.key)
      const until = report ? Date.parse(report.at) : clock.now()
      const workedMs = timeBetween(handedAt, until) ?? null
      const isLate = call.timeoutMs !== 0 && (workedMs ?? 0) > call.timeoutMs
      if (!isLate && !report) {
        onHandOut?.(call)
        return { kind: 'pending', handedAt }
      }
      const message = `no report came within ${call.timeoutMs / 1000} s`
      const late = failedOutput('timeout', message)
      if (report?.isConfirmed && !isLate) {
        return { kind: 'output', output: report.output, workedMs, isConfirmed: true }
      }
      const output = isLate || !report ? late : report.output
      return { kind: 'output', output: { ...output, evidence: 'self-reported' }, workedMs }
    },
  }
}

export interface StepContent {
  content: string
  /** The rendered references that its triggers inject for the arguments; empty if there are none. */
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
  /** Reads the skill of a step, right after its digest was compared with the plan's. */
  contentOf(step: PlannedTask, arguments_: readonly string[]): StepContent
}

/**
 * Executes steps in an agent client. The prompt contains everything that the client needs, and the client
 * reports in an output block.
 */
export function agentExecutor(options: AgentExecutorOptions): Executor {
  return {
    kind: 'agent',
    async execute(request) {
      const { step, state } = request.call
      const { content, references, wishes } = options.contentOf(step, request.arguments)
      const { feedback } = state
      const facts = { step: step.step, state: jsonText(state), feedback }
      const prompt = agentPrompt({ content, references, ...facts })
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
  const clientVariables = Object.keys(runtime.env).filter((name) =>
    client.variables.some((beginning) => name.startsWith(beginning)),
  )
  const names = [...clientVariables, ...networkVariables, ...options.environment]
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
    ...stepVariables(facts, skillDirectory(options.workspace, step), scratch),
    SKILLRAIL_ATTEMPT: String(attempt),
  })
}
