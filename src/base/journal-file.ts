import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { Diagnostic } from './diagnostic.ts'
import { messageOf, StateFileError, systemCode } from './errors.ts'
import { makePrivateDirectory } from './private-directory.ts'

/** One record of a journal: a JSON object on a line of its own. */
export type JournalRecord = Readonly<Record<string, unknown>>

export interface JournalReading {
  records: readonly JournalRecord[]
  /** Bytes after the last whole record: a write that a crash interrupted. Dropped, and reported. */
  tornTail: { offset: number; bytes: number } | undefined
  diagnostics: readonly Diagnostic[]
}

export interface JournalWriter {
  /** Writes records in one go and returns when they are on the disk (one fdatasync for all). */
  append(...records: readonly JournalRecord[]): void
  close(): void
}

/**
 * Opens an append-only journal of JSON lines for its single writer (hold a lock on it). A torn last
 * line is cut off first, so that the next record begins on a line of its own. Mode 0600.
 * Throws {@link StateFileError} when the file cannot be opened, and from `append` when the disk is
 * full: the journal then ends with the last record that was written whole.
 */
export function openJournal(path: string): JournalWriter {
  const descriptor = openForAppending(path)
  let size: number
  try {
    size = cutTornTail(path, descriptor)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
  return {
    append(...records) {
      const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
      try {
        writeDurably(descriptor, bytes)
        size += bytes.length
      } catch (error) {
        size = takeBack(descriptor, size, bytes)
        throw unwritten(path, error)
      }
    },
    close: () => closeSync(descriptor),
  }
}

/**
 * Reads every record. A torn last line is dropped and reported as a warning; any other line that is
 * no JSON object is an error that names its byte offset, and reading stops there.
 */
export function readJournal(path: string): JournalReading {
  const bytes = readFileSync(path)
  const end = wholeLength(bytes)
  const records: JournalRecord[] = []
  const diagnostics: Diagnostic[] = []
  for (let start = 0, line = 1; start < end; line++) {
    const stop = bytes.indexOf(newline, start)
    const record = parseRecord(bytes.toString('utf8', start, stop))
    if (record === undefined) {
      diagnostics.push(corruptLine(path, line, start))
      break
    }
    records.push(record)
    start = stop + 1
  }
  const tornTail = end < bytes.length ? { offset: end, bytes: bytes.length - end } : undefined
  if (tornTail !== undefined) diagnostics.push(tornLine(path, tornTail))
  return { records, tornTail, diagnostics }
}

const newline = 10

function openForAppending(path: string): number {
  try {
    makePrivateDirectory(dirname(path))
    return openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600)
  } catch (error) {
    throw unwritable(path, messageOf(error))
  }
}

function unwritable(path: string, reason: string): StateFileError {
  return new StateFileError({
    code: 'journal-unwritable',
    message: `the journal ${path} cannot be opened for writing: ${reason}`,
    hint: 'Check the permissions of the directory and the space on the disk.',
  })
}

/** The length of the file afterwards. */
function cutTornTail(path: string, descriptor: number): number {
  if (!fstatSync(descriptor).isFile()) throw unwritable(path, 'it is no regular file')
  const bytes = readFileSync(path)
  const end = wholeLength(bytes)
  if (end === bytes.length) return end
  ftruncateSync(descriptor, end)
  fdatasyncSync(descriptor)
  return end
}

/** The length up to and including the last newline. */
function wholeLength(bytes: Buffer): number {
  return bytes.lastIndexOf(newline) + 1
}

function writeDurably(descriptor: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(descriptor, bytes, written)
  }
  fdatasyncSync(descriptor)
}

function unwritten(path: string, error: unknown): StateFileError {
  return new StateFileError({
    code: systemCode(error) === 'ENOSPC' ? 'journal-disk-full' : 'journal-unwritable',
    message: `the journal ${path} could not be written: ${messageOf(error)}`,
    hint: 'Nothing recorded so far is lost; free space or mend the disk, then resume.',
    cause: error,
  })
}

/** Cuts off a record that was not written whole; the length of the file afterwards. */
function takeBack(descriptor: number, before: number, bytes: Buffer): number {
  try {
    const arrived = Math.max(0, fstatSync(descriptor).size - before)
    const size = before + wholeLength(bytes.subarray(0, arrived))
    ftruncateSync(descriptor, size)
    return size
  } catch {
    // The tail stays torn; readers drop it and the next writer cuts it off.
    return before
  }
}

function parseRecord(line: string): JournalRecord | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is JournalRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function corruptLine(path: string, line: number, offset: number): Diagnostic {
  return {
    code: 'journal-corrupt',
    severity: 'error',
    message: `line ${line} (byte ${offset}) is no JSON object; the file was changed or damaged`,
    path,
    line,
    hint: 'Nothing was written to it. Restore the file from a backup, or start anew.',
  }
}

function tornLine(path: string, tail: { offset: number; bytes: number }): Diagnostic {
  return {
    code: 'journal-torn-tail',
    severity: 'warning',
    message: `the last ${tail.bytes} bytes (from byte ${tail.offset}) are an interrupted write and were dropped`,
    path,
  }
}
