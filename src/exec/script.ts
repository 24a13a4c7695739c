import { lstatSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { makePrivateDirectory } from '#core/write-files'
import { isInside, readRegularFile, realPathOf } from '#core/read-files'
import { reasonOf, systemCode } from '#core/errors'
import { findProgram } from '#core/find-program'
import type { Script } from './find-script.ts'
import { failedOutput, readOutput, type StepOutput } from './output-protocol.ts'
import {
  capturedText,
  type ProcessEnd,
  type ProcessRequest,
  type ProcessResult,
  runProcess,
} from './process.ts'
import { resultOr } from './process-group.ts'
import { type Confinement, runConfined } from './sandbox/open-sandbox.ts'
import { notStarted } from './sandbox/sandbox.ts'

interface ScriptStart extends Pick<
  ProcessRequest,
  'cwd' | 'outputLimit' | 'timeoutMs' | 'signal' | 'onOutput'
> {
  script: Script
  skillDirectory: string
  arguments: readonly string[]
  input: string
  runId: string
  step: string
  /** Run, step and attempt: a repetition of the step after a crash has the same key. */
  idempotencyKey: string
  scratch: string
  environment: Readonly<Record<string, string>>
  confinement?: Confinement | undefined
}

interface ScriptRequest extends ScriptStart {
  attempt: number
  /** The path prefix of the execution's files, unique to it; they are removed afterwards. */
  files: string
}

export interface ScriptResult {
  unwritable?: string | undefined
  end: ProcessEnd
  output: StepOutput
  stdout: string
  stderr: string
}

/**
 * Runs a script by the script protocol and reads its output. Every problem is a failure in the result;
 * nothing is thrown. The caller ensures that untrusted skills have a confinement.
 */
export async function runScript(request: ScriptRequest): Promise<ScriptResult> {
  const statePath = `${request.files}.state.json`
  const outputPath = `${request.files}.output`
  let hasOutput = false
  try {
    writeState(statePath, request)
    // The sandbox can only mount a file that exists.
    if (request.confinement) writeFileSync(outputPath, '', { mode: 0o600 })
  } catch (error) {
    const message = `its files in ${dirname(statePath)} cannot be written: ${reasonOf(error)}`
    const output = failedOutput('not-started', `the script could not be started: ${message}`)
    const end = { kind: 'not-started', message } as const
    return { unwritable: message, end, output, stdout: '', stderr: '' }
  }
  try {
    const result = await startScript(request, {
      attempt: request.attempt,
      state: statePath,
      output: outputPath,
    })
    const { end, stdout, stderr } = result
    // A script may also replace the directory with a file: then there is no output file.
    hasOutput = resultOr(
      false,
      () => lstatSync(outputPath, { throwIfNoEntry: false }) !== undefined,
    )
    const file = hasOutput && end.kind === 'exit' ? readOutputFile(outputPath) : undefined
    const report = typeof file === 'object' ? file.failure : readOutput({ ...result, file })
    const output = withArtifacts(report, request)
    return { end, output, stdout: capturedText(stdout), stderr: capturedText(stderr) }
  } finally {
    // A script may remove the files or replace them with directories, which the run removes later.
    resultOr(undefined, () => unlinkSync(statePath))
    if (hasOutput) resultOr(undefined, () => unlinkSync(outputPath))
  }
}

interface ScriptProtocol {
  attempt: number
  state: string
  output: string
}

/** Without `protocol` the script gets only its input, and no output file is read. */
export function startScript(
  request: ScriptStart,
  protocol?: ScriptProtocol,
): Promise<ProcessResult> {
  const { script, skillDirectory, scratch, confinement, environment } = request
  const { timeoutMs, outputLimit, signal, onOutput } = request
  const limits = { timeoutMs, outputLimit, signal, onOutput }
  if (confinement) {
    return runConfined(confinement, {
      ...limits,
      script,
      skillDirectory,
      arguments: request.arguments,
      ambient: environment,
      ...(protocol && { state: protocol.state, output: protocol.output }),
      // The input goes through a pipe: a script could open a file again for writing by its descriptor.
      stdin: request.input,
      variables: ({ skill, scratch, ...innerPlaces }) => ({
        ...stepVariables(request, skill, scratch),
        ...(protocol && protocolVariables({ ...protocol, ...innerPlaces })),
      }),
    })
  }
  const startCommand = resolveInterpreter([script.file, ...script.args], environment, request.cwd)
  if (!startCommand.ok) return Promise.resolve(notStarted(startCommand.message))
  return runProcess({
    ...limits,
    file: startCommand.file,
    args: [...startCommand.args, ...request.arguments],
    cwd: request.cwd,
    env: {
      ...environment,
      ...stepVariables(request, skillDirectory, scratch),
      ...(protocol && protocolVariables(protocol)),
    },
    stdin: protocol ? { file: protocol.state } : request.input,
  })
}

type Start = { ok: true; file: string; args: readonly string[] } | { ok: false; message: string }

/**
 * Replaces an interpreter's name by its path, so that neither the project nor another account chooses the
 * interpreter. The script itself uses the search path as usual.
 */
function resolveInterpreter(
  words: readonly string[],
  env: ScriptStart['environment'],
  cwd: string,
): Start {
  const [first = ''] = words
  // The program is the first word after the options and variables of `env`.
  const isEnv = /(?:^|\/)env$/.test(first)
  const place = isEnv ? words.findIndex((word, at) => at > 0 && !/^-|=/.test(word)) : 0
  const name = words[place] ?? first
  const [file = '', ...args] = name.includes('/') ? words : words.with(place, pathOf(name) ?? '')
  const isMissing = !name.includes('/') && pathOf(name) === undefined
  if (!isMissing) return { ok: true, file, args }
  const explanation = 'the project and folders that another account can write do not count'
  return { ok: false, message: `there is no program ${name} on the search path; ${explanation}` }

  function pathOf(program: string): string | undefined {
    return findProgram(program, { env, cwd, platform: process.platform })
  }
}

/** Writes the state file, which is the script's stdin; the first step creates the directories. */
function writeState(path: string, { input, scratch }: ScriptRequest): void {
  const write = (): void => writeFileSync(path, input, { mode: 0o600 })
  try {
    write()
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
    makePrivateDirectory(scratch)
    makePrivateDirectory(dirname(path))
    write()
  }
}

/** Returns the variables for every program of a step; the paths are those that the program sees. */
export function stepVariables(
  { runId, step, idempotencyKey }: Pick<ScriptStart, 'runId' | 'step' | 'idempotencyKey'>,
  skill: string,
  scratch: string,
): Record<string, string> {
  return {
    SKILLRAIL_SKILL_DIR: skill,
    SKILLRAIL_RUN_ID: runId,
    SKILLRAIL_STEP: step,
    SKILLRAIL_IDEMPOTENCY_KEY: idempotencyKey,
    SKILLRAIL_SCRATCH: scratch,
  }
}

function protocolVariables({ attempt, state, output }: ScriptProtocol): Record<string, string> {
  return {
    SKILLRAIL_ATTEMPT: String(attempt),
    SKILLRAIL_STATE: state,
    SKILLRAIL_OUTPUT: output,
  }
}

/** A result has a lower limit, but JSON may need six bytes for each of its characters. */
const maxOutputFileBytes = 8_388_608

/** Returns the output, or a failure if it names a file that later steps cannot read. */
function withArtifacts(output: StepOutput, { scratch, confinement }: ScriptRequest): StepOutput {
  const root = confinement ? undefined : realPathOf(scratch)
  const unusable = output.artifacts?.find((path) => {
    const realPath = realPathOf(resolve(scratch, path))
    return root === undefined || realPath === undefined || !isInside(root, realPath)
  })
  if (unusable === undefined) return output
  const reason = confinement ? 'is in a sandbox' : 'is not a file in SKILLRAIL_SCRATCH'
  const message = `the artifact ${unusable} ${reason}, so no later step can read it`
  return failedOutput('artifact-unusable', message)
}

function readOutputFile(path: string): string | undefined | { failure: StepOutput } {
  const reading = readRegularFile(path, { maxBytes: maxOutputFileBytes, followSymlinks: false })
  if (reading.ok) return reading.text
  if (reading.code === 'file-missing') return undefined
  const message = `the file SKILLRAIL_OUTPUT cannot be used: ${reading.message}`
  return { failure: failedOutput('output-malformed', message) }
}
