import { isUtf8 } from 'node:buffer'
import { messageOf, systemCode } from '../core/errors.ts'
import { sha256 } from '../core/json.ts'
import { bytesOf, readAll, withRegularFile } from '../core/read-files.ts'

/** A larger file cannot be vouched for: hashing waits for nobody, and a sparse file costs nothing. */
export const maxFileBytes: number = 64 * 1024 * 1024

const keptTextBytes = 64 * 1024

type Digested =
  | { ok: true; digest: string; size: number; text: string | undefined; executable: boolean }
  | { ok: false; problem: string; tooLarge: boolean }

/**
 * Hashes a file of any content without following a link at its end and without waiting on a FIFO or
 * a device.
 * @param limits `textBytes`: up to this size the text is given too.
 */
export function digestFile(
  path: string,
  { maxBytes = maxFileBytes, textBytes = keptTextBytes } = {},
): Digested {
  try {
    return withRegularFile(path, (descriptor, stats): Digested => {
      const { size: said } = stats
      const bytes = said > maxBytes ? undefined : readAll(descriptor, said, maxBytes)
      if (!bytes) return { ok: false, problem: tooLargeProblem, tooLarge: true }
      const isText = bytes.length <= textBytes && isUtf8(bytes) && !bytes.includes(0)
      const text = isText ? bytes.toString('utf8') : undefined
      const executable = (stats.mode & 0o111) !== 0
      return { ok: true, digest: sha256(bytes), size: bytes.length, text, executable }
    })
  } catch (error) {
    return { ok: false, problem: cannotBeRead(error), tooLarge: false }
  }
}

/** The first bytes of a file as Latin-1 text, or '' where it cannot be read. */
export function fileHead(path: string, bytes: number): string {
  try {
    return bytesOf(path, bytes).toString('latin1')
  } catch {
    return ''
  }
}

export function cannotBeRead(error: unknown): string {
  return `cannot be read: ${systemCode(error) ?? messageOf(error)}`
}

const tooLargeProblem = `is too large to vouch for: more than ${maxFileBytes / 1024 / 1024} MiB`
