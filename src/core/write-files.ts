import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { StateFileError, systemCode } from './errors.ts'
import { isDirectory, isInside, realPathOf, statsOf } from './read-files.ts'
import { uniqueText } from './runtime.ts'

export interface AtomicWriteOptions {
  /** Permission bits of the new file; default: those of the file it replaces, else 0o644. */
  mode?: number | undefined
  /** The real path of a directory that no link may lead out of; default: links are followed. */
  within?: string | undefined
}

/**
 * Replaces a file atomically: a reader sees the old or the new content, even after a crash. Creates missing
 * directories, private ones for a private file. A symbolic link stays, and its target is replaced.
 * @throws {StateFileError} for a device or a pipe, which other programs may use, and for a link that leads
 * out of `within`; the system error if the disk is full, read-only or not accessible. The old file is then
 * unchanged, and no temporary file remains.
 */
export function writeFileAtomicSync(
  path: string,
  content: string | Uint8Array,
  options: AtomicWriteOptions = {},
): void {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  const stats = entry?.isSymbolicLink() ? statsOf(path) : entry
  if (stats && !stats.isFile() && !stats.isDirectory()) {
    const message = `${path} cannot be written: it is a device or a pipe, or leads to one`
    const hint = 'Remove it if no other program uses it.'
    throw new StateFileError({ code: 'file-not-regular', message, hint })
  }
  const target = entry?.isSymbolicLink() ? realTarget(path) : path
  if (options.within !== undefined) requireWithin(options.within, path)
  const directory = dirname(target)
  const mode = options.mode ?? (stats ? stats.mode & 0o777 : 0o644)
  const isPrivate = (mode & 0o077) === 0
  if (isPrivate) makePrivateDirectory(directory)
  else makeDirectory(directory)
  // Only for shared files: in a project, a user would see the leftovers of a killed process.
  if (!isPrivate) removeLeftovers(directory, basename(target))
  const temporary = join(directory, `.${basename(target)}.${uniqueText(10)}.tmp`)
  try {
    writeWhole(temporary, content, mode)
    renameSync(temporary, target)
  } catch (error) {
    removeIfThere(temporary)
    throw error
  }
  syncDirectory(directory)
}

/** {@link writeFileAtomicSync} as a promise, for public methods that write files. */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  writeFileAtomicSync(path, content, options)
}

function writeWhole(path: string, content: string | Uint8Array, mode: number): void {
  const descriptor = openSync(path, 'wx', mode)
  try {
    writeAll(descriptor, typeof content === 'string' ? Buffer.from(content) : content)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function realTarget(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return path
    throw error
  }
}

/** Throws {@link StateFileError} if a path, or its nearest existing ancestor, leads out of `root`. */
export function requireWithin(root: string, path: string): void {
  let place = resolve(path)
  while (!lstatSync(place, { throwIfNoEntry: false })) place = dirname(place)
  const realPath = realPathOf(place)
  if (realPath !== undefined && isInside(root, realPath)) return
  const message = `${path} was not written: a link leads out of ${root}, to ${realPath ?? 'nowhere'}`
  const hint = 'Replace the link by a file or a folder, or name its target yourself.'
  throw new StateFileError({ code: 'write-outside', message, hint })
}

const leftoverAgeMs = 60_000

/** Removes temporary files of earlier writes, unless another process may still use them. */
function removeLeftovers(directory: string, name: string): void {
  for (const entry of readdirSync(directory)) {
    if (!entry.startsWith(`.${name}.`) || !/\.[0-9a-z]{10}\.tmp$/.test(entry)) continue
    const path = join(directory, entry)
    const { mtimeMs } = lstatSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
    if (Date.now() - mtimeMs > leftoverAgeMs) removeIfThere(path)
  }
}

export function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch {} // The file was never created, or its directory is gone.
}

function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return // Windows cannot open a directory as a file.
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Creates a directory and its missing ancestors; existing ones stay unchanged. Node's option `recursive` is
 * not used, because it never returns if the system reports ENOENT for an existing directory, as in /proc.
 * @param mode the mode of each new directory, before the umask.
 * @throws the system error if a directory cannot be created, or a path is not a directory.
 */
export function makeDirectory(path: string, mode = 0o777): void {
  const directory = resolve(path)
  if (isDirectory(directory)) return
  const parent = dirname(directory)
  if (parent !== directory && !statsOf(parent)) makeDirectory(parent, mode)
  try {
    mkdirSync(directory, { mode })
  } catch (error) {
    // Another process may have created it in the meantime.
    if (systemCode(error) !== 'EEXIST' || !isDirectory(directory)) throw error
  }
}

const sharedDirectory = '.skillrail'

/**
 * Creates a directory for files that only the user can read, and its missing ancestors, with mode 0700, as
 * the XDG Base Directory Specification requires. Existing directories stay unchanged.
 */
export function makePrivateDirectory(path: string): void {
  const parts = resolve(path).split(sep)
  const sharedIndex = parts.lastIndexOf(sharedDirectory)
  if (sharedIndex >= 0) makeDirectory(parts.slice(0, sharedIndex + 1).join(sep))
  makeDirectory(path, 0o700)
}

const oldestMs = 7 * 24 * 3600 * 1000

/**
 * Limits a directory of small files: from `most` files on, removes files older than a week; above four times
 * as many, all files.
 */
export function forgetOldFiles(directory: string, nowMs: number, most: number): void {
  const names = readdirSync(directory)
  if (names.length < most) return
  for (const name of names) {
    const path = join(directory, name)
    const age = nowMs - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? nowMs)
    if (age > oldestMs || names.length > 4 * most) rmSync(path, { recursive: true, force: true })
  }
}

/** Replaces a file that a user specified, or writes into a device or pipe. @throws the system error */
export async function writeNamedFile(path: string, text: string): Promise<void> {
  const stats = statsOf(path)
  if (!stats || stats.isFile() || stats.isDirectory()) {
    return await writeFileAtomic(path, text)
  }
  const descriptor = openAtOnce(path, constants.O_WRONLY)
  try {
    writeAll(descriptor, Buffer.from(text))
  } finally {
    closeSync(descriptor)
  }
}

/** Opens a file without waiting for the reader of a pipe: that wait could not be interrupted. */
export function openAtOnce(path: string, flags: number): number {
  try {
    return openSync(path, flags | (constants.O_NONBLOCK ?? 0), 0o644)
  } catch (error) {
    if (systemCode(error) !== 'ENXIO') throw error
    throw new Error('no process reads from it, or it is a socket', { cause: error })
  }
}

/** Writes all bytes, even into a full non-blocking pipe. Throws the system error. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length;) {
    try {
      offset += writeSync(descriptor, bytes, offset)
    } catch (error) {
      if (systemCode(error) !== 'EAGAIN') throw error
      // Wait a millisecond for the pipe's reader.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}
