import { isUtf8 } from 'node:buffer'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs'
import { basename, join, posix, relative, sep } from 'node:path'
import { compareText } from '../core/diagnostic.ts'
import { digestOf, openSha256, sha256 } from '../core/json.ts'
import {
  foldersOutsideSkill,
  isInside,
  isLeftBehind,
  outsideSkill,
  realPathOf,
} from '../core/read-files.ts'
import { messageOf, systemCode } from '../core/errors.ts'
import type { ActingPart } from './model.ts'

/** A file of a skill; `path` is relative to the skill's directory. */
export interface SkillFile extends Omit<ActingPart, 'owner'> {
  /** Set where somebody may execute it. */
  executable?: true | undefined
}

interface SkillFilesOptions {
  /** Paths that the field `run` and hooks name: such a file acts whatever it looks like. */
  runs?: readonly string[] | undefined
  /**
   * Lines for a shell: a file or folder whose name stands in one may be what it runs. Names that a
   * shell would put together first, as of `*.md`, are not seen.
   */
  commands?: readonly string[] | undefined
  /** Whether files that cannot act are listed too, as `text`. */
  text: boolean
  /** Whether the skill is the whole workspace, whose history and state are none of it. */
  isWorkspace: boolean
  /** Whether a link that leads out of the skill is `named`, by where it leads, or cannot be accepted. */
  linksOut: 'named' | 'refused'
}

/** A skill with more entries than this cannot be vouched for. */
const maxEntries = 20_000

/** Nor can one with more bytes to hash: every call would wait for them. */
const maxBytes = 256 * 1024 * 1024

/**
 * The files of a skill that can act: below `scripts/`, named by `run` or in a hook, executable, or code
 * by their name or first line. Every link acts, since it can put any file in the place of a script.
 * What cannot be read, is not a file, or goes away while it is read, can never be accepted. Files that
 * editors leave behind are not part of a skill: nothing of ours reads them.
 */
export function skillFiles(directory: string, options: SkillFilesOptions): SkillFile[] {
  const files: SkillFile[] = []
  // By its real path: `run: a/../b.md` names b.md, and on some disks so does `B.md`.
  const runs = new Map(options.runs?.map((run) => [run, realPathOf(join(directory, run))]))
  const programs = new Set(runs.values())
  const commands = unquoted((options.commands ?? []).join('\n'))
  let entries = 0
  let left = maxBytes
  visit(directory, '', false, new Set([directory]))
  if (entries > maxEntries) files.push(tooMany())
  for (const [run, real] of runs) {
    if (isLeftOut(directory, options, run, real)) files.push(runLeftOut(directory, run))
  }
  return files

  function visit(real: string, way: string, acting: boolean, above: ReadonlySet<string>): void {
    for (const name of namesIn(real, way)) {
      entries++
      if (entries > maxEntries || left < 0) return
      if (way === '' && options.isWorkspace && foldersOutsideSkill.includes(name)) continue
      const path = way === '' ? name : `${way}/${name}`
      const place = join(real, name)
      const isNamed = commands !== '' && commands.includes(unquoted(name))
      const acts = acting || isNamed || path.toLowerCase() === 'scripts' || programs.has(place)
      const entry = entryStats(place)
      if (entry.kind !== 'there') {
        const problem = entry.kind === 'missing' ? 'was removed while it was read' : entry.problem
        files.push({ ...unreadable(path), problem })
      } else if (entry.stats.isSymbolicLink()) followLink(place, path, acts, above)
      else if (!isLeftBehind(name) || !entry.stats.isFile()) {
        take(place, path, entry.stats, acts, above)
      } else if (isNamed && !programs.has(place)) files.push(runLeftOut(directory, path))
    }
  }

  function take(
    real: string,
    path: string,
    stats: Stats,
    acts: boolean,
    above: ReadonlySet<string>,
  ): void {
    if (stats.isDirectory()) return visit(real, path, acts, new Set([...above, real]))
    const executable = (stats.mode & 0o111) !== 0
    if (acts || canAct(path, executable, () => fileHead(real, 2))) {
      files.push(fileOf(real, path, 'script'))
    } else if (options.text) files.push(fileOf(real, path, 'text'))
  }

  function followLink(link: string, path: string, acts: boolean, above: ReadonlySet<string>): void {
    const reading = readLink(link)
    if (!reading.ok) {
      files.push({ ...unreadable(path), problem: reading.problem })
      return
    }
    const { target } = reading
    const real = realPathOf(link)
    const entry = real === undefined ? undefined : entryStats(real)
    if (real === undefined || entry?.kind === 'missing') files.push(linkOf(path, target, ''))
    else if (entry?.kind !== 'there') files.push({ ...unreadable(path), problem: entry?.problem })
    else if (!isInside(directory, real)) {
      const problem = `is a link to ${target}, outside the skill, so it cannot be verified`
      const isNamed = options.linksOut === 'named'
      files.push(isNamed ? linkOf(path, target, '') : { ...unreadable(path), problem })
    } else if (!entry.stats.isDirectory()) {
      const file = fileOf(real, path, 'script')
      files.push(file.problem === undefined ? linkOf(path, target, file.digest) : file)
    } else {
      files.push(linkOf(path, target, ''))
      if (!above.has(real)) take(real, path, entry.stats, acts, above)
    }
  }

  /** Bytes that are not text could stand for another name, whose file would be looked at instead. */
  function namesIn(real: string, way: string): string[] {
    let names: Buffer[]
    try {
      names = readdirSync(real, { encoding: 'buffer' })
    } catch {
      files.push({ ...unreadable(way === '' ? '.' : way), problem: 'cannot be listed' })
      return []
    }
    const bad = names.find((name) => !isUtf8(name))
    if (bad !== undefined) {
      const path = way === '' ? bad.toString() : `${way}/${bad.toString()}`
      files.push({ ...unreadable(path), problem: 'has a name that is not UTF-8' })
    }
    return names.filter((name) => isUtf8(name)).map((name) => name.toString())
  }

  function fileOf(real: string, path: string, kind: 'script' | 'text'): SkillFile {
    const file = digestFile(real, Math.min(maxFileBytes, left))
    left -= file.size
    if (!file.ok) {
      const isLast = file.tooLarge && left < maxFileBytes
      if (isLast) left = -1
      return { ...unreadable(path), problem: isLast ? skillTooLarge : file.problem }
    }
    const { digest, size, text } = file
    const executable = file.executable ? true : undefined
    if (kind === 'text') return { path, kind, digest, size, text, executable }
    const head = text?.slice(0, 128) ?? fileHead(real, 128)
    return { path, kind, digest, size, text, executable, interpreter: interpreterOf(path, head) }
  }
}

/** What a link leads to counts, and so does where it leads. */
function linkOf(path: string, target: string, content: string): SkillFile {
  return {
    path,
    kind: 'script',
    digest: linkDigest(target, content),
    size: 0,
    link: target,
  }
}

/** As a shell reads it, and a disk that knows no case. */
function unquoted(text: string): string {
  return text
    .replaceAll(/["'\\]/g, '')
    .normalize('NFC')
    .toLowerCase()
}

/** What is left out can change unseen, so nothing of it may be what the skill runs. */
function isLeftOut(
  directory: string,
  { isWorkspace }: SkillFilesOptions,
  run: string,
  real: string | undefined,
): boolean {
  const path = join(directory, run)
  return [path, real ?? path].some(
    (place) =>
      isLeftBehind(basename(place)) ||
      (isWorkspace && outsideSkill(relative(directory, place)) !== undefined),
  )
}

function runLeftOut(directory: string, run: string): SkillFile {
  const problem = 'is run by the skill and lies where it cannot be verified'
  return { ...unreadable(workspaceRelative(directory, join(directory, run))), problem }
}

function tooMany(): SkillFile {
  return { ...unreadable('.'), problem: `has more than ${maxEntries} files and directories` }
}

const skillTooLarge = `is too large to vouch for: with it the skill has more than ${maxBytes / 1024 / 1024} MiB`

function unreadable(path: string): SkillFile {
  return { path, kind: 'script', digest: unreadableDigest, size: 0 }
}

/** Where the lock of a project lies, relative to the workspace. */
export const lockPath = '.skillrail/skills.lock.json'

/**
 * Everything in a skill, text and code alike, by the rules for what acts. In a workspace that is a
 * skill itself, `.git` and `.skillrail` are not of the skill: there lie its history, the lock and what
 * every run leaves behind. A link that leads out of the skill is refused: what lies there could be
 * exchanged unseen.
 *
 * @param directory real path.
 */
export function skillTree(workspace: string, directory: string): SkillTree {
  const isWorkspace = directory === workspace
  const files = skillFiles(directory, { text: true, isWorkspace, linksOut: 'refused' }).toSorted(
    (a, b) => compareText(a.path, b.path),
  )
  const whole = files.every(({ digest }) => digest !== unreadableDigest)
  const executable = executableIn(files)
  const digests = files.map(({ path, digest }): [string, string] => [path, digest])
  return { digest: whole ? treeDigest(digests, executable) : undefined, executable, files }
}

/** Windows keeps no bit that says so. */
function executableIn(files: SkillTree['files']): ReadonlySet<string> | undefined {
  if (process.platform === 'win32') return undefined
  return new Set(files.filter((file) => file.executable === true).map(({ path }) => path))
}

/**
 * One digest for the files of a tree, whatever their order, and for which of them may be executed,
 * where that is known. No path holds the NUL that ends it.
 */
export function treeDigest(
  files: readonly (readonly [path: string, digest: string])[],
  executable: Iterable<string> = [],
): string {
  const lines = files.map(([path, digest]) => `${digest} ${path}\0`)
  const bits = [...executable].map((path) => `executable ${path}\0`)
  return sha256([...lines, ...bits].toSorted(compareText).join(''))
}

/** The directory of a skill as a lock has it. */
export function lockedPath(workspace: string, directory: string): string {
  return workspaceRelative(workspace, directory) || '.'
}

type FileDigest =
  | { ok: true; digest: string; size: number; executable: boolean; text: string | undefined }
  | ({ ok: false } & FileProblem)

/** Why a file has no digest; `size`: the bytes of it that were read, `tooLarge`: the limit is why. */
interface FileProblem {
  problem: string
  size: number
  tooLarge: boolean
}

/** A larger file cannot be vouched for: hashing waits for nobody, and a sparse file costs nothing. */
const maxFileBytes: number = 64 * 1024 * 1024

/** Texts up to this size are kept for previews and diffs. */
const keptTextBytes = 64 * 1024
const chunkBytes = 256 * 1024

/**
 * Hashes a file of any content without following a link at its end and without waiting on a FIFO or
 * a device.
 *
 * @param textBytes up to this size the text is given too.
 */
export function digestFile(
  path: string,
  maxBytes: number = maxFileBytes,
  textBytes: number = keptTextBytes,
): FileDigest {
  const hash = openSha256()
  const kept: Buffer[] = []
  let size = 0
  const take = (bytes: Buffer): void => {
    hash.update(bytes)
    size += bytes.length
    if (size <= textBytes) kept.push(bytes)
  }
  const reading = readInChunks(path, take, maxBytes)
  if (!reading.ok) return reading
  const text = size <= textBytes ? asText(Buffer.concat(kept)) : undefined
  return { ok: true, digest: digestOf(hash), size, executable: reading.executable, text }
}

/**
 * Gives the bytes of a regular file in order, as {@link digestFile} reads it. One that says it is
 * larger than `maxBytes` is not read at all, and one that turns out to be is not read on.
 */
export function readInChunks(
  path: string,
  take: (bytes: Buffer) => void,
  maxBytes: number = maxFileBytes,
): { ok: true; executable: boolean } | ({ ok: false } & FileProblem) {
  let size = 0
  let descriptor: number
  try {
    const flags = (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)
    descriptor = openSync(path, constants.O_RDONLY | flags)
  } catch (error) {
    return failed(`cannot be read: ${systemCode(error) ?? messageOf(error)}`)
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return failed('is not a regular file')
    if (stats.size > maxBytes) return failed(tooLarge, true)
    for (;;) {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, stats.size + 1))
      const count = readSync(descriptor, chunk)
      if (count === 0) break
      size += count
      if (size > maxBytes) return failed(tooLarge, true)
      take(chunk.subarray(0, count))
    }
    return { ok: true, executable: (stats.mode & 0o111) !== 0 }
  } catch (error) {
    return failed(`cannot be read: ${systemCode(error) ?? messageOf(error)}`)
  } finally {
    closeSync(descriptor)
  }

  function failed(problem: string, isTooLarge = false): { ok: false } & FileProblem {
    return { ok: false, problem, size, tooLarge: isTooLarge }
  }
}

const tooLarge = `is too large to vouch for: more than ${maxFileBytes / 1024 / 1024} MiB`

/** The first bytes of a file as Latin-1 text, or '' where it cannot be read. */
function fileHead(path: string, bytes: number): string {
  let descriptor: number | undefined
  try {
    const flags = (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)
    descriptor = openSync(path, constants.O_RDONLY | flags)
    const buffer = Buffer.alloc(bytes)
    return buffer.toString('latin1', 0, readSync(descriptor, buffer))
  } catch {
    return ''
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function asText(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined
}

export type EntryStats =
  | { kind: 'there'; stats: Stats }
  | { kind: 'missing' }
  | { kind: 'unreadable'; problem: string }

/** What lies at a path, a link being a link. Throws for nothing that a disk may hold. */
export function entryStats(path: string): EntryStats {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    return stats === undefined ? { kind: 'missing' } : { kind: 'there', stats }
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOTDIR') return { kind: 'missing' }
    return { kind: 'unreadable', problem: `cannot be read: ${code ?? messageOf(error)}` }
  }
}

/**
 * The digest of a link, by where it leads and what is there. It has a prefix of its own, since any
 * text that is hashed for a link could be the content of a file as well.
 */
function linkDigest(target: string, content: string): string {
  return `link-${sha256(`${target}\0${content}`)}`
}

/** Whether a value has the form of a digest that a record or a lock may hold: of a file or a link. */
export function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^(?:link-)?sha256:[0-9a-f]{64}$/.test(value)
}

type LinkReading = { ok: true; target: string } | { ok: false; problem: string }

/** Where a link leads, unless its bytes are not text, when two of them could look the same. */
export function readLink(path: string): LinkReading {
  try {
    const target = readlinkSync(path, { encoding: 'buffer' })
    if (isUtf8(target)) return { ok: true, target: target.toString() }
    return { ok: false, problem: 'is a link whose target is not UTF-8' }
  } catch (error) {
    return { ok: false, problem: `cannot be read: ${systemCode(error) ?? messageOf(error)}` }
  }
}

/** A real path as the record has it: relative to the workspace, `/` between names, '' for itself. */
export function workspaceRelative(workspace: string, path: string): string {
  return relative(workspace, path).split(sep).join('/')
}

/** What a part that cannot be read has for a digest. It equals nothing, not even itself. */
export const unreadableDigest = 'unreadable'

/**
 * Whether a file is code: by its extension, its executable bit or, asked last, its first two
 * characters. Prose and pictures are not, since some file systems make every file executable.
 */
function canAct(path: string, executable: boolean, head: () => string): boolean {
  const extension = extensionOf(path)
  if (interpreters.has(extension) || loadable.has(extension)) return true
  return !prose.has(extension) && (executable || head() === '#!')
}

/** `python3` for `#!/usr/bin/env -S python3 -u`; else what the extension stands for, if anything. */
function interpreterOf(path: string, head: string): string | undefined {
  const line = /^#!\s*(\S+)(.*)/.exec(head)
  const program = line?.[1]?.split('/').at(-1)
  if (program === undefined) return interpreters.get(extensionOf(path))
  if (program !== 'env') return program
  return line?.[2]?.split(/\s+/).find((word) => word !== '' && !/^-|=/.test(word))
}

/** Every regular file and link of a skill, in the order of their paths. */
export interface SkillTree {
  /** `sha256:…`; undefined where something in it cannot be read. */
  digest: string | undefined
  files: readonly SkillFile[]
  /** Paths of the files that may be executed; undefined on Windows, which does not know. */
  executable: ReadonlySet<string> | undefined
}

function extensionOf(path: string): string {
  return posix.extname(path).slice(1).toLowerCase()
}

/** By the extensions of their files. */
const interpreters: ReadonlyMap<string, string> = new Map(
  Object.entries({
    bash: 'bash',
    cmd: 'bat cmd',
    fish: 'fish',
    lua: 'lua',
    node: 'cjs cts js jsx mjs mts ts tsx',
    perl: 'pl',
    php: 'php',
    pwsh: 'ps1',
    python3: 'py',
    Rscript: 'r',
    ruby: 'rb',
    sh: 'sh',
    zsh: 'zsh',
  }).flatMap(([program, extensions]) =>
    extensions.split(' ').map((extension) => [extension, program] as const),
  ),
)

/** Files that another program loads and executes, or unpacks into such files. */
const loadable: ReadonlySet<string> = new Set(
  (
    '7z a bin class com dll dylib egg exe gz jar msi node o pth pyc pyd pyo rar so tar tgz wasm ' +
    'whl xz zip applescript awk clj cs dart ex exs go groovy java jl ksh kts mk nu psm1 pyi pyw ' +
    'rs scala sql swift tcl vbs'
  ).split(' '),
)

/** Acts only below `scripts/` or where `run` or a hook names it. */
const prose: ReadonlySet<string> = new Set(['gif', 'jpeg', 'jpg', 'md', 'pdf', 'png', 'svg'])
