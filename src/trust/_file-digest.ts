import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { digestOf, messageOf, openSha256, systemCode } from '../base/index.ts'

export type FileDigest =
  | { ok: true; digest: string; size: number; executable: boolean; text: string | undefined }
  | { ok: false; problem: string }

/** Texts up to this size are kept for previews and diffs. */
const keptTextBytes = 64 * 1024
const chunkBytes = 256 * 1024

/**
 * Hashes a file of any size and content without following a link at its end and without waiting on
 * a FIFO or a device.
 */
export function digestFile(path: string): FileDigest {
  let descriptor: number
  try {
    const flags = (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)
    descriptor = openSync(path, constants.O_RDONLY | flags)
  } catch (error) {
    return { ok: false, problem: `cannot be read: ${systemCode(error) ?? messageOf(error)}` }
  }
  try {
    return digestOpened(descriptor)
  } catch (error) {
    return { ok: false, problem: `cannot be read: ${systemCode(error) ?? messageOf(error)}` }
  } finally {
    closeSync(descriptor)
  }
}

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

function digestOpened(descriptor: number): FileDigest {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) return { ok: false, problem: 'is no regular file' }
  const hash = openSha256()
  const kept: Buffer[] = []
  let size = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, stats.size + 1))
    const count = readSync(descriptor, chunk)
    if (count === 0) break
    const bytes = chunk.subarray(0, count)
    hash.update(bytes)
    size += count
    if (size <= keptTextBytes) kept.push(bytes)
  }
  return {
    ok: true,
    digest: digestOf(hash),
    size,
    executable: (stats.mode & 0o111) !== 0,
    text: size <= keptTextBytes ? asText(Buffer.concat(kept)) : undefined,
  }
}

function asText(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined
}
