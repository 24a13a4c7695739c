import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { messageOf, systemCode } from '../base/index.ts'

/** What a file is, as far as telling apart whether it changed needs it. */
export interface FileIdentity {
  size: number
  mtimeMs: number
  ctimeMs: number
  ino: number
}

export type HeadReading =
  | {
      ok: true
      identity: FileIdentity
      /** The file up to the end of its frontmatter, or as much as was read where that is not in it. */
      text: string
      /** Bytes of `text`. */
      length: number
      /** Whether the rest of the file could hold the end of the frontmatter. */
      unfinished: boolean
    }
  | { ok: false; code: HeadProblem; message: string }

export type HeadProblem = 'file-missing' | 'file-unreadable' | 'file-not-regular' | 'file-not-utf8'

/** Of 956 published skills none had a frontmatter that ended after 1.4 KB. */
export const usualHead: number = 4096
/** The longest frontmatter that is accepted (64 KiB), with its delimiters. */
export const longestHead: number = 68 * 1024

/**
 * The first `bytes` of a text file with one open and one read: listing thousands of skills is
 * bound by system calls. Waits for nothing and never throws.
 */
export function readHead(path: string, bytes: number): HeadReading {
  let descriptor: number
  try {
    descriptor = openSync(path, openFlags)
  } catch (error) {
    return openingFailed(error)
  }
  try {
    return readOpened(descriptor, bytes)
  } catch (error) {
    return { ok: false, code: 'file-unreadable', message: `cannot be read: ${messageOf(error)}` }
  } finally {
    closeSync(descriptor)
  }
}

// Opening a named pipe for reading would wait for a writer. The flag does not exist on Windows.
const openFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

let buffer = Buffer.allocUnsafeSlow(usualHead)

function readOpened(descriptor: number, bytes: number): HeadReading {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) {
    const kind = stats.isDirectory() ? 'a directory' : stats.isFIFO() ? 'a named pipe' : 'no file'
    return { ok: false, code: 'file-not-regular', message: `is ${kind}, not a regular file` }
  }
  if (buffer.length < bytes) buffer = Buffer.allocUnsafeSlow(bytes)
  const count = readSync(descriptor, buffer, 0, bytes, 0)
  const end = frontmatterEnd(buffer.subarray(0, count))
  const isWhole = end !== undefined || count >= stats.size
  const head = buffer.subarray(0, end ?? (isWhole ? count : characterEnd(buffer, count)))
  if (!isUtf8(head)) return { ok: false, code: 'file-not-utf8', message: 'is not UTF-8 text' }
  const { size, mtimeMs, ctimeMs, ino } = stats
  return {
    ok: true,
    identity: { size, mtimeMs, ctimeMs, ino },
    // The body is left out: a piece of a string keeps all of it in memory.
    text: head.toString(),
    length: head.length,
    unfinished: !isWhole,
  }
}

/** The offset behind the first line after the first that is `---`, as `splitFrontmatter` has it. */
function frontmatterEnd(bytes: Buffer): number | undefined {
  for (let at = bytes.indexOf('\n---'); at !== -1; at = bytes.indexOf('\n---', at + 1)) {
    let end = at + 4
    while (bytes[end] === 0x20 || bytes[end] === 0x09 || bytes[end] === 0x0d) end++
    if (bytes[end] === 0x0a) return end + 1
  }
  return undefined
}

/** The end of the last character that is not cut in two, at most three bytes before `count`. */
function characterEnd(bytes: Buffer, count: number): number {
  for (let start = count - 1; start >= Math.max(0, count - 4); start--) {
    const byte = bytes[start] ?? 0
    if (byte < 0x80) return count
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return start + length > count ? start : count
  }
  return count
}

function openingFailed(error: unknown): HeadReading {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return { ok: false, code: 'file-missing', message: 'does not exist' }
  }
  if (code === 'ENXIO' || code === 'EISDIR') {
    return { ok: false, code: 'file-not-regular', message: 'is no regular file' }
  }
  if (code === 'ELOOP') {
    return { ok: false, code: 'file-unreadable', message: 'is a symbolic link in a circle' }
  }
  return { ok: false, code: 'file-unreadable', message: `cannot be read: ${messageOf(error)}` }
}
