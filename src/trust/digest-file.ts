import { isUtf8 } from 'node:buffer'
import { readSync } from 'node:fs'
import { messageOf, systemCode } from '../core/errors.ts'
import { digestOf, openSha256 } from '../core/json.ts'
import { withRegularFile } from '../core/read-files.ts'

/** A larger file cannot be vouched for: hashing waits for nobody, and a sparse file costs nothing. */
export const maxFileBytes: number = 64 * 1024 * 1024

const keptTextBytes = 64 * 1024
const chunkBytes = 256 * 1024

/** `size`: the bytes that were read, `tooLarge`: the limit is why reading ended. */
type ChunksFailure = { ok: false; problem: string; size: number; tooLarge: boolean }

/**
 * Hashes a file of any content without following a link at its end and without waiting on a FIFO or
 * a device.
 * @param limits `textBytes`: up to this size the text is given too.
 */
export function digestFile(
  path: string,
  { maxBytes = maxFileBytes, textBytes = keptTextBytes } = {},
) {
  const hash = openSha256()
  const kept: Buffer[] = []
  let size = 0
  const take = (bytes: Buffer): void => {
    hash.update(bytes)
    size += bytes.length
    if (size <= textBytes) kept.push(bytes)
  }
  const reading = readInChunks(path, take, maxBytes)
  if (!reading.ok) return reading
  const bytes = Buffer.concat(size <= textBytes ? kept : [])
  const isText = size <= textBytes && isUtf8(bytes) && !bytes.includes(0)
  const text = isText ? bytes.toString('utf8') : undefined
  return { ...reading, digest: digestOf(hash), size, text }
}

/** The first bytes of a file as Latin-1 text, or '' where it cannot be read. */
export function fileHead(path: string, bytes: number): string {
  let head = ''
  const take = (chunk: Buffer): false => {
    head = chunk.toString('latin1', 0, bytes)
    return false
  }
  return readInChunks(path, take, Infinity, bytes).ok ? head : ''
}

/**
 * Gives the bytes of a regular file in order, as {@link digestFile} reads it, until `take` returns
 * false. One that says it is larger than `maxBytes` is not read at all, and one that turns out to be
 * is not read further.
 */
function readInChunks(
  path: string,
  take: (bytes: Buffer) => false | void,
  maxBytes: number = maxFileBytes,
  chunkSize: number = chunkBytes,
): { ok: true; executable: boolean } | ChunksFailure {
  let size = 0
  const failed = (problem: string, tooLarge = false): ChunksFailure => {
    return { ok: false, problem, size, tooLarge }
  }
  try {
    return withRegularFile(path, (descriptor, stats) => {
      if (stats.size > maxBytes) return failed(tooLargeProblem, true)
      for (;;) {
        const chunk = Buffer.allocUnsafe(Math.min(chunkSize, stats.size + 1))
        const count = readSync(descriptor, chunk)
        size += count
        if (size > maxBytes) return failed(tooLargeProblem, true)
        if (count === 0 || take(chunk.subarray(0, count)) === false) break
      }
      return { ok: true, executable: (stats.mode & 0o111) !== 0 }
    })
  } catch (error) {
    return failed(cannotBe('read', error))
  }
}

export function cannotBe(done: 'read' | 'listed', error: unknown): string {
  return `cannot be ${done}: ${systemCode(error) ?? messageOf(error)}`
}

const tooLargeProblem = `is too large to vouch for: more than ${maxFileBytes / 1024 / 1024} MiB`
