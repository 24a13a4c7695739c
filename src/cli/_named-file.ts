import { closeSync, constants, openSync, statSync } from 'node:fs'
import { systemCode, writeFileAtomic } from '../base/index.ts'
import { writeAll } from './sink.ts'

/**
 * Writes what a user named: a file is replaced as a whole, a device or a pipe is written into. Throws
 * the error of the system, or that nobody reads from the pipe.
 */
export async function writeNamedFile(path: string, text: string): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.isFile() || found.isDirectory()) {
    return await writeFileAtomic(path, text)
  }
  const descriptor = openAtOnce(path, constants.O_WRONLY)
  try {
    writeAll(descriptor, Buffer.from(text))
  } finally {
    closeSync(descriptor)
  }
}

/** Whoever waits for the reader of a pipe could not be interrupted. */
export function openAtOnce(path: string, flags: number): number {
  try {
    return openSync(path, flags | (constants.O_NONBLOCK ?? 0), 0o644)
  } catch (error) {
    if (systemCode(error) !== 'ENXIO') throw error
    throw new Error('nobody reads from it, or it is a socket', { cause: error })
  }
}
