import { fstatSync, statSync } from 'node:fs'
import { messageOf, SkillrailError, systemCode } from '../base/index.ts'
import { writeAll } from '../base/write-files.ts'

/** Where words go. Writing returns when the system has them. */
export interface Sink {
  readonly isTerminal: boolean
  /** Columns of the terminal; undefined where there is none. */
  readonly columns: number | undefined
  write(text: string): void
}

/**
 * Standard output (1) or standard error (2), written directly: loading Node's stream modules would
 * cost a fifth of a start. When the reader of a pipe has gone, the rest is dropped and the command
 * goes on: `skillrail run … | head` must not end a run. Nor must standard error that cannot be written
 * for whatever reason: the answer does not depend on remarks, and there is nowhere to say it.
 */
export function openSink(descriptor: 1 | 2): Sink {
  const isTerminal = isTty(descriptor)
  const stream = descriptor === 1 ? 'stdout' : 'stderr'
  let gone = false
  return {
    isTerminal,
    get columns() {
      return isTerminal ? process[stream].columns : undefined
    },
    write(text) {
      // The console of Windows takes characters, not UTF-8.
      if (isTerminal && process.platform === 'win32') process[stream].write(text)
      else if (!gone) gone = !writeWhole(descriptor, Buffer.from(text))
    },
  }
}

function isTty(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isCharacterDevice()) return false
    // Asking the system loads Node's network modules: a tenth of a start.
    if (stats.rdev === statSync('/dev/null', { throwIfNoEntry: false })?.rdev) return false
  } catch {
    return false // Closed by whoever started us.
  }
  return process.getBuiltinModule('node:tty').isatty(descriptor)
}

function unwritable(error: unknown): SkillrailError {
  return new SkillrailError({
    code: 'output-unwritable',
    message: `standard output cannot be written: ${messageOf(error)}`,
    hint: 'What was written so far is incomplete.',
    cause: error,
  })
}

/**
 * False when nobody reads any more.
 * @throws {SkillrailError} when standard output cannot be written.
 */
function writeWhole(descriptor: number, bytes: Buffer): boolean {
  try {
    writeAll(descriptor, bytes)
    return true
  } catch (error) {
    if (systemCode(error) === 'EPIPE' || descriptor === 2) return false
    throw unwritable(error)
  }
}
