import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { messageOf, systemReason } from '#core/errors'
import { bytesOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { endEscaped, endGroup, endWithUs, resultOr } from './process-group.ts'

export interface ProcessRequest {
  file: string
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  stdin?: string | { file: string } | undefined
  timeoutMs?: number | undefined
  outputLimit: number
  signal?: AbortSignal | undefined
  onOutput?: ((chunk: Buffer, stream: 'stdout' | 'stderr') => void) | undefined
  descriptors?: ReadonlyMap<number, ChildDescriptor> | undefined
}

/** Bytes to read, a listener for everything written so far, or an empty file. */
export type ChildDescriptor = { content: Uint8Array } | { onText(text: string): void } | 'nothing'

export type ProcessEnd =
  | { kind: 'exit'; code: number }
  | { kind: 'signal'; signal: NodeJS.Signals }
  | { kind: 'timeout' }
  | { kind: 'aborted' }
  /** Skillrail ended it, because it exceeded a limit; the message continues after "because". */
  | { kind: 'limit'; message: string }
  | { kind: 'not-started'; message: string }

export interface ProcessResult {
  end: ProcessEnd
  stdout: CapturedOutput
  stderr: CapturedOutput
}

/**
 * Runs a program in a new process group and resolves when it has ended; it never rejects. A time-out or
 * an abort ends the whole group: TERM, then KILL after 2 s. On Linux it also ends processes that left
 * the group, by their idempotency key. Background processes may keep the pipes open, so these are closed
 * 250 ms after the program ended.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessResult> {
  const stdout = createCapture(request.outputLimit)
  const stderr = createCapture(request.outputLimit)
  const end = await run(request, stdout, stderr)
  return { end, stdout: stdout.finish(), stderr: stderr.finish() }
}

type Capture = ReturnType<typeof createCapture>

async function run(request: ProcessRequest, stdout: Capture, stderr: Capture): Promise<ProcessEnd> {
  if (request.signal?.aborted) return { kind: 'aborted' }
  let child: ChildProcess
  try {
    child = start(request)
  } catch (error) {
    return startFailure(request, messageOf(error))
  }
  if (request.descriptors) serve(child, request.descriptors)
  for (const name of ['stdout', 'stderr'] as const) {
    const capture = name === 'stdout' ? stdout : stderr
    child[name]?.on('data', (chunk: Buffer) => {
      capture.add(chunk)
      request.onOutput?.(chunk, name)
    })
    // A broken pipe counts as closed; the output so far is kept.
    child[name]?.on('error', () => undefined)
  }
  // The program may end without reading its input.
  child.stdin?.on('error', () => undefined)
  if (typeof request.stdin === 'string') child.stdin?.end(request.stdin)
  return await endOf(child, request)
}

function start({ file, args, cwd, env, ...request }: ProcessRequest): ChildProcess {
  const openDescriptors: number[] = []
  const open = (path: string) => {
    const descriptor = openSync(path, 'r')
    openDescriptors.push(descriptor)
    return descriptor
  }
  try {
    const { stdin: input, descriptors = new Map<number, ChildDescriptor>() } = request
    const stdin =
      typeof input === 'object' ? open(input.file) : input === undefined ? 'ignore' : 'pipe'
    // For other numbers `ignore` changes nothing about the descriptors that the child inherits.
    const stdio = Array.from({ length: Math.max(2, ...descriptors.keys()) + 1 }, (_, number) => {
      const descriptor = descriptors.get(number)
      if (descriptor === 'nothing') return open('/dev/null')
      return number > 2 && !descriptor ? 'ignore' : 'pipe'
    })
    const detached = process.platform !== 'win32'
    stdio[0] = stdin
    return spawn(file, [...args], { cwd, env, stdio, detached, windowsHide: true })
  } finally {
    for (const descriptor of openDescriptors) closeSync(descriptor)
  }
}

/** Waits until a program has ended and its output is closed, and after a kill until its group is gone. */
async function endOf(child: ChildProcess, { timeoutMs, signal, env, ...request }: ProcessRequest) {
  const { pid } = child
  const startError = new Promise<Error>((resolve) => child.on('error', resolve))
  if (pid === undefined) return startFailure(request, messageOf(await startError))
  const exit = exitOf(child)
  const outputEnd = new Promise((resolve) => child.on('close', resolve))
  const forget = endWithUs(pid, env)
  let forcedEnd: { kind: 'timeout' | 'aborted' } | undefined
  let ending: Promise<void> | undefined
  const force = (kind: 'timeout' | 'aborted'): void => {
    forcedEnd ??= { kind }
    ending ??= endGroup(pid)
  }
  const timer = timeoutMs ? setTimeout(() => force('timeout'), timeoutMs) : undefined
  const onAbort = (): void => force('aborted')
  signal?.addEventListener('abort', onAbort, { once: true })
  const end = await exit
  const drain = setTimeout(() => {
    child.stdout?.destroy()
    child.stderr?.destroy()
  }, drainMs)
  await outputEnd
  clearTimeout(drain)
  clearTimeout(timer)
  signal?.removeEventListener('abort', onAbort)
  await ending
  if (forcedEnd) endEscaped(env)
  forget()
  return forcedEnd ?? end
}

const drainMs = 250

export function exitOf(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    child.on('exit', (code, signal) =>
      resolve(signal === null ? { kind: 'exit', code: code ?? 1 } : { kind: 'signal', signal }),
    )
  })
}

/**
 * The system reports ENOENT for the program even if something else is missing, so the message names
 * that first.
 * @param message the system's error, in Node's words.
 */
function startFailure(request: Pick<ProcessRequest, 'file' | 'cwd'>, message: string): ProcessEnd {
  const code = / (E[A-Z0-9]+)$/.exec(message)?.[1]
  const reason = code === 'ENOENT' ? whatIsMissing(request) : systemReason(code)
  const fullMessage = reason === undefined ? message : `${reason} (${message})`
  return { kind: 'not-started', message: fullMessage }
}

/**
 * Returns why a program cannot start although its file may exist: its directory or its interpreter is
 * missing, which the system does not report. A first line with a Windows line ending names no existing
 * interpreter: `#!/usr/bin/env node` makes `env` look for `node\r`. Otherwise undefined.
 */
export function whatIsMissing({
  file,
  cwd,
}: Pick<ProcessRequest, 'file' | 'cwd'>): string | undefined {
  if (!existsSync(cwd)) return `the directory it is to run in, ${cwd}, does not exist`
  // A name without a slash comes from the search path.
  const line = file.includes('/') ? interpreterLine(resolve(cwd, file)) : undefined
  if (line === undefined) return undefined
  if (line.endsWith('\r')) {
    return `its first line, #!${line.trim()}, ends with a carriage return, which counts as a part of it: save it with LF line endings`
  }
  const [interpreter = ''] = line.trim().split(/[ \t]/)
  return existsSync(resolve(cwd, interpreter))
    ? undefined
    : `its first line names the interpreter ${interpreter}, which does not exist`
}

function interpreterLine(path: string): string | undefined {
  const head = resultOr('', () => headOf(path).toString('utf8'))
  return /^#!([^\n]*\S[^\n]*)/.exec(head)?.[1]
}

/** Returns the beginning of a program: as much as the kernel reads to find the interpreter. */
export function headOf(path: string): Buffer {
  return bytesOf(path, 256, { followSymlinks: true })
}

export interface CapturedOutput {
  head: string
  /** The last bytes, from the start of a line if possible; empty if nothing is left out. */
  tail: string
  droppedBytes: number
}

/** Collects a stream in at most `limit` bytes: half of them from the start, half from the end. */
export function createCapture(limit: number) {
  const headLimit = Math.ceil(limit / 2)
  const tailLimit = limit - headLimit
  const head: Buffer[] = []
  let tail: Buffer[] = []
  let headBytes = 0
  let tailBytes = 0
  let totalBytes = 0

  function keepInTail(chunk: Buffer): void {
    tail.push(chunk)
    tailBytes += chunk.length
    // The tail is trimmed only sometimes, so that a million small writes take linear time.
    if (tailBytes > tailLimit * 2 + 65_536) {
      tail = [lastBytes(Buffer.concat(tail), tailLimit)]
      tailBytes = tail[0]?.length ?? 0
    }
  }

  return {
    add(chunk: Buffer): void {
      totalBytes += chunk.length
      const room = headLimit - headBytes
      if (room > 0) {
        head.push(chunk.subarray(0, room))
        headBytes += Math.min(room, chunk.length)
      }
      if (chunk.length > room) keepInTail(chunk.subarray(Math.max(room, 0)))
    },
    finish(): CapturedOutput {
      const start = Buffer.concat(head)
      const end = lastBytes(Buffer.concat(tail), tailLimit)
      const droppedBytes = totalBytes - headBytes - end.length
      return droppedBytes === 0
        ? { head: decode(Buffer.concat([start, end])), tail: '', droppedBytes }
        : { head: decode(start), tail: decode(end).replace(/^[^\n]*\n/, ''), droppedBytes }
    },
  }
}

export function capturedText(output: CapturedOutput): string {
  if (output.droppedBytes === 0) return output.head
  return `${output.head}\n… ${output.droppedBytes} bytes left out …\n${output.tail}`
}

function lastBytes(bytes: Buffer, count: number): Buffer {
  return bytes.subarray(Math.max(0, bytes.length - count))
}

/** Bytes that are not UTF-8 become U+FFFD; a character cut at the end is dropped. */
function decode(bytes: Buffer): string {
  return new StringDecoder('utf8').write(bytes)
}

function serve(child: ChildProcess, descriptors: ReadonlyMap<number, ChildDescriptor>): void {
  const streams: readonly unknown[] = child.stdio
  for (const [number, descriptor] of descriptors) {
    if (descriptor === 'nothing') continue
    const stream = streams[number]
    if ('content' in descriptor) {
      if (!(stream instanceof Writable)) continue
      stream.on('error', () => undefined)
      stream.end(descriptor.content)
    } else if (stream instanceof Readable) {
      let text = ''
      stream.on('error', () => undefined)
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
        descriptor.onText(text)
      })
    }
  }
}

/**
 * Returns the environment of a script: the search path, the user, the locale, and the configured
 * variables. It gets nothing else, above all no credentials.
 * @param names further variables to pass on, from `run.environment`.
 * @param variables our variables for the script, `SKILLRAIL_…`; they take precedence.
 */
export function childEnvironment(
  runtime: Pick<Runtime, 'env' | 'platform'>,
  names: readonly string[],
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  // A run must not add caches to a skill, because that would change its digest.
  return { ...passedOn(runtime, names), PYTHONDONTWRITEBYTECODE: '1', ...variables }
}

/** Variables with which a user switches colors on or off. */
export const colorVariables: ReadonlySet<string> = new Set([
  'NO_COLOR',
  'FORCE_COLOR',
  'CLICOLOR_FORCE',
])

/** Returns the variables that every program needs, and `names`; ignores case on Windows. */
export function passedOn(
  { env, platform }: Pick<Runtime, 'env' | 'platform'>,
  names: readonly string[],
): Record<string, string> {
  const windows = platform === 'win32'
  const keyOf = (name: string) => (windows ? name.toUpperCase() : name)
  const passedKeys = new Set([...everywhere, ...(windows ? onWindows : []), ...names].map(keyOf))
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    const key = keyOf(name)
    if (value !== undefined && (passedKeys.has(key) || key.startsWith('LC_')))
      environment[name] = value
  }
  return environment
}

/** Without its user's variables, a shell looks them up at every start, a twentieth of its CPU time. */
const everywhere = 'PATH HOME LOGNAME SHELL USER LANG LANGUAGE TZ TMPDIR'.split(' ')

/** Without these, programs on Windows do not start or do not find their directories. */
const onWindows =
  'SYSTEMROOT WINDIR COMSPEC PATHEXT TEMP TMP USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES SYSTEMDRIVE'.split(
    ' ',
  )
