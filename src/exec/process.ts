import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { messageOf, systemReason } from '#core/errors'
import { bytesOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { endEscaped, endGroup, endWithUs, tried } from './process-group.ts'

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

/** Bytes to read, a listener for everything that was written, or an empty file. */
export type ChildDescriptor = { holds: Uint8Array } | { tells(text: string): void } | 'nothing'

export type ProcessEnd =
  | { kind: 'exit'; code: number }
  | { kind: 'signal'; signal: NodeJS.Signals }
  | { kind: 'timeout' }
  | { kind: 'aborted' }
  /** Ended by us, because it used up more than it may; the message continues after "because". */
  | { kind: 'limit'; message: string }
  | { kind: 'not-started'; message: string }

export interface ProcessResult {
  end: ProcessEnd
  stdout: CapturedOutput
  stderr: CapturedOutput
}

/**
 * Runs one program in a process group of its own and resolves when it has ended; it never rejects.
 * A time-out and an abort end the whole group: TERM, and KILL after 2 s; and, on Linux, what has left
 * the group with its idempotency key. What the program left in the background may hold its pipes open:
 * they are closed 250 ms after the program ended.
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
    // A pipe that breaks ends like one that closes; what was read is kept.
    child[name]?.on('error', () => undefined)
  }
  // A program may end without reading its input.
  child.stdin?.on('error', () => undefined)
  if (typeof request.stdin === 'string') child.stdin?.end(request.stdin)
  return await endOf(child, request)
}

function start({ file, args, cwd, env, ...request }: ProcessRequest): ChildProcess {
  const opened: number[] = []
  const open = (path: string) => {
    const descriptor = openSync(path, 'r')
    opened.push(descriptor)
    return descriptor
  }
  try {
    const { stdin: input, descriptors = new Map<number, ChildDescriptor>() } = request
    const stdin =
      typeof input === 'object' ? open(input.file) : input === undefined ? 'ignore' : 'pipe'
    // Where nothing is asked for, `ignore` leaves what the child inherits.
    const stdio = Array.from({ length: Math.max(2, ...descriptors.keys()) + 1 }, (_, number) => {
      const descriptor = descriptors.get(number)
      if (descriptor === 'nothing') return open('/dev/null')
      return number > 2 && !descriptor ? 'ignore' : 'pipe'
    })
    const detached = process.platform !== 'win32'
    stdio[0] = stdin
    return spawn(file, [...args], { cwd, env, stdio, detached, windowsHide: true })
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

/** Waits until a program has ended and its output is closed; if ended by force, its group too. */
async function endOf(child: ChildProcess, { timeoutMs, signal, env, ...request }: ProcessRequest) {
  const { pid } = child
  const failed = new Promise<Error>((resolve) => child.on('error', resolve))
  if (pid === undefined) return startFailure(request, messageOf(await failed))
  const exited = exitOf(child)
  const closed = new Promise((resolve) => child.on('close', resolve))
  const forget = endWithUs(pid, env)
  let forced: { kind: 'timeout' | 'aborted' } | undefined
  let ending: Promise<void> | undefined
  const force = (kind: 'timeout' | 'aborted'): void => {
    forced ??= { kind }
    ending ??= endGroup(pid)
  }
  const timer = timeoutMs ? setTimeout(() => force('timeout'), timeoutMs) : undefined
  const onAbort = (): void => force('aborted')
  signal?.addEventListener('abort', onAbort, { once: true })
  const end = await exited
  const drain = setTimeout(() => {
    child.stdout?.destroy()
    child.stderr?.destroy()
  }, drainMs)
  await closed
  clearTimeout(drain)
  clearTimeout(timer)
  signal?.removeEventListener('abort', onAbort)
  await ending
  if (forced) endEscaped(env)
  forget()
  return forced ?? end
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
 * The system says ENOENT of the program also where something else is missing: then that is named
 * first.
 * @param message of the system, in the words of Node.
 */
function startFailure(request: Pick<ProcessRequest, 'file' | 'cwd'>, message: string): ProcessEnd {
  const code = / (E[A-Z0-9]+)$/.exec(message)?.[1]
  const reason = code === 'ENOENT' ? whatIsMissing(request) : systemReason(code)
  const told = reason === undefined ? message : `${reason} (${message})`
  return { kind: 'not-started', message: told }
}

/**
 * What beside the program itself has to be there, and is not: its directory, or its interpreter, of
 * which the system says nothing. A first line that ends as on Windows names none, also where it begins
 * with one: `#!/usr/bin/env node` is started, and looks for `node\r`. Undefined when it is neither.
 */
export function whatIsMissing({
  file,
  cwd,
}: Pick<ProcessRequest, 'file' | 'cwd'>): string | undefined {
  if (!existsSync(cwd)) return `the directory it is to run in, ${cwd}, does not exist`
  // One without a slash was looked for in the search path.
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
  const head = tried('', () => headOf(path).toString('utf8'))
  return /^#!([^\n]*\S[^\n]*)/.exec(head)?.[1]
}

/** The beginning of a program: as much as the kernel reads to find its interpreter. */
export function headOf(path: string): Buffer {
  return bytesOf(path, 256, { followSymlinks: true })
}

export interface CapturedOutput {
  head: string
  /** Empty unless something was left out; then the last bytes, beginning at a line where possible. */
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
    // Trimmed only now and then, so that a million small writes stay linear.
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
      const kept = lastBytes(Buffer.concat(tail), tailLimit)
      const droppedBytes = totalBytes - headBytes - kept.length
      return droppedBytes === 0
        ? { head: decode(Buffer.concat([start, kept])), tail: '', droppedBytes }
        : { head: decode(start), tail: decode(kept).replace(/^[^\n]*\n/, ''), droppedBytes }
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
    if ('holds' in descriptor) {
      if (!(stream instanceof Writable)) continue
      stream.on('error', () => undefined)
      stream.end(descriptor.holds)
    } else if (stream instanceof Readable) {
      let text = ''
      stream.on('error', () => undefined)
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
        descriptor.tells(text)
      })
    }
  }
}

/**
 * The environment of a script: where programs are, who runs it, the locale, and what the
 * configuration names. Everything else, credentials above all, stays here.
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
  const keyOf = (name: string) => (windows ? name.toUpperCase() : name)
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
