import { lstatSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, extname, win32 } from 'node:path'
import { makePrivateDirectory } from '../core/write-files.ts'
import { readRegularFile } from '../core/read-files.ts'
import { reasonOf, systemCode } from '../core/errors.ts'
import type { Runtime } from '../core/runtime.ts'
import type { Script } from './find-script.ts'
import { failedOutput, readOutput, type StepOutput } from './output-protocol.ts'
import {
  capturedText,
  type ProcessEnd,
  type ProcessRequest,
  type ProcessResult,
  type RunProcess,
  runProcess,
} from './process.ts'
import { type Confinement, runConfined } from './sandbox/open-sandbox.ts'

export interface ScriptRequest extends Pick<
  ProcessRequest,
  'cwd' | 'outputLimit' | 'timeoutMs' | 'signal' | 'onOutput'
> {
  script: Script
  skillDirectory: string
  arguments: readonly string[]
  /** What the script reads on standard input and in the file `SKILLRAIL_STATE`: JSON text. */
  input: string
  runId: string
  step: string
  attempt: number
  /** Run, step and attempt: the same again when the step is repeated after a crash. */
  idempotencyKey: string
  scratch: string
  /** Beginning of the paths of this one execution's files, new for each; removed afterwards. */
  files: string
  environment: Readonly<Record<string, string>>
  run?: RunProcess | undefined
  /** It is not trusted: it runs in this sandbox and reaches nothing else. */
  confinement?: Confinement | undefined
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
  const { script, skillDirectory, scratch, confinement, environment } = request
  const { timeoutMs, outputLimit, signal, onOutput } = request
  const limits = { timeoutMs, outputLimit, signal, onOutput }
  if (confinement !== undefined) {
    return runConfined(confinement, {
      ...limits,
      script,
      skillDirectory,
      arguments: request.arguments,
      ambient: environment,
      ...files,
      // Through a pipe: a file could be opened again for writing by its descriptor.
      stdin: request.input,
      own: (places) => ownVariables(request, places),
    })
  }
  const places = { skill: skillDirectory, scratch, ...files }
  return (request.run ?? runProcess)({
    ...limits,
    file: script.file,
    args: [...script.args, ...request.arguments],
    cwd: request.cwd,
    env: { ...environment, ...ownVariables(request, places) },
    stdin: { file: files.state },
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

/**
 * The environment of a script: where programs are, who runs it, the locale, and what the
 * configuration names. Everything else, credentials above all, stays here.
 *
 * @param names further variables to pass on, from `run.environment`.
 * @param own what we tell the script, `SKILLRAIL_…`; it takes precedence.
 */
export function childEnvironment(
  runtime: Pick<Runtime, 'env' | 'platform'>,
  names: readonly string[],
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  // A run leaves no caches among the files of a skill, whose digest counts.
  return { ...passedOn(runtime, names), PYTHONDONTWRITEBYTECODE: '1', ...own }
}

/** The variables that every program needs, and `names`; without regard to case on Windows. */
export function passedOn(
  { env, platform }: Pick<Runtime, 'env' | 'platform'>,
  names: readonly string[],
): Record<string, string> {
  const windows = platform === 'win32'
  const keyOf = (name: string): string => (windows ? name.toUpperCase() : name)
  const wanted = new Set([...everywhere, ...(windows ? onWindows : []), ...names].map(keyOf))
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    const key = keyOf(name)
    if (value !== undefined && (wanted.has(key) || key.startsWith('LC_'))) environment[name] = value
  }
  return environment
}

/** A shell that is not told its user looks them up at every start, a twentieth of its CPU. */
const everywhere = 'PATH HOME LOGNAME SHELL USER LANG LANGUAGE TZ TMPDIR'.split(' ')

/** Without these, programs on Windows do not start or do not find their directories. */
const onWindows =
  'SYSTEMROOT WINDIR COMSPEC PATHEXT TEMP TMP USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES SYSTEMDRIVE'.split(
    ' ',
  )

interface ScriptFile {
  path: string
  head: string
  executable: boolean
  platform: NodeJS.Platform
}

/**
 * How to start a script, or undefined when nothing says so. The `#!` line decides, with or without
 * the run bit; one that asks for `node` gets the Node that runs us, so that a script means the same
 * on every machine. Then the extension; then the run bit (a compiled program).
 */
export function interpreterFor(
  script: ScriptFile,
): { file: string; args: readonly string[] } | undefined {
  const { path, head, executable, platform } = script
  const shebang = /^#![ \t]*(\S+)[ \t]*(.*?)[ \t\r]*(?:\n|$)/.exec(head)
  const extension = extname(path).toLowerCase()
  if (shebang !== null) {
    const [, program = '', rest = ''] = shebang
    const words = isEnv(program) ? envWords(rest) : [program, ...(rest === '' ? [] : [rest])]
    const [name = '', ...options] = words
    if (baseName(name) === 'node') return { file: process.execPath, args: [...options, path] }
    if (platform === 'win32') return { file: baseName(name), args: [...options, path] }
    if (executable) return { file: path, args: [] }
    if (name !== '') return { file: name, args: [...options, path] }
  }
  const known = byExtension(extension, platform)
  if (known !== undefined) return { file: known, args: [path] }
  return executable && platform !== 'win32' ? { file: path, args: [] } : undefined
}

function byExtension(extension: string, platform: NodeJS.Platform): string | undefined {
  if (extension === '.sh') return 'sh'
  if (extension === '.py') return platform === 'win32' ? 'python' : 'python3'
  return ['.mjs', '.js', '.ts'].includes(extension) ? process.execPath : undefined
}

function isEnv(program: string): boolean {
  return baseName(program) === 'env'
}

/** `env -S` splits its one argument, as the kernel passes everything after the program in one. */
function envWords(rest: string): string[] {
  const words = rest.split(/[ \t]+/).filter((word) => word !== '')
  return words[0] === '-S' ? words.slice(1) : words
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1)
}

/**
 * What a command file of Windows, as npm and pnpm write them for programs that they install, would
 * start: Node with a script, or a program. Node does not start such a file without a shell (since
 * CVE-2024-27980), and a shell would read the arguments a second time. Undefined for a command file
 * of another form.
 *
 * @param path of the command file, absolute.
 * @param text of it.
 * @param node the Node that takes the place of the one the file would look for.
 */
export function shimTarget(
  path: string,
  text: string,
  node: string,
): { file: string; args: readonly string[] } | undefined {
  const call = text
    .split(/\r?\n/)
    .flatMap((line) => invocation.exec(line)?.[1] ?? [])
    .at(-1)
  if (call === undefined || call.includes('%')) return undefined
  const target = win32.join(win32.dirname(path), call)
  switch (win32.extname(target).toLowerCase()) {
    case '.js':
    case '.mjs':
    case '.cjs':
      return { file: node, args: [target] }
    case '.exe':
      return { file: target, args: [] }
    // Without an extension it is a script, whose first line npm has turned into the call of Node.
    case '':
      return /\bnode(\.exe)?"/i.test(text) ? { file: node, args: [target] } : undefined
    default:
      return undefined
  }
}

/** A path from the file's own directory, in quotation marks, last before all arguments. */
const invocation = /"%(?:~dp0|dp0%)\\?([^"]+)"[ \t]+%\*[ \t]*(?:\)[ \t]*)?$/

export function isCommandFile(path: string): boolean {
  return /\.(cmd|bat)$/i.test(path)
}
