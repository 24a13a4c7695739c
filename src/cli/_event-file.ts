import { closeSync, constants, fstatSync } from 'node:fs'
import { reasonOf, UsageError } from '../base/index.ts'
import { openAtOnce } from '../base/write-files.ts'
import { requireWritable } from './_require-writable.ts'
import { writeAll } from '../base/write-files.ts'

/** A file, a pipe or a device that gets lines while a run goes on. */
export interface EventFile {
  /** Throws the error of the system. */
  write(line: string): void
  /** Throws where the file was deleted meanwhile. */
  close(): void
}

/**
 * Opens it once: a pipe would end for its reader with the first line.
 * @throws {UsageError} when it cannot be written, and for a pipe that nobody reads.
 */
export function openEventFile(path: string): EventFile {
  requireWritable(path, '--events', 'append')
  const descriptor = openToAppend(path)
  return {
    write: (line) => writeAll(descriptor, Buffer.from(line)),
    close() {
      const { nlink } = fstatSync(descriptor)
      closeSync(descriptor)
      if (nlink === 0) throw new Error('it was deleted while the run went on')
    },
  }
}

function openToAppend(path: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants
  try {
    return openAtOnce(path, O_WRONLY | O_APPEND | O_CREAT)
  } catch (error) {
    throw new UsageError({
      code: 'file-not-writable',
      message: `--events: ${path} cannot be written: ${reasonOf(error)}`,
      hint: 'Nothing was run. Start the reader of a pipe first.',
      cause: error,
    })
  }
}
