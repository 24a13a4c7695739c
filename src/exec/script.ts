import { closeSync, lstatSync, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf, readRegularFile, systemCode } from '../base/index.ts'
import { capturedText } from './capture.ts'
import type { Script } from './find-script.ts'
import { failedOutput, type StepOutput } from './model.ts'
import { readOutput } from './output-protocol.ts'
import { type ProcessEnd, runProcess } from './process.ts'

export interface ScriptRequest {
  script: Script
  skillDirectory: string
  /** The working directory: the project. */
  cwd: string
  arguments: readonly string[]
  /** What the script reads on standard input and in the file `SKILLRAIL_STATE`: JSON text. */
  input: string
  runId: string
  step: string
  attempt: number
  /** Run, step and attempt: the same again when the step is repeated after a crash. */
  idempotencyKey: string
  /** A directory of the run that its steps share. */
  scratch: string
  /** Beginning of the paths of this one execution's files, new for each; removed afterwards. */
  files: string
  /** What the script gets of our environment; see `childEnvironment`. */
  environment: Readonly<Record<string, string>>
  /** Bytes kept of each stream. */
  outputLimit: number
  timeoutMs?: number | undefined
  signal?: AbortSignal | undefined
  onOutput?: ((chunk: Buffer, stream: 'stdout' | 'stderr') => void) | undefined
}

export interface ScriptResult {
  end: ProcessEnd
  output: StepOutput
  /** What was printed, shortened in the middle where it was more than the limit. */
  stdout: string
  stderr: string
}

/**
 * Runs a script by the script protocol and reads its output. Whatever goes wrong is a failure in
 * the result; nothing is thrown. Not for untrusted skills: the caller has checked.
 */
export async function runScript(request: ScriptRequest): Promise<ScriptResult> {
  const statePath = `${request.files}.state.json`
  const outputPath = `${request.files}.output`
  let stdin: number
  let wrote = false
  try {
    stdin = openState(statePath, request)
  } catch (error) {
    return notStarted(`its files in ${dirname(statePath)} cannot be written: ${messageOf(error)}`)
  }
  try {
    const result = await runProcess({
      file: request.script.file,
      args: [...request.script.args, ...request.arguments],
      cwd: request.cwd,
      env: { ...request.environment, ...ownVariables(request, statePath, outputPath) },
      stdin,
      timeoutMs: request.timeoutMs,
      outputLimit: request.outputLimit,
      signal: request.signal,
      onOutput: request.onOutput,
    })
    const { end, stdout, stderr } = result
    wrote = fileIsThere(outputPath)
    const file = wrote && end.kind === 'exit' ? readOutputFile(outputPath) : undefined
    const output = typeof file === 'object' ? file.failure : readOutput({ ...result, file })
    return { end, output, stdout: capturedText(stdout), stderr: capturedText(stderr) }
  } finally {
    closeSync(stdin)
    removeFile(statePath)
    if (wrote) removeFile(outputPath)
  }
}

/**
 * The state file, open at its beginning: the same descriptor is the script's standard input. The
 * directories are made by the first step of a run that finds them missing.
 */
function openState(path: string, request: ScriptRequest): number {
  let descriptor: number
  try {
    descriptor = openSync(path, 'w+', 0o600)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
    mkdirSync(request.scratch, { recursive: true, mode: 0o700 })
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    descriptor = openSync(path, 'w+', 0o600)
  }
  try {
    // With a position, because the script reads from where the descriptor stands.
    const bytes = Buffer.from(request.input)
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, undefined, at)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function removeFile(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // A script may remove it, or make a directory of it, which goes with the files of the run.
  }
}

function fileIsThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function ownVariables(
  request: ScriptRequest,
  statePath: string,
  outputPath: string,
): Record<string, string> {
  return {
    SKILLRAIL_SKILL_DIR: request.skillDirectory,
    SKILLRAIL_RUN_ID: request.runId,
    SKILLRAIL_STEP: request.step,
    SKILLRAIL_ATTEMPT: String(request.attempt),
    SKILLRAIL_IDEMPOTENCY_KEY: request.idempotencyKey,
    SKILLRAIL_STATE: statePath,
    SKILLRAIL_SCRATCH: request.scratch,
    SKILLRAIL_OUTPUT: outputPath,
  }
}

const maxOutputFileBytes = 1_048_576

function readOutputFile(path: string): string | undefined | { failure: StepOutput } {
  const reading = readRegularFile(path, { maxBytes: maxOutputFileBytes, followSymlinks: false })
  if (reading.ok) return reading.text
  if (reading.code === 'file-missing') return undefined
  const message = `the file SKILLRAIL_OUTPUT cannot be used: ${reading.message}`
  return { failure: failedOutput('output-malformed', message) }
}

function notStarted(message: string): ScriptResult {
  return {
    end: { kind: 'not-started', message },
    output: failedOutput('not-started', `the script could not be started: ${message}`),
    stdout: '',
    stderr: '',
  }
}
