import { join } from 'node:path'
import { hexDigest, sha256 } from './json.ts'
import { readRegularFile } from './read-files.ts'
import { packageVersion, type Runtime, userDirectories } from './runtime.ts'
import { writeFileAtomicSync } from './write-files.ts'

/**
 * Caches of data that can be derived from files again. A cache contains JSON rows, each with the path, size
 * and modification time of its source file. A reader compares them with the disk. Every cache can be
 * deleted at any time.
 */

/** Returns the file in the user's cache directory for `subject`, such as the path of a folder. */
export function cachePath(
  runtime: Pick<Runtime, 'cwd' | 'env' | 'home'>,
  kind: 'library' | 'hooks' | 'tools',
  subject: string,
): string {
  const name = hexDigest(subject, 32)
  return join(userDirectories(runtime).cache, kind, `${name}.json`)
}

/**
 * Returns the data from {@link writeCache}, or `absent` if the file is missing, damaged, for another
 * `version` or from another version of Skillrail. The checksum guarantees that the data is unchanged, so
 * no reader has to check its shape.
 */
export function readCache<Data>(path: string, version: string, absent: Data): Data {
  try {
    const reading = readRegularFile(path, { maxBytes: Infinity, binary: true, own: true })
    if (!reading.ok) return absent
    const file = reading.bytes
    const end = file.indexOf(10)
    const body = file.subarray(end + 1)
    if (end < 0 || file.toString('utf8', 0, end) !== headOf(version, body)) return absent
    return JSON.parse(body.toString('utf8'))
  } catch {
    return absent
  }
}

/** Replaces the cache at `path`. A cache that cannot be written is not an error. */
export function writeCache(path: string, version: string, data: unknown): void {
  const body = Buffer.from(JSON.stringify(data))
  try {
    writeFileAtomicSync(path, `${headOf(version, body)}\n${body.toString('utf8')}`, { mode: 0o600 })
  } catch {
    // A read-only or full disk: the next process derives the data again.
  }
}

function headOf(version: string, body: Uint8Array): string {
  return JSON.stringify({ skillrail: packageVersion(), version, sum: sha256(body) })
}
