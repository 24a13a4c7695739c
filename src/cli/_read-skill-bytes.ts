import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { type FileReading, readRegularFile } from '../base/index.ts'

/** Nobody writes larger instructions; the limit keeps a wrong file from filling the memory. */
const maxBytes = 16 * 1024 * 1024

/** Shared by all readings: a buffer a file would be garbage faster than it is collected. */
const shared = Buffer.allocUnsafe(128 * 1024)

export type BytesReading = { ok: true; bytes: Uint8Array } | (FileReading & { ok: false })

/** The bytes of a file, valid until the next reading. What is unusual goes the careful way. */
export function readSkillBytes(path: string): BytesReading {
  const length = readShort(path)
  if (length !== undefined) return { ok: true, bytes: shared.subarray(0, length) }
  return readRegularFile(path, { maxBytes })
}

/** The length of what was read, or undefined where the file is not short, regular and readable. */
function readShort(path: string): number | undefined {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch {
    return undefined
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size >= shared.length) return undefined
    const length = readSync(descriptor, shared, 0, shared.length, 0)
    return length === stats.size ? length : undefined
  } catch {
    return undefined
  } finally {
    closeSync(descriptor)
  }
}
