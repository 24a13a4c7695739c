import { isUtf8 } from 'node:buffer'
import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { basename, join, posix, relative, sep } from 'node:path'
import { byText, compareText, messageOf, systemCode } from '#core/errors'
import { sha256 } from '#core/json'
import {
  bytesOf,
  foldersOutsideSkill,
  isInside,
  isLeftBehind,
  outsideSkill,
  readAll,
  realPathOf,
  withRegularFile,
} from '#core/read-files'
import { canAct, interpreterOf, isProse } from './file-kinds.ts'
import type { ActingPart } from './model.ts'

/** A file of a skill; `path` is relative to the skill's directory. */
export interface SkillFile extends Omit<ActingPart, 'owner'> {
  executable?: true | undefined
}

interface SkillFilesOptions {
  /** Paths from the field `run` and from hooks: these files act, whatever they contain. */
  runs?: readonly string[]
  /** Shell lines: a file or folder acts if a line contains its name. Globs are not expanded. */
  commands?: readonly string[]
  /** Whether the skill's fields start or allow something; default false. */
  starts?: boolean
  /** Whether to list files that cannot act, as `text`. */
  text: boolean
  /** Whether the skill is the whole workspace. Then its history and its state are left out. */
  isWorkspace: boolean
  /** Whether a link out of the skill is recorded with its target, or cannot be accepted. */
  linksOut: 'named' | 'refused'
}

/** A skill with more files and directories cannot be verified. */
export const maxEntries = 20_000

/** A skill with more bytes cannot be verified: each call would wait for the hashes. */
export const maxBytes: number = 256 * 1024 * 1024

/** A larger file cannot be verified: hashing takes time, and a sparse file is free to create. */
const maxFileBytes: number = 64 * 1024 * 1024

/** Path of a project's lock, relative to the workspace. */
export const lockPath = '.skillrail/skills.lock.json'

/** Digest of a part that cannot be read. It equals nothing, not even itself. */
export const unreadableDigest = 'unreadable'

/**
 * Lists the files of a skill that can act: files below `scripts/`, files named by `run` or a hook,
 * executable files, and files that are code by name or first line. Every link acts: it can put any file
 * in the place of a script. In a skill that has a script or starts something, every file except prose
 * acts: a script can load any of these files. An entry that cannot be read, is not a regular file, or
 * disappears during the read can never be accepted.
 * @param directory real path.
 */
export function skillFiles(directory: string, options: SkillFilesOptions): SkillFile[] {
  return new SkillWalk(directory, options).files()
}

interface Place {
  realPath: string
  path: string
  /** Whether everything in this place acts. */
  acts: boolean
  /** The real directories above, so that a link cannot lead in circles. */
  outerDirectories: ReadonlySet<string>
}

class SkillWalk {
  private readonly directory: string
  private readonly options: SkillFilesOptions
  private readonly collectedFiles: SkillFile[] = []
  /** Files that act only if the skill has a script. */
  private readonly loadable: Pick<Place, 'realPath' | 'path'>[] = []
  /** Real path by path: `run: a/../b.md` names b.md, and on some disks so does `B.md`. */
  private readonly runs: ReadonlyMap<string, string | undefined>
  private readonly programs: ReadonlySet<string | undefined>
  private readonly commands: string
  private entries = 0
  private bytesLeft = maxBytes

  constructor(directory: string, options: SkillFilesOptions) {
    const { runs = [], commands = [] } = options
    this.directory = directory
    this.options = options
    this.runs = new Map(runs.map((program) => [program, realPathOf(join(directory, program))]))
    this.programs = new Set(this.runs.values())
    this.commands = foldShellText(commands.join('\n'))
  }

  files(): SkillFile[] {
    const { directory } = this
    this.visit({
      realPath: directory,
      path: '',
      acts: false,
      outerDirectories: new Set([directory]),
    })
    const hasScript = this.options.starts === true || this.collectedFiles.some(isScript)
    for (const { realPath, path } of this.loadable) {
      if (hasScript) this.collectedFiles.push(this.fileOf(realPath, path, 'script'))
      else if (this.options.text) this.collectedFiles.push(this.fileOf(realPath, path, 'text'))
    }
    if (this.entries > maxEntries) {
      this.refuse('.', `has more than ${maxEntries} files and directories`)
    }
    for (const [program, realPath] of this.runs)
      if (this.isLeftOut(program, realPath)) this.refuseRun(program)
    return this.collectedFiles
  }

  private visit({ realPath, path: parent, acts: parentActs, outerDirectories }: Place): void {
    for (const name of this.namesIn(realPath, parent)) {
      this.entries++
      if (this.entries > maxEntries || this.bytesLeft < 0) return
      if (parent === '' && this.options.isWorkspace && foldersOutsideSkill.includes(name)) continue
      const path = parent === '' ? name : `${parent}/${name}`
      const realEntry = join(realPath, name)
      const isProgram = this.programs.has(realEntry)
      const isNamed = this.commands !== '' && this.commands.includes(foldShellText(name))
      const acts = parentActs || isNamed || isProgram || path.toLowerCase() === 'scripts'
      const place = { realPath: realEntry, path, acts, outerDirectories }
      const { stats, problem = 'was removed while it was read' } = entryStats(realEntry)
      if (!stats) this.refuse(path, problem)
      else if (stats.isSymbolicLink()) this.followLink(place)
      else if (!isLeftBehind(name) || !stats.isFile()) this.take(place, stats)
      else if (isNamed && !isProgram) this.refuseRun(path)
    }
  }

  private take(place: Place, stats: Stats): void {
    const { realPath, path, acts, outerDirectories } = place
    if (stats.isDirectory())
      return this.visit({ ...place, outerDirectories: new Set([...outerDirectories, realPath]) })
    const executable = (stats.mode & 0o111) !== 0
    if (acts || canAct(path, executable, () => fileHead(realPath, 2))) {
      this.collectedFiles.push(this.fileOf(realPath, path, 'script'))
    } else if (isLoadable(path, stats)) this.loadable.push({ realPath, path })
    else if (this.options.text) this.collectedFiles.push(this.fileOf(realPath, path, 'text'))
  }

  private followLink(place: Place): void {
    const { realPath: link, path, outerDirectories } = place
    const reading = readLink(link)
    if ('problem' in reading) return this.refuse(path, reading.problem)
    const { target } = reading
    const realPath = realPathOf(link)
    const { stats, problem } = realPath === undefined ? {} : entryStats(realPath)
    if (problem !== undefined) this.refuse(path, problem)
    else if (realPath === undefined || !stats) this.addLink(path, target)
    else if (!isInside(this.directory, realPath)) {
      if (this.options.linksOut === 'named') this.addLink(path, target)
      else this.refuse(path, `is a link to ${target}, outside the skill, so it cannot be verified`)
    } else if (stats.isDirectory()) {
      this.addLink(path, target)
      if (!outerDirectories.has(realPath)) this.take({ ...place, realPath }, stats)
    } else {
      const file = this.fileOf(realPath, path, 'script')
      if (file.problem === undefined) this.addLink(path, target, file.digest)
      else this.collectedFiles.push(file)
    }
  }

  /** Records a link with its target. The prefix separates its digest from the digest of a file with the same text. */
  private addLink(path: string, target: string, content = ''): void {
    const digest = `link-${sha256(`${target}\0${content}`)}`
    this.collectedFiles.push({ path, kind: 'script', digest, size: 0, link: target })
  }

  private refuse(path: string, problem: string): void {
    this.collectedFiles.push(unreadable(path, problem))
  }

  private refuseRun(program: string): void {
    this.refuse(
      posix.normalize(program),
      'is run by the skill, but is in a place that cannot be verified',
    )
  }

  /** Refuses names that are not UTF-8: decoding them could yield the name of another file. */
  private namesIn(realPath: string, parent: string): string[] {
    try {
      const names = readdirSync(realPath, { encoding: 'buffer' })
      const invalidName = names.find((name) => !isUtf8(name))?.toString()
      if (invalidName !== undefined)
        this.refuse(posix.join(parent, invalidName), 'has a name that is not UTF-8')
      return names.filter((name) => isUtf8(name)).map((name) => name.toString())
    } catch {
      this.refuse(parent === '' ? '.' : parent, 'cannot be listed')
      return []
    }
  }

  private fileOf(realPath: string, path: string, kind: 'script' | 'text'): SkillFile {
    const file = digestFile(realPath, { maxBytes: Math.min(maxFileBytes, this.bytesLeft) })
    if (!file.ok) {
      const isLast = file.tooLarge && this.bytesLeft < maxFileBytes
      if (isLast) this.bytesLeft = -1
      return unreadable(path, isLast ? skillTooLarge : file.problem)
    }
    this.bytesLeft -= file.size
    const { digest, size, text } = file
    const executable = file.executable ? true : undefined
    if (kind === 'text') return { path, kind, digest, size, text, executable }
    const head = text?.slice(0, 128) ?? fileHead(realPath, 128)
    return { path, kind, digest, size, text, executable, interpreter: interpreterOf(path, head) }
  }

  /** Whether the skill runs a file that is left out, and so can change unseen. */
  private isLeftOut(program: string, realPath: string | undefined): boolean {
    const path = join(this.directory, program)
    return [path, realPath ?? path].some(
      (place) =>
        isLeftBehind(basename(place)) ||
        (this.options.isWorkspace && outsideSkill(relative(this.directory, place)) !== undefined),
    )
  }
}

/** Leaves out `.git`: a repository cannot contain a file there, and each fetch writes there. */
function isLoadable(path: string, stats: Stats): boolean {
  const isInGit = path.toLowerCase().split('/').includes('.git')
  return stats.isFile() && !isInGit && !isProse(path)
}

function isScript({ kind, link }: SkillFile): boolean {
  return kind === 'script' && link === undefined
}

const skillTooLarge = `is too large to vouch for: with it the skill has more than ${maxBytes / 1024 / 1024} MiB`

function unreadable(path: string, problem: string): SkillFile {
  return { path, kind: 'script', digest: unreadableDigest, size: 0, problem }
}

/** Returns text without quotes and case, as a shell and a case-insensitive disk read it. */
function foldShellText(text: string): string {
  const withoutQuotes = text.replaceAll(/["'\\]/g, '')
  return withoutQuotes.normalize('NFC').toLowerCase()
}

const maxTextBytes = 64 * 1024

type FileDigest =
  | { ok: true; digest: string; size: number; text: string | undefined; executable: boolean }
  | { ok: false; problem: string; tooLarge: boolean }

/**
 * Hashes a file of any content. Does not follow a link in the last part of the path, and does not wait
 * for a FIFO or a device.
 * @param limits `textBytes`: up to this size the result contains the text.
 */
export function digestFile(
  path: string,
  { maxBytes = maxFileBytes, textBytes = maxTextBytes } = {},
): FileDigest {
  try {
    return withRegularFile(path, (descriptor, stats): FileDigest => {
      const isTooLarge = stats.size > maxBytes
      const bytes = isTooLarge ? undefined : readAll(descriptor, stats.size, maxBytes)
      if (!bytes) return { ok: false, problem: tooLargeProblem, tooLarge: true }
      const isText = bytes.length <= textBytes && isUtf8(bytes) && !bytes.includes(0)
      const text = isText ? bytes.toString('utf8') : undefined
      const executable = (stats.mode & 0o111) !== 0
      return { ok: true, digest: sha256(bytes), size: bytes.length, text, executable }
    })
  } catch (error) {
    return { ok: false, problem: cannotBeRead(error), tooLarge: false }
  }
}

/** Returns the first bytes of a file as Latin-1 text, or '' if the file cannot be read. */
export function fileHead(path: string, bytes: number): string {
  try {
    return bytesOf(path, bytes).toString('latin1')
  } catch {
    return ''
  }
}

function cannotBeRead(error: unknown): string {
  return `cannot be read: ${systemCode(error) ?? messageOf(error)}`
}

const tooLargeProblem = `is too large to vouch for: more than ${maxFileBytes / 1024 / 1024} MiB`

/**
 * Reads everything in a skill, text and code, with the rules of {@link skillFiles}. Refuses a link out
 * of the skill: its target could be exchanged unseen.
 * @param directory real path.
 */
export function skillTree(workspace: string, directory: string): SkillTree {
  const isWorkspace = directory === workspace
  const files = skillFiles(directory, { text: true, isWorkspace, linksOut: 'refused' })
  files.sort(byText('path'))
  const runnable = files.filter((file) => file.executable === true).map(({ path }) => path)
  const executable = process.platform === 'win32' ? undefined : new Set(runnable)
  const isReadable = files.every(({ digest }) => digest !== unreadableDigest)
  const digests = files.map(({ path, digest }) => [path, digest] as const)
  return { digest: isReadable ? treeDigest(digests, executable) : undefined, executable, files }
}

/** The files of a skill, with one digest for all files. */
export interface SkillTree {
  /** Undefined if a file cannot be read. */
  digest: string | undefined
  /** Paths of the files that may be executed; undefined on Windows, which does not record it. */
  executable: ReadonlySet<string> | undefined
  files: readonly SkillFile[]
}

/** Returns one digest for the files of a tree and their executable bits. The order of files does not matter. */
export function treeDigest(
  files: readonly (readonly [path: string, digest: string])[],
  executable: Iterable<string> = [],
): string {
  const lines = files.map(([path, digest]) => `${digest} ${path}\0`)
  const bits = [...executable].map((path) => `executable ${path}\0`)
  return sha256([...lines, ...bits].toSorted(compareText).join(''))
}

/** Returns a real path in the record's form: relative to the workspace, with `/`; '' is the workspace. */
export function workspaceRelative(workspace: string, path: string): string {
  return relative(workspace, path).split(sep).join('/')
}

/** Returns a skill's path in the lock's form: as {@link workspaceRelative}; `.` is the workspace. */
export function lockedPath(workspace: string, directory: string): string {
  return workspaceRelative(workspace, directory) || '.'
}

/** Returns the stats at a path without following a link, or `problem`; neither if nothing is there. */
export function entryStats(path: string): { stats?: Stats | undefined; problem?: string } {
  try {
    return { stats: lstatSync(path, { throwIfNoEntry: false }) }
  } catch (error) {
    return systemCode(error) === 'ENOTDIR' ? {} : { problem: cannotBeRead(error) }
  }
}

/** Returns the target of a link. Refuses targets that are not UTF-8: two of them could decode to the same text. */
export function readLink(path: string): { target: string } | { problem: string } {
  try {
    const target = readlinkSync(path, { encoding: 'buffer' })
    if (isUtf8(target)) return { target: target.toString() }
    return { problem: 'is a link whose target is not UTF-8' }
  } catch (error) {
    return { problem: cannotBeRead(error) }
  }
}

/** Whether a value is a digest of a file or a link, as a record or a lock contains it. */
export function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^(?:link-)?sha256:[0-9a-f]{64}$/.test(value)
}
