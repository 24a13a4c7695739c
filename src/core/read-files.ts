import { isUtf8 } from 'node:buffer'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { lookProblem, reasonOf, StateFileError, systemCode } from './errors.ts'
import type { Runtime } from './runtime.ts'
import { withoutMark } from './text.ts'

export type FileReading =
  | (Pick<Stats, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino'> & {
      ok: true
      bytes: Buffer
      /** Without a byte-order mark, unless `keepMark` says otherwise. */
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
  /** For a store of the user: refuses links, and files that another account can write; default false. */
  own?: boolean | undefined
  /** Accepts files that are not text, for callers that need only `bytes`; default false. */
  binary?: boolean | undefined
  /** Keeps a byte-order mark in `text`, for callers that check it or write the text back; default false. */
  keepMark?: boolean | undefined
}

/** Reads a file that may be hostile: refuses FIFOs and devices, reads at most `maxBytes`. Never throws. */
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

/** Opens a file without waiting for the writer of a FIFO. Both flags are 0 on Windows. */
function openAtOnce(path: string, followSymlinks: boolean): number {
  const noFollow = followSymlinks ? 0 : (constants.O_NOFOLLOW ?? 0)
  return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | noFollow)
}

/**
 * Returns the result of `read` for a regular file that may be hostile. A link at the end of the path is
 * followed only with `followSymlinks`. Throws the system error, and an error if the file is not regular.
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

/** Returns up to `length` bytes of a regular file; throws like {@link withRegularFile}. */
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
  { maxBytes, binary = false, own = false, keepMark = false }: ReadRegularFileOptions,
): FileReading {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) {
    const kind = stats.isDirectory() ? 'a directory' : 'no regular file'
    return refusal('file-not-regular', `${path} is ${kind}`)
  }
  if (stats.size > maxBytes) return tooLarge(path, stats.size, maxBytes)
  const sharedPath = own ? sharedPlace(path, stats) : undefined
  if (sharedPath !== undefined) {
    return refusal('file-shared', `another account can write ${sharedPath}, so it is not trusted`)
  }
  const bytes = readAll(descriptor, stats.size, maxBytes)
  if (!bytes) return tooLarge(path, undefined, maxBytes)
  if (!binary && !isUtf8(bytes)) return refusal('file-not-utf8', `${path} is not UTF-8 text`)
  const text = bytes.toString('utf8')
  return {
    ok: true,
    bytes,
    text: keepMark ? text : withoutMark(text),
    size: bytes.length,
    mtimeMs: stats.mtimeMs,
    ctimeMs: stats.ctimeMs,
    ino: stats.ino,
  }
}

/** Reads to the end, even if the file has grown beyond `expected`; undefined above `maxBytes`. */
export function readAll(
  descriptor: number,
  expectedBytes: number,
  maxBytes: number,
): Buffer | undefined {
  let buffer = Buffer.allocUnsafe(Math.min(expectedBytes, maxBytes) + 1)
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
  const sizeText = size === undefined ? 'larger than' : `${size} bytes; the limit is`
  return refusal('file-too-large', `${path} is ${sizeText} ${maxBytes} bytes`)
}

/** Returns the error for a user's store that {@link readRegularFile} refuses as `file-shared`. */
export function sharedStore(message: string): StateFileError {
  const hint = 'Check who wrote it. To make it yours: chown $(id -u) PATH && chmod go-w PATH'
  return new StateFileError({ code: 'store-shared', message, hint })
}

/** Returns the path that another account can write: the file or its directory. Windows has no such bits. */
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

/** Whether `path` is `root` or is below it. Compares resolved text; links are not followed. */
export function isInside(root: string, path: string): boolean {
  if (path.startsWith(`${root}${sep}`) && isAbsolute(root) && !needsResolving.test(path))
    return true
  const way = relative(resolve(root), resolve(path))
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/**
 * Matches a path that must be resolved. Resolving takes ten times longer than this check, and a plan checks
 * every path.
 */
const needsResolving = sep === '/' ? /\/\.{0,2}(?:\/|$)/ : /^/

/**
 * Resolves a path in a skill to a regular file inside `root`, the skill's directory. Links must stay inside.
 * Backslashes are refused, so that a skill means the same on every system. Files that no digest of a skill
 * covers are refused too; see `outsideSkill`.
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
  let realPath: string
  try {
    realPath = realpathSync.native(resolve(root, path))
    const realRoot = realRootOf(root, resolve(root, path), realPath)
    if (!isInside(realRoot, realPath)) return escapes(root, path)
    const reason = outsideSkill(relative(realRoot, realPath))
    if (reason !== undefined) return refuseInside('path-left-out', `${path} in ${root} ${reason}`)
    if (!statSync(realPath).isFile()) {
      return refuseInside('path-not-regular', `${path} in ${root} is not a regular file`)
    }
  } catch {
    return refuseInside('path-missing', `${path} does not exist in ${root}`)
  }
  return { ok: true, path: realPath }
}

/**
 * Returns the real path of a directory. It is resolved only if the way to `path` has a link, because that
 * takes most of the time that a plan spends on a script. `realPath` is the real path of `path`.
 */
export function realRootOf(root: string, path: string, realPath: string): string {
  return realPath === path ? resolve(root) : realpathSync.native(root)
}

function escapes(root: string, path: string): InsideResolution {
  return refuseInside('path-escapes', `${path} leads out of ${root}`)
}

function refuseInside(code: InsideCode, message: string): InsideResolution {
  return { ok: false, code, message }
}

/**
 * Folders at the top of a skill that are not a part of it: a project's history and Skillrail's files, if a
 * whole project is a skill. They change with every commit and run.
 */
export const foldersOutsideSkill: readonly string[] = ['.git', '.skillrail']

/**
 * Whether file managers and editors leave behind files of this name: `.DS_Store`, `Thumbs.db`,
 * `desktop.ini` and vim's swap files. No digest of a skill covers such a file, so Skillrail must not run,
 * read or offer it.
 */
export function isLeftBehind(name: string): boolean {
  return leftBehind.test(name)
}

/** Ignores case: on some disks `.ds_store` opens `.DS_Store`. */
const leftBehind = /^(?:\.ds_store|thumbs\.db|desktop\.ini|\..+\.sw[op])$/i

/**
 * Returns why a file is not a part of a skill, as in "PATH …", or undefined if it is.
 * @param way the path of the real file relative to the skill's real directory, in any case.
 */
export function outsideSkill(way: string): string | undefined {
  const names = way.split(/[/\\]/)
  const top = names[0]?.toLowerCase() ?? ''
  if (foldersOutsideSkill.includes(top)) return `is in ${top}, which is not part of a skill`
  if (!isLeftBehind(names.at(-1) ?? '')) return undefined
  return 'has a name that file managers and editors use, and is not part of a skill'
}

/** Returns a text that changes when one of the files is changed, created or removed. */
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

/** Returns the stats of a path, following links; undefined if it does not exist or is not accessible. */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Whether a path exists; also true for a broken link and for a file without read permission. */
export function isPresent(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return lookProblem(error) !== undefined
  }
}

export function isDirectory(path: string): boolean {
  return statsOf(path)?.isDirectory() === true
}

/**
 * Returns the path with every link resolved, or undefined if it does not exist or its bytes are not UTF-8:
 * as text they would name another file. The system resolves the path, because `fs.realpathSync` without
 * `native` resolves `..` in a link's target relative to the link itself.
 */
export function realPathOf(path: string): string | undefined {
  try {
    const pathBytes = realpathSync.native(path, { encoding: 'buffer' })
    return isUtf8(pathBytes) ? pathBytes.toString() : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the workspace of a directory as a real path: the nearest directory with `.git`, upwards from it,
 * else the directory itself. The user's home, or a directory above it, is a workspace only if it is the
 * directory itself: a home in Git must not include every folder in it.
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
