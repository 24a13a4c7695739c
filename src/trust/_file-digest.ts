import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { digestOf, messageOf, openSha256, systemCode } from '../base/index.ts'

export type FileDigest =
  | { ok: true; digest: string; size: number; executable: boolean; text: string | undefined }
  | ({ ok: false } & FileProblem)

/** Why a file has no digest; `size`: the bytes of it that were read, `tooLarge`: the limit is why. */
export interface FileProblem {
  problem: string
  size: number
  tooLarge: boolean
}

/** A larger file cannot be vouched for: hashing waits for nobody, and a sparse file costs nothing. */
export const maxFileBytes: number = 64 * 1024 * 1024

/** Texts up to this size are kept for previews and diffs. */
const keptTextBytes = 64 * 1024
const chunkBytes = 256 * 1024

/**
 * Hashes a file of any content without following a link at its end and without waiting on a FIFO or
 * a device.
 *
 * @param textBytes up to this size the text is given too.
 */
export function digestFile(
  path: string,
  maxBytes: number = maxFileBytes,
  textBytes: number = keptTextBytes,
): FileDigest {
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
  const text = size <= textBytes ? asText(Buffer.concat(kept)) : undefined
  return { ok: true, digest: digestOf(hash), size, executable: reading.executable, text }
}

/**
 * Gives the bytes of a regular file in order, as {@link digestFile} reads it. One that says it is
 * larger than `maxBytes` is not read at all, and one that turns out to be is not read on.
 */
export function readInChunks(
  path: string,
  take: (bytes: Buffer) => void,
  maxBytes: number = maxFileBytes,
): { ok: true; executable: boolean } | ({ ok: false } & FileProblem) {
  let size = 0
  let descriptor: number
  try {
    const flags = (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)
    descriptor = openSync(path, constants.O_RDONLY | flags)
  } catch (error) {
    return failed(`cannot be read: ${systemCode(error) ?? messageOf(error)}`)
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return failed('is no regular file')
    if (stats.size > maxBytes) return failed(tooLarge, true)
    for (;;) {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, stats.size + 1))
      const count = readSync(descriptor, chunk)
      if (count === 0) break
      size += count
      if (size > maxBytes) return failed(tooLarge, true)
      take(chunk.subarray(0, count))
    }
    return { ok: true, executable: (stats.mode & 0o111) !== 0 }
  } catch (error) {
    return failed(`cannot be read: ${systemCode(error) ?? messageOf(error)}`)
  } finally {
    closeSync(descriptor)
  }

  function failed(problem: string, isTooLarge = false): { ok: false } & FileProblem {
    return { ok: false, problem, size, tooLarge: isTooLarge }
  }
}

const tooLarge = `is too large to vouch for: more than ${maxFileBytes / 1024 / 1024} MiB`

/** The first bytes of a file as Latin-1 text, or '' where it cannot be read. */
export function fileHead(path: string, bytes: number): string {
  let descriptor: number | undefined
  try {
    const flags = (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)
    descriptor = openSync(path, constants.O_RDONLY | flags)
    const buffer = Buffer.alloc(bytes)
    return buffer.toString('latin1', 0, readSync(descriptor, buffer))
  } catch {
    return ''
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function asText(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined
}
