import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { messageOf, systemCode, UsageError } from '../base/index.ts'
import { requireWritable } from './_require-writable.ts'
import { writeAll } from './sink.ts'

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
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants
  try {
    // Whoever waits for the reader of a pipe could not be interrupted.
    return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o644)
  } catch (error) {
    const reason = systemCode(error) === 'ENXIO' ? 'nobody reads from it' : messageOf(error)
    throw new UsageError({
      code: 'file-not-writable',
      message: `--events: ${path} cannot be written: ${reason}`,
      hint: 'Nothing was run. Start the reader of a pipe first.',
      cause: error,
    })
  }
}
