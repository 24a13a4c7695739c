import {
  capturedText,
  failedOutput,
  findScript,
  findVerifyScript,
  runProcess,
  runScript,
  type StepOutput,
} from '../exec/index.ts'
import type { Executor, StepAnswer, StepRequest } from './executor.ts'
import type { PlannedStep } from './plan-model.ts'
import { executionFiles, type RunFiles, skillDirectory } from './step-files.ts'

export interface ScriptWorld {
  workspace: string
  files: RunFiles
  /** What scripts get of our environment. */
  environment: Readonly<Record<string, string>>
  outputLimit: number
  /** Why the skill in a directory may not be executed any more; undefined when it may. */
  refusalOf?: ((directory: string) => string | undefined) | undefined
}

/** Runs the script of a skill by the script protocol, with `chain_state` on standard input. */
export function scriptExecutor(world: ScriptWorld): Executor {
  return {
    kind: 'script',
    async execute(request) {
      const { step, attempt, state, key } = request.call
      const directory = skillDirectory(world.workspace, step)
      const search = findScript(directory, step.script)
      if (search.kind !== 'found') {
        return failed('digest-changed', `the script of ${step.skill} is gone`)
      }
      const { output, stdout, stderr } = await runScript({
        script: search.script,
        skillDirectory: directory,
        cwd: world.workspace,
        arguments: request.arguments,
        input: JSON.stringify({ chain_state: state }),
        runId: request.runId,
        step: step.step,
        attempt,
        idempotencyKey: request.idempotencyKey,
        scratch: world.files.scratch,
        files: executionFiles(world.files, key),
        environment: world.environment,
        outputLimit: world.outputLimit,
        signal: request.signal,
        onOutput: request.onOutput,
      })
      return { kind: 'output', output, log: lastOutput(stdout, stderr) }
    },
  }
}

export interface Verification {
  output: StepOutput
  log: string
}

/**
 * Runs `scripts/verify` of a skill with the step's output on standard input. Not 0 turns a success
 * into a failure `verification-failed`; 0 makes us vouch for it.
 */
export async function verifyStep(
  step: PlannedStep,
  output: StepOutput,
  world: ScriptWorld,
  request: Pick<StepRequest, 'runId' | 'idempotencyKey' | 'signal'>,
): Promise<Verification> {
  const directory = skillDirectory(world.workspace, step)
  const search = findVerifyScript(directory)
  if (search.kind !== 'found') {
    return { output: unverified(output, 'its scripts/verify is gone'), log: '' }
  }
  const result = await runProcess({
    file: search.script.file,
    args: search.script.args,
    cwd: world.workspace,
    env: verifyEnvironment(directory, step, world, request),
    stdin: JSON.stringify({ output }),
    outputLimit: world.outputLimit,
    signal: request.signal,
  })
  const log = lastOutput(capturedText(result.stdout), capturedText(result.stderr))
  const { end } = result
  if (end.kind === 'exit' && end.code === 0)
    return { output: { ...output, evidence: 'verified' }, log }
  const reason =
    end.kind === 'exit'
      ? `scripts/verify ended with exit code ${end.code}`
      : end.kind === 'not-started'
        ? `scripts/verify could not be started: ${end.message}`
        : 'scripts/verify did not end by itself'
  return { output: unverified(output, reason), log }
}

/** Characters of what a step printed that go into the journal. */
const maxLogCharacters = 16_384

/** The end of both streams, for the report. */
export function lastOutput(stdout: string, stderr: string): string {
  const half = maxLogCharacters / 2
  return [stdout, stderr]
    .map((text) => text.trimEnd())
    .filter((text) => text !== '')
    .map((text) => (text.length > half ? `…${text.slice(-half)}` : text))
    .join('\n')
}

function verifyEnvironment(
  directory: string,
  step: PlannedStep,
  world: ScriptWorld,
  request: Pick<StepRequest, 'runId' | 'idempotencyKey'>,
): Record<string, string> {
  return {
    ...world.environment,
    SKILLRAIL_SKILL_DIR: directory,
    SKILLRAIL_RUN_ID: request.runId,
    SKILLRAIL_STEP: step.step,
    SKILLRAIL_IDEMPOTENCY_KEY: `${request.idempotencyKey}/verify`,
    SKILLRAIL_SCRATCH: world.files.scratch,
  }
}

function unverified(output: StepOutput, message: string): StepOutput {
  return {
    ...output,
    status: 'failure',
    errors: [...output.errors, { code: 'verification-failed', message }],
  }
}

function failed(code: string, message: string): StepAnswer {
  return { kind: 'output', output: failedOutput(code, message) }
}
