import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { type Diagnostic, reasonOf, StateFileError, systemCode } from './errors.ts'
import { isObject } from './json.ts'
import { withRegularFile, statsOf } from './read-files.ts'
import { makePrivateDirectory, writeAll } from './write-files.ts'

/**
 * Links the lines of a journal. `code` returns at least {@link sumLength} hexadecimal digits, which need
 * the user's key. `start` is the code before the first line; it binds the journal to its subject.
 */
export interface JournalSeal {
  start: string
  code(previousSum: string, line: string | Uint8Array): string
}

/** One record of a journal: the JSON object of one line, without the line's `sum`. */
export type JournalRecord = Readonly<Record<string, unknown>>

/**
 * Opens an append-only journal of JSON lines, mode 0600, for a single writer, which must hold a lock. A
 * torn last line is cut off first. The last key of every line is its `sum`: the first 32 hexadecimal
 * digits of the code over the previous line's sum and the line's text up to that key. {@link readJournal}
 * detects changed, removed, repeated, moved and forged lines, but not a cut at the end. Throws {@link
 * StateFileError} if the file cannot be opened, and from `append` if the disk is full: the journal then
 * ends with the last complete record.
 */
export function openJournal(path: string, seal: JournalSeal): JournalWriter {
  const descriptor = openForAppending(path)
  let end: JournalEnd
  try {
    end = cutTornTail(path, descriptor, seal)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
  return {
    append(...records: readonly JournalRecord[]): void {
      const { text, sum } = linesOf(records, end.sum, seal)
      const bytes = Buffer.from(text)
      try {
        writeAll(descriptor, bytes)
        fdatasyncSync(descriptor)
        end = { size: end.size + bytes.length, sum }
      } catch (error) {
        end = cutIncomplete(descriptor, end, bytes)
        const code = systemCode(error) === 'ENOSPC' ? 'journal-disk-full' : 'journal-unwritable'
        const message = `the journal ${path} could not be written: ${reasonOf(error)}`
        const hint = 'Free disk space or repair the disk.'
        throw new StateFileError({ code, message, hint, cause: error })
      }
    },
    fileState: () => fileStateOf(path, descriptor, end.size),
    close: () => closeSync(descriptor),
  }
}

export interface JournalWriter {
  /** Writes records together and returns when they are on the disk (one fdatasync for all). */
  append(...records: readonly JournalRecord[]): void
  /** Whether the path still leads to the file that this writer writes. */
  fileState(): 'whole' | 'gone' | 'changed'
  close(): void
}

/** The readable records of a journal. */
export interface JournalReading {
  records: JournalRecord[]
  /** For each record, the byte offset of its line in the file. */
  offsets: number[]
  /** The first record, if the first line has no sum: the file has another format. */
  unsummed: JournalRecord | undefined
  /** The incomplete last line of an interrupted write. */
  tornTail: { offset: number; bytes: number } | undefined
  diagnostics: Diagnostic[]
}

/**
 * Reads every record. A last line without a newline is torn: it is dropped with a warning. Any other line
 * that is not a JSON object, or has a wrong sum, is an error with its byte offset, and reading stops there.
 * Without a seal no sum is checked. Throws the system error if the file cannot be read.
 */
export function readJournal(path: string, seal?: JournalSeal): JournalReading {
  const bytes = withRegularFile(path, (descriptor) => readFileSync(descriptor), true)
  const end = wholeLength(bytes)
  const records: JournalRecord[] = []
  const offsets: number[] = []
  const diagnostics: Diagnostic[] = []
  let unsummed: JournalRecord | undefined
  let sum = seal?.start ?? ''
  for (let start = 0; start < end;) {
    const stop = bytes.indexOf(newline, start)
    const line = bytes.subarray(start, stop)
    const record = parseRecord(line)
    const lineSum = sumIn(line)
    const isOurs = seal === undefined || lineSum === sumOf(seal, sum, line.subarray(0, -tailLength))
    if (!record || !isOurs) {
      if (start === 0 && lineSum === undefined) unsummed = record
      diagnostics.push(brokenLine(path, records.length + 1, start, record !== undefined))
      break
    }
    sum = lineSum ?? ''
    records.push(record)
    offsets.push(start)
    start = stop + 1
  }
  const tornTail = end < bytes.length ? { offset: end, bytes: bytes.length - end } : undefined
  if (tornTail) {
    const message = `the last ${tornTail.bytes} bytes (from byte ${end}) are an interrupted write and were dropped`
    diagnostics.push({ code: 'journal-torn-tail', severity: 'warning', message, path })
  }
  return { records, offsets, unsummed, tornTail, diagnostics }
}

const newline = 10

interface JournalEnd {
  size: number
  sum: string
}

function linesOf(records: readonly JournalRecord[], previousSum: string, seal: JournalSeal) {
  let text = ''
  let sum = previousSum
  for (const record of records) {
    const members = JSON.stringify(record).slice(0, -1)
    const head = members === '{' ? members : `${members},`
    sum = sumOf(seal, sum, head)
    text += `${head}${sumKey}${sum}${lineEnd}\n`
  }
  return { text, sum }
}

const sumKey = '"sum":"'
const lineEnd = '"}'
const sumLength = 32
const tailLength = sumKey.length + sumLength + lineEnd.length
const tailForm = /^"sum":"([0-9a-f]{32})"\}$/

/** Returns the sum at the end of a line; undefined without one. */
function sumIn(line: Buffer): string | undefined {
  return tailForm.exec(line.toString('latin1', Math.max(0, line.length - tailLength)))?.[1]
}

function sumOf(seal: JournalSeal, previousSum: string, head: string | Uint8Array): string {
  return seal.code(previousSum, head).slice(0, sumLength)
}

function openForAppending(path: string): number {
  try {
    makePrivateDirectory(dirname(path))
    return openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600)
  } catch (error) {
    throw unwritable(path, reasonOf(error))
  }
}

function unwritable(path: string, reason: string): StateFileError {
  const message = `the journal ${path} cannot be opened for writing: ${reason}`
  const hint = 'Check the permissions of the directory and the space on the disk.'
  return new StateFileError({ code: 'journal-unwritable', message, hint })
}

function cutTornTail(path: string, descriptor: number, { start }: JournalSeal): JournalEnd {
  if (!fstatSync(descriptor).isFile()) throw unwritable(path, 'it is not a regular file')
  const bytes = readFileSync(path)
  const size = wholeLength(bytes)
  const sum = size === 0 ? start : lastSum(bytes, size)
  // A file that no reader accepts stays unchanged.
  if (sum === undefined) throw unwritable(path, 'its last line does not end with a sum')
  if (size < bytes.length) {
    ftruncateSync(descriptor, size)
    fdatasyncSync(descriptor)
  }
  return { size, sum }
}

function fileStateOf(path: string, descriptor: number, size: number): 'whole' | 'gone' | 'changed' {
  try {
    const stats = statsOf(path)
    if (!stats) return 'gone'
    const { dev, ino } = fstatSync(descriptor)
    return stats.dev === dev && stats.ino === ino && stats.size === size ? 'whole' : 'changed'
  } catch {
    return 'gone' // The path cannot be followed any more.
  }
}

function lastSum(bytes: Buffer, size: number): string | undefined {
  return sumIn(bytes.subarray(bytes.lastIndexOf(newline, size - 2) + 1, size - 1))
}

function wholeLength(bytes: Buffer): number {
  return bytes.lastIndexOf(newline) + 1
}

/** Cuts off an incomplete record. Returns the new end of the file. */
function cutIncomplete(descriptor: number, end: JournalEnd, bytes: Buffer): JournalEnd {
  try {
    const addedBytes = Math.max(0, fstatSync(descriptor).size - end.size)
    const completeBytes = wholeLength(bytes.subarray(0, addedBytes))
    ftruncateSync(descriptor, end.size + completeBytes)
    const sum = completeBytes === 0 ? undefined : lastSum(bytes, completeBytes)
    return { size: end.size + completeBytes, sum: sum ?? end.sum }
  } catch {
    // The torn tail remains: readers drop it, and the next writer cuts it off.
    return end
  }
}

function parseRecord(line: Buffer): JournalRecord | undefined {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    if (!isObject(value)) return undefined
    const { sum: _sum, ...record } = value
    return record
  } catch {
    return undefined
  }
}

/** A valid JSON first line with a wrong sum has another key or another subject. */
function brokenLine(path: string, line: number, offset: number, isJson: boolean): Diagnostic {
  const record = `record ${line} (byte ${offset})`
  if (isJson && line === 1) {
    const message = `${record} was not written by your Skillrail for this project, or was changed since`
    const hint = `To read it: skillrail runs import ${path}`
    return { code: 'journal-foreign', severity: 'error', message, path, line, hint }
  }
  const problem = isJson
    ? 'was changed, or the line before it was'
    : 'is not a JSON object; the file was changed or damaged'
  const hint = 'Restore the file from a backup, or delete it and start again.'
  const message = `${record} ${problem}`
  return { code: 'journal-corrupt', severity: 'error', message, path, line, hint }
}
