import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { messageOf } from '../base/index.ts'
import { type CapturedOutput, createCapture } from './capture.ts'
import { furtherDescriptors, serve } from './_descriptors.ts'
import { endWithUs } from './_end-with-us.ts'
import { startFailure } from './_start-failure.ts'
import { supervise } from './_supervision.ts'

export interface ProcessRequest {
  file: string
  args: readonly string[]
  cwd: string
  /** The whole environment of the child; nothing of ours is added. */
  env: Readonly<Record<string, string>>
  /** Text, or a file, for standard input; default: empty. */
  stdin?: string | { file: string } | undefined
  /** 0 or undefined: no limit. */
  timeoutMs?: number | undefined
  /** Bytes kept of each stream. */
  outputLimit: number
  signal?: AbortSignal | undefined
  onOutput?: ((chunk: Buffer, stream: 'stdout' | 'stderr') => void) | undefined
  /** Further descriptors of the child, by their numbers from 3 on. */
  descriptors?: ReadonlyMap<number, ChildDescriptor> | undefined
}

/** Bytes to read, a listener for everything that was written, or an empty file. */
export type ChildDescriptor = { holds: Uint8Array } | { tells(text: string): void } | 'nothing'

export type ProcessEnd =
  | { kind: 'exit'; code: number }
  | { kind: 'signal'; signal: NodeJS.Signals }
  | { kind: 'timeout' }
  | { kind: 'aborted' }
  /** Ended by us, because it used up more than it may; the message goes on after "because". */
  | { kind: 'limit'; message: string }
  | { kind: 'not-started'; message: string }

export interface ProcessResult {
  end: ProcessEnd
  stdout: CapturedOutput
  stderr: CapturedOutput
}

/** Something that runs programs, all in the same way. */
export type RunProcess = (request: ProcessRequest) => Promise<ProcessResult>

/**
 * Runs one program in a process group of its own and resolves when it has ended; it never rejects.
 * A time-out and an abort end the whole group: TERM, and KILL after 2 s; and, on Linux, what has left
 * the group with its idempotency key. What the program left in the background may hold its pipes open:
 * they are closed 250 ms after the program ended.
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
    return Promise.resolve(finished(startFailure(request, messageOf(error))))
  }
  if (request.descriptors !== undefined) serve(child, request.descriptors)
  collect(child.stdout, 'stdout', (chunk) => stdout.add(chunk), request)
  collect(child.stderr, 'stderr', (chunk) => stderr.add(chunk), request)
  feed(child, request.stdin)
  return new Promise((resolve) => {
    watch(child, request, (end) => resolve(finished(end)))
  })
}

function start(request: ProcessRequest): ChildProcess {
  const { stdin: input, descriptors } = request
  const descriptor = typeof input === 'object' ? openSync(input.file, 'r') : undefined
  const further = descriptors === undefined ? undefined : furtherDescriptors(descriptors)
  try {
    return spawn(request.file, [...request.args], {
      cwd: request.cwd,
      env: request.env,
      stdio: [
        descriptor ?? (input === undefined ? 'ignore' : 'pipe'),
        'pipe',
        'pipe',
        ...(further?.stdio ?? []),
      ],
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
    further?.close()
  }
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

function feed(child: ChildProcess, input: ProcessRequest['stdin']): void {
  if (typeof input !== 'string' || child.stdin === null) return
  // A program may end without reading its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
}

function watch(
  child: ChildProcess,
  request: ProcessRequest,
  resolve: (end: ProcessEnd) => void,
): void {
  const forget = child.pid === undefined ? undefined : endWithUs(child.pid, request.env)
  const supervision = supervise(
    request,
    {
      closeOutput() {
        child.stdout?.destroy()
        child.stderr?.destroy()
      },
      identify: () => undefined,
    },
    (end) => {
      forget?.()
      resolve(end)
    },
  )
  if (child.pid !== undefined) supervision.identified(child.pid)
  child.on('error', (error) => {
    if (child.pid !== undefined) return
    supervision.ended(startFailure(request, messageOf(error)))
    supervision.drained()
  })
  child.on('exit', (code, signal) => {
    supervision.ended(
      signal === null ? { kind: 'exit', code: code ?? 1 } : { kind: 'signal', signal },
    )
  })
  child.on('close', () => supervision.drained())
}
