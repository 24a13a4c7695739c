import { lstatSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { makePrivateDirectory } from '#core/write-files'
import { isInside, readRegularFile, realPathOf } from '#core/read-files'
import { reasonOf, systemCode } from '#core/errors'
import type { Script } from './find-script.ts'
import { failedOutput, readOutput, type StepOutput } from './output-protocol.ts'
import {
  capturedText,
  type ProcessEnd,
  type ProcessRequest,
  type ProcessResult,
  runProcess,
} from './process.ts'
import { tried } from './process-group.ts'
import { type Confinement, runConfined } from './sandbox/open-sandbox.ts'

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
  /** Run, step and attempt: the same again when the step is repeated after a crash. */
  idempotencyKey: string
  scratch: string
  environment: Readonly<Record<string, string>>
  confinement?: Confinement | undefined
}

interface ScriptRequest extends ScriptStart {
  attempt: number
  /** Beginning of the paths of this one execution's files, new for each; removed afterwards. */
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
    // A script may put a file in the place of the directory, too: then nothing is there.
    wrote = tried(false, () => lstatSync(outputPath, { throwIfNoEntry: false }) !== undefined)
    const file = wrote && end.kind === 'exit' ? readOutputFile(outputPath) : undefined
    const read = typeof file === 'object' ? file.failure : readOutput({ ...result, file })
    const output = withArtifacts(read, request)
    return { end, output, stdout: capturedText(stdout), stderr: capturedText(stderr) }
  } finally {
    // A script may remove them, or make directories of them, which go with the files of the run.
    tried(undefined, () => unlinkSync(statePath))
    if (wrote) tried(undefined, () => unlinkSync(outputPath))
  }
}

interface ScriptProtocol {
  attempt: number
  state: string
  output: string
}

/** Without the protocol the script gets its input alone, and nothing reads an output of it. */
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
      // Through a pipe: a file could be opened again for writing by its descriptor.
      stdin: request.input,
      own: ({ skill, scratch, ...inside }) => ({
        ...ownVariables(request, skill, scratch),
        ...(protocol && protocolVariables({ ...protocol, ...inside })),
      }),
    })
  }
  return runProcess({
    ...limits,
    file: script.file,
    args: [...script.args, ...request.arguments],
    cwd: request.cwd,
    env: {
      ...environment,
      ...ownVariables(request, skillDirectory, scratch),
      ...(protocol && protocolVariables(protocol)),
    },
    stdin: protocol ? { file: protocol.state } : request.input,
  })
}

/** Writes the state file, the script's stdin; the first step makes the directories. */
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

/** What every program of a step is told, by the paths that hold where it runs. */
export function ownVariables(
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

/** A result has a limit of its own, and JSON may take six bytes for each of its characters. */
const maxOutputFileBytes = 8_388_608

/** The output, or a failure where it names a file that later steps cannot read. */
function withArtifacts(output: StepOutput, { scratch, confinement }: ScriptRequest): StepOutput {
  const root = confinement ? undefined : realPathOf(scratch)
  const lost = output.artifacts?.find((path) => {
    const real = realPathOf(resolve(scratch, path))
    return root === undefined || real === undefined || !isInside(root, real)
  })
  if (lost === undefined) return output
  const why = confinement ? 'is in a sandbox' : 'is not a file in SKILLRAIL_SCRATCH'
  const message = `the artifact ${lost} ${why}, so no later step can read it`
  return failedOutput('artifact-unusable', message)
}

function readOutputFile(path: string): string | undefined | { failure: StepOutput } {
  const reading = readRegularFile(path, { maxBytes: maxOutputFileBytes, followSymlinks: false })
  if (reading.ok) return reading.text
  if (reading.code === 'file-missing') return undefined
  const message = `the file SKILLRAIL_OUTPUT cannot be used: ${reading.message}`
  return { failure: failedOutput('output-malformed', message) }
}
