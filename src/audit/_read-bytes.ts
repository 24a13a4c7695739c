import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { messageOf } from '../base/index.ts'

export type BytesReading = { ok: true; bytes: Buffer } | { ok: false; reason: string }

/** Up to `length` bytes of a regular file from `offset`. Follows no link and waits for no pipe. */
export function readBytes(path: string, offset: number, length: number): BytesReading {
  let descriptor: number | undefined
  try {
    // Both flags are 0 on Windows.
    const careful = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
    descriptor = openSync(path, constants.O_RDONLY | careful)
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return { ok: false, reason: 'it is no regular file' }
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, stats.size - offset)))
    let filled = 0
    while (filled < bytes.length) {
      const count = readSync(descriptor, bytes, filled, bytes.length - filled, offset + filled)
      if (count === 0) break
      filled += count
    }
    return { ok: true, bytes: bytes.subarray(0, filled) }
  } catch (error) {
    return { ok: false, reason: messageOf(error) }
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
