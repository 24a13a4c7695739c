import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { systemCode } from './errors.ts'
import { makeDirectory } from './make-directory.ts'
import { makePrivateDirectory } from './private-directory.ts'
import { randomText } from './random-text.ts'

export interface AtomicWriteOptions {
  /** Permission bits of the new file; default: those of the file it replaces, else 0o644. */
  mode?: number | undefined
}

/**
 * Replaces a file as a whole: a reader sees the old content or the new, also after a crash.
 * Missing directories are made, for a private file private ones; a symbolic link keeps pointing where it did and its target is
 * replaced. A device or a pipe is no file that could be replaced: it is written into. Throws the system
 * error when the disk is full, read-only or forbidden; the old file is then untouched and nothing is
 * left behind.
 */
export function writeFileAtomicSync(
  path: string,
  content: string | Uint8Array,
  options: AtomicWriteOptions = {},
): void {
  if (isNoFile(path)) return writeWhole(path, content, constants.O_WRONLY)
  const target = realTarget(path)
  const directory = dirname(target)
  const mode = options.mode ?? existingMode(target) ?? 0o644
  if ((mode & 0o077) === 0) makePrivateDirectory(directory)
  else makeDirectory(directory)
  const temporary = join(directory, `.${basename(target)}.${randomText(10)}.tmp`)
  try {
    writeWhole(temporary, content, 'wx', mode)
    renameSync(temporary, target)
  } catch (error) {
    removeIfThere(temporary)
    throw error
  }
  syncDirectory(directory)
}

/** {@link writeFileAtomicSync} as a promise, for public methods that touch a disk. */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  writeFileAtomicSync(path, content, options)
}

/** With a mode the file is new, and on the disk when this returns. */
function writeWhole(
  path: string,
  content: string | Uint8Array,
  flags: string | number,
  mode?: number,
): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const descriptor = openSync(path, flags, mode)
  try {
    for (let written = 0; written < bytes.length;) {
      written += writeSync(descriptor, bytes, written)
    }
    if (mode !== undefined) fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Whether something is there that neither is a regular file nor a directory. */
function isNoFile(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && !stats.isFile() && !stats.isDirectory()
}

function realTarget(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return path
    throw error
  }
}

function existingMode(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? undefined : stats.mode & 0o777
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // The write never got far enough to make it, or the directory is gone: nothing is left behind.
  }
}

function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return // Windows opens no directory as a file.
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
