import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { Diagnostic } from '#core/errors'
import { parseJson } from '#core/json'
import { makePrivateDirectory, writeAll } from '#core/write-files'
import { readRegularFile } from '#core/read-files'
import { redactValue } from '#core/redact'
import { cutText } from '#core/text'
import { withFileLock } from '#core/file-lock'
import type { CallRecord } from '#tools/call/context'
import { zod } from '#core/zod'

/** `at`: the start of the call, an ISO time. */
type LoggedCall = CallRecord & { at: string; session: string }

export interface CallLogReading {
  calls: readonly LoggedCall[]
  diagnostics: readonly Diagnostic[]
}

/** Size at which a new log begins; the earlier one is kept as `….old`. */
const rotateBytes = 4 * 1024 * 1024
const textLength = 200
const listLength = 50

/** Appends a line in one write, mode 0600. Secrets are masked and long texts cut before. */
export async function appendCall(
  path: string,
  entry: CallRecord,
  context: Pick<LoggedCall, 'at' | 'session'>,
): Promise<void> {
  const line = JSON.stringify({ ...context, ...redactValue(entry) }, shortenValue)
  makePrivateDirectory(dirname(path))
  const length = appendLine(path, line)
  if (length > rotateBytes) await rotate(path)
}

export function rotatedPath(path: string): string {
  return `${path}.old`
}

export function readCalls(path: string): CallLogReading {
  const file = readRegularFile(path, { maxBytes: 4 * rotateBytes, followSymlinks: false })
  if (!file.ok) {
    if (file.code === 'file-missing') return { calls: [], diagnostics: [] }
    const { code, message } = file
    return { calls: [], diagnostics: [{ code, severity: 'error', message, path }] }
  }
  schema ??= callSchema()
  const calls: LoggedCall[] = []
  const diagnostics: Diagnostic[] = []
  for (const [index, line] of file.text.split('\n').entries()) {
    if (line === '') continue
    const { data: call } = schema.safeParse(parseJson(line))
    if (call) calls.push(call)
    else {
      const message = 'the line is not a call; it was left out'
      const facts = { code: 'call-log-line', severity: 'warning', message } as const
      diagnostics.push({ ...facts, path, line: index + 1 })
    }
  }
  return { calls, diagnostics }
}

let schema: ReturnType<typeof callSchema> | undefined

function callSchema() {
  const z = zod()
  const callRecord = z.looseObject({
    at: z.string(),
    session: z.string(),
    tool: z.string(),
    outcome: z.string(),
    durationMs: z.number(),
    size: z.number(),
  })
  return z.custom<LoggedCall>((value) => callRecord.safeParse(value).success)
}

function appendLine(path: string, line: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants
  const descriptor = openSync(path, O_RDWR | O_APPEND | O_CREAT | (O_NOFOLLOW ?? 0), 0o600)
  try {
    const { size, mode } = fstatSync(descriptor)
    if ((mode & 0o077) !== 0) fchmodSync(descriptor, 0o600)
    const bytes = Buffer.from(`${endsWhole(descriptor, size) ? '' : '\n'}${line}\n`)
    writeAll(descriptor, bytes)
    return size + bytes.length
  } finally {
    closeSync(descriptor)
  }
}

/** A full disk or a crash can leave half a line, to which the next line must not be joined. */
function endsWhole(descriptor: number, size: number) {
  if (size === 0) return true
  const last = Buffer.alloc(1)
  readSync(descriptor, last, 0, 1, size - 1)
  return last[0] === 10
}

function rotate(path: string) {
  return withFileLock(path, async () => {
    const file = readRegularFile(path, { maxBytes: Number.MAX_SAFE_INTEGER })
    if (file.ok && file.size > rotateBytes) renameSync(path, rotatedPath(path))
  })
}

/** Replacer for `JSON.stringify` that keeps the beginning of long texts and lists. */
function shortenValue(_key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, listLength)
  const isLong = typeof value === 'string' && value.length > textLength
  return isLong ? cutText(value, textLength) : value
}
