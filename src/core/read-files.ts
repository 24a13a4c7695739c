import { isUtf8 } from 'node:buffer'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { reasonOf, StateFileError, systemCode } from './errors.ts'
import type { Runtime } from './runtime.ts'

export type FileReading =
  | (Pick<Stats, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino'> & {
      ok: true
      bytes: Buffer
      text: string
    })
  | { ok: false; code: FileReadingCode; message: string }

export type FileReadingCode =
  | 'file-missing'
  | 'file-unreadable'
  | 'file-not-regular'
  | 'file-too-large'
  | 'file-not-utf8'
  | 'file-shared'

interface ReadRegularFileOptions {
  maxBytes: number
  /** Whether a symbolic link as the last part of the path is followed; default true. */
  followSymlinks?: boolean | undefined
  /** A store of the user: a link is refused, and what another account could write; default false. */
  own?: boolean | undefined
  /** Also what is not text, for whom `bytes` are enough; default false. */
  binary?: boolean | undefined
}

/** Reads a file that may be hostile: no FIFO or device, at most `maxBytes`. Never throws. */
export function readRegularFile(path: string, options: ReadRegularFileOptions): FileReading {
  let descriptor: number
  const { own, followSymlinks = own !== true } = options
  try {
    descriptor = openAtOnce(path, followSymlinks)
  } catch (error) {
    return openingFailed(path, error, followSymlinks)
  }
  try {
    return readOpened(path, descriptor, options)
  } catch (error) {
    return refusal('file-unreadable', `${path} cannot be read: ${reasonOf(error)}`)
  } finally {
    closeSync(descriptor)
  }
}

/** Opening a FIFO for reading would otherwise wait for a writer. Both flags are 0 on Windows. */
function openAtOnce(path: string, followSymlinks: boolean): number {
  const noFollow = followSymlinks ? 0 : (constants.O_NOFOLLOW ?? 0)
  return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | noFollow)
}

/**
 * What `read` makes of a regular file that may be hostile: no link at its end is followed, unless
 * `followSymlinks` says so. Throws for anything else than a regular file, and the error of the system.
 */
export function withRegularFile<T>(
  path: string,
  read: (descriptor: number, stats: Stats) => T,
  followSymlinks = false,
): T {
  const descriptor = openAtOnce(path, followSymlinks)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw new Error('it is not a regular file')
    return read(descriptor, stats)
  } finally {
    closeSync(descriptor)
  }
}

/** Up to `length` bytes of a regular file; throws as {@link withRegularFile}. */
export function bytesOf(
  path: string,
  length: number,
  { offset = 0, followSymlinks = false } = {},
): Buffer {
  const read = (descriptor: number, { size }: Stats): Buffer => {
    const bytes = Buffer.allocUnsafe(Math.min(length, Math.max(4096, size - offset)))
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, offset))
  }
  return withRegularFile(path, read, followSymlinks)
}

function openingFailed(path: string, error: unknown, followSymlinks: boolean): FileReading {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return refusal('file-missing', `${path} does not exist`)
  }
  const kind = followSymlinks ? 'a circular symbolic link' : 'a symbolic link'
  if (code === 'ELOOP') return refusal('file-not-regular', `${path} is ${kind}`)
  if (code === 'EISDIR') return refusal('file-not-regular', `${path} is a directory`)
  return refusal('file-unreadable', `${path} cannot be read: ${reasonOf(error)}`)
}

function readOpened(
  path: string,
  descriptor: number,
  { maxBytes, binary = false, own = false }: ReadRegularFileOptions,
): FileReading {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) {
    const kind = stats.isDirectory() ? 'a directory' : 'no regular file'
    return refusal('file-not-regular', `${path} is ${kind}`)
  }
  if (stats.size > maxBytes) return tooLarge(path, stats.size, maxBytes)
  const shared = own ? sharedPlace(path, stats) : undefined
  if (shared !== undefined) {
    return refusal('file-shared', `another account can write ${shared}, so it is not trusted`)
  }
  const bytes = readAll(descriptor, stats.size, maxBytes)
  if (!bytes) return tooLarge(path, undefined, maxBytes)
  if (!binary && !isUtf8(bytes)) return refusal('file-not-utf8', `${path} is not UTF-8 text`)
  return {
    ok: true,
    bytes,
    text: bytes.toString('utf8'),
    size: bytes.length,
    mtimeMs: stats.mtimeMs,
    ctimeMs: stats.ctimeMs,
    ino: stats.ino,
  }
}

/** Reads to the end even if the file grew since it was measured; undefined past `maxBytes`. */
export function readAll(
  descriptor: number,
  expected: number,
  maxBytes: number,
): Buffer | undefined {
  let buffer = Buffer.allocUnsafe(Math.min(expected, maxBytes) + 1)
  let length = 0
  for (;;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null)
    if (count === 0) return buffer.subarray(0, length)
    length += count
    if (length > maxBytes) return undefined
    if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
  }
}

function tooLarge(path: string, size: number | undefined, maxBytes: number): FileReading {
  const measured = size === undefined ? 'larger than' : `${size} bytes; the limit is`
  return refusal('file-too-large', `${path} is ${measured} ${maxBytes} bytes`)
}

/** The error for a store of the user that {@link readRegularFile} refuses as `file-shared`. */
export function sharedStore(message: string): StateFileError {
  const hint = 'Check who wrote it. To make it yours: chown $(id -u) PATH && chmod go-w PATH'
  return new StateFileError({ code: 'store-shared', message, hint })
}

/** What of a file and its directory another account can write; Windows has no such bits. */
function sharedPlace(path: string, stats: Stats): string | undefined {
  const user = process.getuid?.()
  const isShared = ({ mode, uid }: Stats) => (mode & 0o022) !== 0 || (uid !== user && uid !== 0)
  if (user === undefined) return undefined
  if (isShared(stats)) return path
  const directory = dirname(path)
  return isShared(statSync(directory)) ? directory : undefined
}

function refusal(code: FileReadingCode, message: string): FileReading {
  return { ok: false, code, message }
}

export type InsideResolution =
  | { ok: true; path: string }
  | { ok: false; code: InsideCode; message: string }

type InsideCode =
  | 'path-absolute'
  | 'path-escapes'
  | 'path-left-out'
  | 'path-missing'
  | 'path-not-regular'
  | 'path-nul'

/** Whether `path` is `root` or lies below it. Compares resolved text; links are not followed. */
export function isInside(root: string, path: string): boolean {
  if (path.startsWith(`${root}${sep}`) && isAbsolute(root) && !unresolved.test(path)) return true
  const way = relative(resolve(root), resolve(path))
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** Resolving costs ten times this look at a text that needs none, and every path of a plan is asked about. */
const unresolved = sep === '/' ? /\/\.{0,2}(?:\/|$)/ : /^/

/**
 * Resolves a path that a skill names to a regular file inside `root`, the skill's directory, following
 * links only to find out that they stay inside. Backslashes are refused so that one skill means the
 * same everywhere, and so is what no digest of a skill has; see `outsideSkill`.
 */
export function resolveInside(root: string, path: string): InsideResolution {
  if (path.includes('\0')) return refuseInside('path-nul', `the path contains a NUL character`)
  if (isAbsolute(path) || /^[A-Za-z]:/.test(path)) {
    return refuseInside('path-absolute', `${path} is absolute; a path must be relative to ${root}`)
  }
  if (path.includes('\\')) {
    return refuseInside('path-escapes', `${path} contains a backslash; separate directories with /`)
  }
  if (!isInside(root, resolve(root, path))) return escapes(root, path)
  return resolveLinks(root, path)
}

function resolveLinks(root: string, path: string): InsideResolution {
  let real: string
  try {
    real = realpathSync.native(resolve(root, path))
    const realRoot = realRootOf(root, resolve(root, path), real)
    if (!isInside(realRoot, real)) return escapes(root, path)
    const outside = outsideSkill(relative(realRoot, real))
    if (outside !== undefined) return refuseInside('path-left-out', `${path} in ${root} ${outside}`)
    if (!statSync(real).isFile()) {
      return refuseInside('path-not-regular', `${path} in ${root} is not a regular file`)
    }
  } catch {
    return refuseInside('path-missing', `${path} does not exist in ${root}`)
  }
  return { ok: true, path: real }
}

/**
 * The real path of a directory. It is resolved only where a link is on the way to `path`, since
 * that costs most of what a script costs a plan. `real` is the real path of `path`.
 */
export function realRootOf(root: string, path: string, real: string): string {
  return real === path ? resolve(root) : realpathSync.native(root)
}

function escapes(root: string, path: string): InsideResolution {
  return refuseInside('path-escapes', `${path} leads out of ${root}`)
}

function refuseInside(code: InsideCode, message: string): InsideResolution {
  return { ok: false, code, message }
}

/**
 * Folders at the top of a skill that are none of it, such as where a whole project is one skill: its
 * history, and what Skillrail keeps. They change with every commit and run.
 */
export const foldersOutsideSkill: readonly string[] = ['.git', '.skillrail']

/**
 * Names of files that file managers and editors leave behind: `.DS_Store`, `Thumbs.db`, `desktop.ini`
 * and the swap files of vim. No digest of a skill has such a file, so none may be run, read or offered.
 */
export function isLeftBehind(name: string): boolean {
  return leftBehind.test(name)
}

/** In any spelling: some disks find `.DS_Store` for `.ds_store`. */
const leftBehind = /^(?:\.ds_store|thumbs\.db|desktop\.ini|\..+\.sw[op])$/i

/**
 * Why a file is none of a skill, as in "PATH …", or undefined where it is.
 * @param way of the real file from the real directory of the skill, in any spelling.
 */
export function outsideSkill(way: string): string | undefined {
  const names = way.split(/[/\\]/)
  const top = names[0]?.toLowerCase() ?? ''
  if (foldersOutsideSkill.includes(top)) return `lies in ${top}, which is not part of a skill`
  if (!isLeftBehind(names.at(-1) ?? '')) return undefined
  return 'has a name that file managers and editors use, and is not part of a skill'
}

/** Changes when one of the files changes, appears or goes. */
export function fileIdentity(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const stats = statsOf(path)
      if (!stats) return '-'
      const { dev, ino, size, mtimeMs, ctimeMs } = stats
      return `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`
    })
    .join('\n')
}

/** What a path leads to; undefined where nothing is there, or it cannot be looked at. */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

export function isDirectory(path: string): boolean {
  return statsOf(path)?.isDirectory() === true
}

/**
 * Returns the path with every link resolved, or undefined where it leads nowhere or its bytes are
 * not UTF-8: as text they would name something else. The system resolves it: `fs.realpathSync`
 * without `native` takes `..` in the text of a link for the parent of the link.
 */
export function realPathOf(path: string): string | undefined {
  try {
    const real = realpathSync.native(path, { encoding: 'buffer' })
    return isUtf8(real) ? real.toString() : undefined
  } catch {
    return undefined
  }
}

/**
 * The workspace that a directory belongs to, as a real path: the nearest directory above it that
 * holds `.git`, else the directory itself. The user's home, or one above it, is a workspace only
 * where it is asked for by name: a home kept in Git must not cover every folder unpacked in it.
 */
export function findWorkspace(directory: string, runtime: Pick<Runtime, 'home'>): string {
  const start = realPathOf(directory) ?? directory
  const home = realPathOf(runtime.home) ?? runtime.home
  for (let candidate = start; ; candidate = dirname(candidate)) {
    if (isInside(candidate, home)) return start
    if (existsSync(join(candidate, '.git'))) return candidate
    if (dirname(candidate) === candidate) return start
  }
}
