import { dirname, join, resolve } from 'node:path'
import { sha256 } from '../core/json.ts'
import { capturedText, type ProcessResult, runProcess } from '../exec/process.ts'
import { type Confinement, runConfined } from '../exec/sandbox/open-sandbox.ts'
import { failedOutput, type StepOutput } from '../exec/output-protocol.ts'
import { findScript, findVerifyScript, type Script } from '../exec/find-script.ts'
import { runScript } from '../exec/script.ts'
import { verificationKey } from '../exec/process-group.ts'
import { RunFilesError } from './errors.ts'
import type { Executor, StepRequest } from './engine.ts'
import type { ConfinementRecord } from './journal-records.ts'
import type { PlannedStep } from './plan-model.ts'

export interface ScriptSetup {
  workspace: string
  files: RunFiles
  environment: Readonly<Record<string, string>>
  outputLimit: number
  confinement?: RunConfinement | undefined
  /** Whether later steps find the files of this one; default true. */
  sharesFiles?: boolean | undefined
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
      if (confinement === 'missing') return { kind: 'output', output: noSandbox(step) }
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
        files: join(setup.files.steps, `${sha256(key).slice(7, 23)}-${process.pid}`),
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
export function cannotPrepare({ call }: Pick<StepRequest, 'call'>, reason: string): RunFilesError {
  return new RunFilesError({
    code: 'run-files-unwritable',
    message: `the step ${call.step.step} could not be started: ${reason}`,
    hint: 'Fix that; recorded results are not lost.',
  })
}

interface Verification {
  output: StepOutput
  log: string
  ended: boolean
  sandbox?: string | undefined
}

/**
 * Runs `scripts/verify` of a skill with the step's output on stdin. A code other than 0 turns a
 * success into a failure `verification-failed`.
 */
export async function verifyStep(
  step: PlannedStep,
  output: StepOutput,
  setup: ScriptSetup,
  request: Pick<StepRequest, 'runId' | 'idempotencyKey' | 'signal'>,
): Promise<Verification> {
  const directory = skillDirectory(setup.workspace, step)
  const search = findVerifyScript(directory)
  if (search.kind !== 'found') {
    return { output: unverified(output, 'its scripts/verify is gone'), log: '', ended: false }
  }
  const confinement = confinementOf(step, setup)
  if (confinement === 'missing') return { output: noSandbox(step), log: '', ended: false }
  const result = await startVerification(search.script, confinement, step, output, setup, request)
  const log = lastOutput(capturedText(result.stdout), capturedText(result.stderr))
  const { end } = result
  const sandbox = confinement?.sandbox.name
  if (end.kind === 'exit' && end.code === 0)
    return { output: { ...output, evidence: 'verified' }, log, ended: false, sandbox }
  const reason =
    end.kind === 'exit'
      ? `scripts/verify ended with exit code ${end.code}`
      : end.kind === 'not-started'
        ? `scripts/verify could not be started: ${end.message}`
        : end.kind === 'limit'
          ? `scripts/verify was stopped because ${end.message}`
          : 'scripts/verify did not end by itself'
  return { output: unverified(output, reason), log, ended: end.kind === 'aborted', sandbox }
}

/** Characters of what a step printed that go into the journal. */
const maxLogCharacters = 4096

/** The end of both streams, for the report. */
export function lastOutput(stdout: string, stderr: string): string {
  const half = maxLogCharacters / 2
  return [stdout, stderr]
    .map((text) => text.trimEnd())
    .filter((text) => text !== '')
    .map((text) => (text.length > half ? `…${text.slice(-half)}` : text))
    .join('\n')
}

function startVerification(
  script: Script,
  confinement: Confinement | undefined,
  step: PlannedStep,
  output: StepOutput,
  { workspace, environment, outputLimit, files }: ScriptSetup,
  { runId, idempotencyKey, signal }: Pick<StepRequest, 'runId' | 'idempotencyKey' | 'signal'>,
): Promise<ProcessResult> {
  const directory = skillDirectory(workspace, step)
  const shared = { stdin: JSON.stringify({ output }), outputLimit, signal }
  const variables = (skill: string, scratch: string): Record<string, string> => ({
    SKILLRAIL_SKILL_DIR: skill,
    SKILLRAIL_RUN_ID: runId,
    SKILLRAIL_STEP: step.step,
    SKILLRAIL_IDEMPOTENCY_KEY: verificationKey(idempotencyKey),
    SKILLRAIL_SCRATCH: scratch,
  })
  if (confinement !== undefined) {
    return runConfined(confinement, {
      ...shared,
      script,
      skillDirectory: directory,
      arguments: [],
      ambient: environment,
      own: ({ skill, scratch }) => variables(skill, scratch),
    })
  }
  const env = { ...environment, ...variables(directory, files.scratch) }
  return runProcess({ ...shared, file: script.file, args: script.args, cwd: workspace, env })
}

function confinementOf(step: PlannedStep, setup: ScriptSetup): Confinement | undefined | 'missing' {
  if (step.sandboxed !== true || setup.confinement === 'off') return undefined
  return setup.confinement ?? 'missing'
}

function noSandbox(step: PlannedStep): StepOutput {
  const message = `the scripts of ${step.skill} run only in a sandbox, and there is none here`
  return failedOutput('sandbox-missing', message)
}

function unverified(output: StepOutput, message: string): StepOutput {
  return {
    ...output,
    status: 'failure',
    errors: [...output.errors, { code: 'verification-failed', message }],
  }
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

export function recordOf(confinement: RunConfinement | undefined): {
  confinement?: ConfinementRecord
} {
  if (confinement === undefined) return {}
  if (confinement === 'off') return { confinement: { sandbox: 'off' } }
  const { read, write, network, environment } = confinement.grants
  const grants = { read, write, network, environment: Object.keys(environment) }
  return { confinement: { sandbox: confinement.sandbox.name, ...grants } }
}
