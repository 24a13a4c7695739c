import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { messageOf } from '../base/index.ts'
import { type CapturedOutput, createCapture } from './capture.ts'
import { endGroup, groupIsGone } from './_process-group.ts'

export interface ProcessRequest {
  file: string
  args: readonly string[]
  cwd: string
  /** The whole environment of the child; nothing of ours is added. */
  env: Readonly<Record<string, string>>
  /** Text, or an open file descriptor, for standard input; default: empty. */
  stdin?: string | number | undefined
  /** 0 or undefined: no limit. */
  timeoutMs?: number | undefined
  /** Bytes kept of each stream. */
  outputLimit: number
  signal?: AbortSignal | undefined
  onOutput?: ((chunk: Buffer, stream: 'stdout' | 'stderr') => void) | undefined
}

export type ProcessEnd =
  | { kind: 'exit'; code: number }
  | { kind: 'signal'; signal: NodeJS.Signals }
  | { kind: 'timeout' }
  | { kind: 'aborted' }
  | { kind: 'not-started'; message: string }

export interface ProcessResult {
  end: ProcessEnd
  stdout: CapturedOutput
  stderr: CapturedOutput
}

/**
 * Runs one program in a process group of its own and resolves when it has ended; it never rejects.
 * A time-out and an abort end the whole group: TERM, and KILL after 2 s. What the program left in
 * the background may hold its pipes open: they are closed {@link drainMs} after the program ended.
 */
export function runProcess(request: ProcessRequest): Promise<ProcessResult> {
  const stdout = createCapture(request.outputLimit)
  const stderr = createCapture(request.outputLimit)
  const finished = (end: ProcessEnd): ProcessResult => ({
    end,
    stdout: stdout.finish(),
    stderr: stderr.finish(),
  })
  if (request.signal?.aborted === true) return Promise.resolve(finished({ kind: 'aborted' }))
  let child: ChildProcess
  try {
    child = start(request)
  } catch (error) {
    return Promise.resolve(finished({ kind: 'not-started', message: messageOf(error) }))
  }
  collect(child.stdout, 'stdout', (chunk) => stdout.add(chunk), request)
  collect(child.stderr, 'stderr', (chunk) => stderr.add(chunk), request)
  feed(child, request.stdin)
  return new Promise((resolve) => {
    supervise(child, request, (end) => resolve(finished(end)))
  })
}

/** How long pipes may stay open after the program itself has ended. */
export const drainMs = 250

function start(request: ProcessRequest): ChildProcess {
  const input = request.stdin
  const stdin = typeof input === 'number' ? input : input === undefined ? 'ignore' : 'pipe'
  return spawn(request.file, [...request.args], {
    cwd: request.cwd,
    env: request.env,
    stdio: [stdin, 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
}

function collect(
  stream: Readable | null,
  name: 'stdout' | 'stderr',
  add: (chunk: Buffer) => void,
  request: ProcessRequest,
): void {
  stream?.on('data', (chunk: Buffer) => {
    add(chunk)
    request.onOutput?.(chunk, name)
  })
  // A pipe that breaks ends like one that closes; what was read is kept.
  stream?.on('error', () => undefined)
}

function feed(child: ChildProcess, input: string | number | undefined): void {
  if (typeof input !== 'string' || child.stdin === null) return
  // A program may end without reading its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
}

function supervise(
  child: ChildProcess,
  request: ProcessRequest,
  resolve: (end: ProcessEnd) => void,
): void {
  let forced: 'timeout' | 'aborted' | undefined
  let left: ProcessEnd | undefined
  let drained = false
  let ending: ReturnType<typeof endGroup> | undefined
  let drainTimer: NodeJS.Timeout | undefined
  const timer = request.timeoutMs
    ? setTimeout(() => force('timeout'), request.timeoutMs)
    : undefined
  const onAbort = (): void => force('aborted')
  request.signal?.addEventListener('abort', onAbort, { once: true })

  function force(reason: 'timeout' | 'aborted'): void {
    if (forced !== undefined || (left !== undefined && drained)) return
    forced = reason
    if (child.pid !== undefined) ending = endGroup(child.pid, settle)
  }

  function settle(): void {
    if (left === undefined || !drained) return
    if (ending !== undefined && child.pid !== undefined && !groupIsGone(child.pid)) {
      if (!ending.killed()) return
    }
    clearTimeout(timer)
    clearTimeout(drainTimer)
    ending?.stop()
    request.signal?.removeEventListener('abort', onAbort)
    resolve(forced === undefined ? left : { kind: forced })
  }

  child.on('error', (error) => {
    if (child.pid !== undefined) return
    left = { kind: 'not-started', message: messageOf(error) }
    drained = true
    settle()
  })
  child.on('exit', (code, signal) => {
    left = signal === null ? { kind: 'exit', code: code ?? 1 } : { kind: 'signal', signal }
    drainTimer = setTimeout(() => {
      child.stdout?.destroy()
      child.stderr?.destroy()
    }, drainMs)
    settle()
  })
  child.on('close', () => {
    drained = true
    settle()
  })
}
