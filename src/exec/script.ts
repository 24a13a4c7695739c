import { lstatSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivateDirectory, readRegularFile, reasonOf, systemCode } from '../base/index.ts'
import { capturedText } from './capture.ts'
import type { Script } from './find-script.ts'
import { failedOutput, type StepOutput } from './model.ts'
import { readOutput } from './output-protocol.ts'
import { type ProcessEnd, type ProcessResult, type RunProcess, runProcess } from './process.ts'
import { type Confinement, runConfined } from './sandbox/run-confined.ts'

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
  /** What starts it; default: `runProcess`. */
  run?: RunProcess | undefined
  /** It is not trusted: it runs in this sandbox and reaches nothing else. */
  confinement?: Confinement | undefined
  onOutput?: ((chunk: Buffer, stream: 'stdout' | 'stderr') => void) | undefined
}

export interface ScriptResult {
  /** Why the files that it is given could not be written; then it was not started. */
  unwritable?: string | undefined
  end: ProcessEnd
  output: StepOutput
  /** What was printed, shortened in the middle where it was more than the limit. */
  stdout: string
  stderr: string
}

/**
 * Runs a script by the script protocol and reads its output. Whatever goes wrong is a failure in
 * the result; nothing is thrown. Without a confinement not for untrusted skills: the caller has
 * checked.
 */
export async function runScript(request: ScriptRequest): Promise<ScriptResult> {
  const statePath = `${request.files}.state.json`
  const outputPath = `${request.files}.output`
  let wrote = false
  try {
    writeState(statePath, request)
    // Inside, only a file that is there can be put in place.
    if (request.confinement !== undefined) writeFileSync(outputPath, '', { mode: 0o600 })
  } catch (error) {
    return notPrepared(`its files in ${dirname(statePath)} cannot be written: ${reasonOf(error)}`)
  }
  try {
    const result = await start(request, { state: statePath, output: outputPath })
    const { end, stdout, stderr } = result
    wrote = fileIsThere(outputPath)
    const file = wrote && end.kind === 'exit' ? readOutputFile(outputPath) : undefined
    const output = typeof file === 'object' ? file.failure : readOutput({ ...result, file })
    return { end, output, stdout: capturedText(stdout), stderr: capturedText(stderr) }
  } finally {
    removeFile(statePath)
    if (wrote) removeFile(outputPath)
  }
}

interface ScriptFiles {
  state: string
  output: string
}

function start(request: ScriptRequest, files: ScriptFiles): Promise<ProcessResult> {
  const { script, timeoutMs, outputLimit, signal, onOutput, confinement } = request
  if (confinement !== undefined) return startConfined(request, confinement, files)
  const { skillDirectory, scratch } = request
  const places = { skill: skillDirectory, scratch, ...files }
  return (request.run ?? runProcess)({
    file: script.file,
    args: [...script.args, ...request.arguments],
    cwd: request.cwd,
    env: { ...request.environment, ...ownVariables(request, places) },
    stdin: { file: files.state },
    timeoutMs,
    outputLimit,
    signal,
    onOutput,
  })
}

/** Its input comes through a pipe: a file could be opened again for writing by its descriptor. */
async function startConfined(
  request: ScriptRequest,
  confinement: Confinement,
  files: ScriptFiles,
): Promise<ProcessResult> {
  const { script, skillDirectory, timeoutMs, outputLimit, signal, onOutput } = request
  return await runConfined(confinement, {
    script,
    skillDirectory,
    timeoutMs,
    outputLimit,
    signal,
    onOutput,
    arguments: request.arguments,
    ambient: request.environment,
    ...files,
    stdin: request.input,
    own: (places) => ownVariables(request, places),
  })
}

/**
 * The state file, which is the script's standard input too. The directories are made by the first
 * step of a run that finds them missing.
 */
function writeState(path: string, request: ScriptRequest): void {
  try {
    writeFileSync(path, request.input, { mode: 0o600 })
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
    makePrivateDirectory(request.scratch)
    makePrivateDirectory(dirname(path))
    writeFileSync(path, request.input, { mode: 0o600 })
  }
}

function removeFile(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // A script may remove it, or make a directory of it, which goes with the files of the run.
  }
}

/** A script may put a file in the place of the directory, too: then nothing is there. */
function fileIsThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

function ownVariables(
  request: ScriptRequest,
  places: ScriptFiles & { skill: string; scratch: string },
): Record<string, string> {
  return {
    SKILLRAIL_SKILL_DIR: places.skill,
    SKILLRAIL_RUN_ID: request.runId,
    SKILLRAIL_STEP: request.step,
    SKILLRAIL_ATTEMPT: String(request.attempt),
    SKILLRAIL_IDEMPOTENCY_KEY: request.idempotencyKey,
    SKILLRAIL_STATE: places.state,
    SKILLRAIL_SCRATCH: places.scratch,
    SKILLRAIL_OUTPUT: places.output,
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

function notPrepared(message: string): ScriptResult {
  return {
    unwritable: message,
    end: { kind: 'not-started', message },
    output: failedOutput('not-started', `the script could not be started: ${message}`),
    stdout: '',
    stderr: '',
  }
}
