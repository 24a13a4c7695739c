import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { systemCode } from './errors.ts'
import { reasonOf } from './look-problem.ts'

export type FileReading =
  | { ok: true; bytes: Buffer; text: string; size: number; mtimeMs: number }
  | { ok: false; code: FileReadingCode; message: string }

export type FileReadingCode =
  | 'file-missing'
  | 'file-unreadable'
  | 'file-not-regular'
  | 'file-too-large'
  | 'file-not-utf8'

export interface ReadRegularFileOptions {
  /** A larger file is refused without being read. */
  maxBytes: number
  /** Whether a symbolic link as the last part of the path is followed; default true. */
  followSymlinks?: boolean | undefined
  /** Also what is no text, for whom `bytes` are enough; default false. */
  binary?: boolean | undefined
}

/**
 * Reads a text file that a stranger may have made: never waits on a FIFO or a device, never reads
 * more than it was told to, and says what is wrong instead of throwing.
 */
export function readRegularFile(path: string, options: ReadRegularFileOptions): FileReading {
  let descriptor: number
  try {
    descriptor = openSync(path, openFlags(options.followSymlinks ?? true))
  } catch (error) {
    return openingFailed(path, error)
  }
  try {
    return readOpened(path, descriptor, options)
  } catch (error) {
    return refusal('file-unreadable', `${path} cannot be read: ${reasonOf(error)}`)
  } finally {
    closeSync(descriptor)
  }
}

function openFlags(followSymlinks: boolean): number {
  // O_NONBLOCK: opening a FIFO for reading would otherwise wait for a writer. Both are 0 on Windows.
  const nonBlocking = constants.O_NONBLOCK ?? 0
  const noFollow = followSymlinks ? 0 : (constants.O_NOFOLLOW ?? 0)
  return constants.O_RDONLY | nonBlocking | noFollow
}

function openingFailed(path: string, error: unknown): FileReading {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return refusal('file-missing', `${path} does not exist`)
  }
  if (code === 'ELOOP') return refusal('file-not-regular', `${path} is a symbolic link`)
  if (code === 'EISDIR') return refusal('file-not-regular', `${path} is a directory`)
  return refusal('file-unreadable', `${path} cannot be read: ${reasonOf(error)}`)
}

function readOpened(
  path: string,
  descriptor: number,
  { maxBytes, binary = false }: ReadRegularFileOptions,
): FileReading {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) {
    const kind = stats.isDirectory() ? 'a directory' : 'no regular file'
    return refusal('file-not-regular', `${path} is ${kind}`)
  }
  if (stats.size > maxBytes) return tooLarge(path, stats.size, maxBytes)
  const bytes = readAll(descriptor, stats.size, maxBytes)
  if (bytes === undefined) return tooLarge(path, undefined, maxBytes)
  if (!binary && !isUtf8(bytes)) return refusal('file-not-utf8', `${path} is not UTF-8 text`)
  return {
    ok: true,
    bytes,
    text: bytes.toString('utf8'),
    size: bytes.length,
    mtimeMs: stats.mtimeMs,
  }
}

/** Reads to the end even if the file grew since it was measured; undefined past `maxBytes`. */
function readAll(descriptor: number, expected: number, maxBytes: number): Buffer | undefined {
  let buffer = Buffer.allocUnsafe(Math.min(expected, maxBytes) + 1)
  let length = 0
  for (;;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null)
    if (count === 0) return buffer.subarray(0, length)
    length += count
    if (length > maxBytes) return undefined
    if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
  }
}

function tooLarge(path: string, size: number | undefined, maxBytes: number): FileReading {
  const measured = size === undefined ? 'larger than' : `${size} bytes; the limit is`
  return refusal('file-too-large', `${path} is ${measured} ${maxBytes} bytes`)
}

function refusal(code: FileReadingCode, message: string): FileReading {
  return { ok: false, code, message }
}
