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
import type { ActingPart } from './model.ts'

/** A file of a skill; `path` is relative to the skill's directory. */
export interface SkillFile extends Omit<ActingPart, 'owner'> {
  executable?: true | undefined
}

interface SkillFilesOptions {
  /** Paths that the field `run` and hooks name: such a file acts whatever it looks like. */
  runs?: readonly string[]
  /** Lines for a shell: a file or folder acts whose name stands in one. Globs are not expanded. */
  commands?: readonly string[]
  /** Whether files that cannot act are listed too, as `text`. */
  text: boolean
  /** Whether the skill is the whole workspace, whose history and state are none of it. */
  isWorkspace: boolean
  /** Whether a link that leads out of the skill is `named`, by where it leads, or cannot be accepted. */
  linksOut: 'named' | 'refused'
}

/** A skill with more entries than this cannot be vouched for. */
export const maxEntries = 20_000

/** Nor can one with more bytes to hash: every call would wait for them. */
export const maxBytes: number = 256 * 1024 * 1024

/** A larger file cannot be vouched for: hashing waits for nobody, and a sparse file costs nothing. */
const maxFileBytes: number = 64 * 1024 * 1024

/** Where the lock of a project lies, relative to the workspace. */
export const lockPath = '.skillrail/skills.lock.json'

/** What a part that cannot be read has for a digest. It equals nothing, not even itself. */
export const unreadableDigest = 'unreadable'

/**
 * The files of a skill that can act: below `scripts/`, named by `run` or in a hook, executable, or code
 * by their name or first line. Every link acts, since it can put any file in the place of a script.
 * What cannot be read, is not a file, or goes away while it is read, can never be accepted.
 * @param directory real path.
 */
export function skillFiles(directory: string, options: SkillFilesOptions): SkillFile[] {
  return new SkillWalk(directory, options).files()
}

interface Place {
  real: string
  path: string
  /** Whether all that is in it acts. */
  acts: boolean
  /** The real directories that lead to it, so that a link cannot lead in circles. */
  above: ReadonlySet<string>
}

class SkillWalk {
  private readonly directory: string
  private readonly options: SkillFilesOptions
  private readonly found: SkillFile[] = []
  /** By its real path: `run: a/../b.md` names b.md, and on some disks so does `B.md`. */
  private readonly runs: ReadonlyMap<string, string | undefined>
  private readonly programs: ReadonlySet<string | undefined>
  private readonly commands: string
  private entries = 0
  private bytesLeft = maxBytes

  constructor(directory: string, options: SkillFilesOptions) {
    const { runs = [], commands = [] } = options
    this.directory = directory
    this.options = options
    this.runs = new Map(runs.map((run) => [run, realPathOf(join(directory, run))]))
    this.programs = new Set(this.runs.values())
    this.commands = unquoted(commands.join('\n'))
  }

  files(): SkillFile[] {
    const { directory } = this
    this.visit({ real: directory, path: '', acts: false, above: new Set([directory]) })
    if (this.entries > maxEntries) {
      this.refuse('.', `has more than ${maxEntries} files and directories`)
    }
    for (const [run, real] of this.runs) if (this.isLeftOut(run, real)) this.refuseRun(run)
    return this.found
  }

  private visit({ real, path: way, acts: acting, above }: Place): void {
    for (const name of this.namesIn(real, way)) {
      this.entries++
      if (this.entries > maxEntries || this.bytesLeft < 0) return
      if (way === '' && this.options.isWorkspace && foldersOutsideSkill.includes(name)) continue
      const path = way === '' ? name : `${way}/${name}`
      const inner = join(real, name)
      const isProgram = this.programs.has(inner)
      const isNamed = this.commands !== '' && this.commands.includes(unquoted(name))
      const acts = acting || isNamed || isProgram || path.toLowerCase() === 'scripts'
      const place = { real: inner, path, acts, above }
      const { stats, problem = 'was removed while it was read' } = entryStats(inner)
      if (!stats) this.refuse(path, problem)
      else if (stats.isSymbolicLink()) this.followLink(place)
      else if (!isLeftBehind(name) || !stats.isFile()) this.take(place, stats)
      else if (isNamed && !isProgram) this.refuseRun(path)
    }
  }

  private take(place: Place, stats: Stats): void {
    const { real, path, acts, above } = place
    if (stats.isDirectory()) return this.visit({ ...place, above: new Set([...above, real]) })
    const executable = (stats.mode & 0o111) !== 0
    if (acts || canAct(path, executable, () => fileHead(real, 2))) {
      this.found.push(this.fileOf(real, path, 'script'))
    } else if (this.options.text) this.found.push(this.fileOf(real, path, 'text'))
  }

  private followLink(place: Place): void {
    const { real: link, path, above } = place
    const reading = readLink(link)
    if ('problem' in reading) return this.refuse(path, reading.problem)
    const { target } = reading
    const real = realPathOf(link)
    const { stats, problem } = real === undefined ? {} : entryStats(real)
    if (problem !== undefined) this.refuse(path, problem)
    else if (real === undefined || !stats) this.addLink(path, target)
    else if (!isInside(this.directory, real)) {
      if (this.options.linksOut === 'named') this.addLink(path, target)
      else this.refuse(path, `is a link to ${target}, outside the skill, so it cannot be verified`)
    } else if (stats.isDirectory()) {
      this.addLink(path, target)
      if (!above.has(real)) this.take({ ...place, real }, stats)
    } else {
      const file = this.fileOf(real, path, 'script')
      if (file.problem === undefined) this.addLink(path, target, file.digest)
      else this.found.push(file)
    }
  }

  /** Where a link leads counts too. The prefix tells its digest from that of a file with the same text. */
  private addLink(path: string, target: string, content = ''): void {
    const digest = `link-${sha256(`${target}\0${content}`)}`
    this.found.push({ path, kind: 'script', digest, size: 0, link: target })
  }

  private refuse(path: string, problem: string): void {
    this.found.push(unreadable(path, problem))
  }

  private refuseRun(run: string): void {
    this.refuse(posix.normalize(run), 'is run by the skill and lies where it cannot be verified')
  }

  /** Bytes that are not text could stand for another name, whose file would be looked at instead. */
  private namesIn(real: string, way: string): string[] {
    try {
      const names = readdirSync(real, { encoding: 'buffer' })
      const bad = names.find((name) => !isUtf8(name))?.toString()
      if (bad !== undefined) this.refuse(posix.join(way, bad), 'has a name that is not UTF-8')
      return names.filter((name) => isUtf8(name)).map((name) => name.toString())
    } catch {
      this.refuse(way === '' ? '.' : way, 'cannot be listed')
      return []
    }
  }

  private fileOf(real: string, path: string, kind: 'script' | 'text'): SkillFile {
    const file = digestFile(real, { maxBytes: Math.min(maxFileBytes, this.bytesLeft) })
    if (!file.ok) {
      const isLast = file.tooLarge && this.bytesLeft < maxFileBytes
      if (isLast) this.bytesLeft = -1
      return unreadable(path, isLast ? skillTooLarge : file.problem)
    }
    this.bytesLeft -= file.size
    const { digest, size, text } = file
    const executable = file.executable ? true : undefined
    if (kind === 'text') return { path, kind, digest, size, text, executable }
    const head = text?.slice(0, 128) ?? fileHead(real, 128)
    return { path, kind, digest, size, text, executable, interpreter: interpreterOf(path, head) }
  }

  /** What is left out can change unseen, so nothing of it may be what the skill runs. */
  private isLeftOut(run: string, real: string | undefined): boolean {
    const path = join(this.directory, run)
    return [path, real ?? path].some(
      (place) =>
        isLeftBehind(basename(place)) ||
        (this.options.isWorkspace && outsideSkill(relative(this.directory, place)) !== undefined),
    )
  }
}

const skillTooLarge = `is too large to vouch for: with it the skill has more than ${maxBytes / 1024 / 1024} MiB`

function unreadable(path: string, problem: string): SkillFile {
  return { path, kind: 'script', digest: unreadableDigest, size: 0, problem }
}

/** As a shell reads it, and a disk that knows no case. */
function unquoted(text: string): string {
  const bare = text.replaceAll(/["'\\]/g, '')
  return bare.normalize('NFC').toLowerCase()
}

const keptTextBytes = 64 * 1024

type Digested =
  | { ok: true; digest: string; size: number; text: string | undefined; executable: boolean }
  | { ok: false; problem: string; tooLarge: boolean }

/**
 * Hashes a file of any content without following a link at its end and without waiting on a FIFO or
 * a device.
 * @param limits `textBytes`: up to this size the text is given too.
 */
export function digestFile(
  path: string,
  { maxBytes = maxFileBytes, textBytes = keptTextBytes } = {},
): Digested {
  try {
    return withRegularFile(path, (descriptor, stats): Digested => {
      const { size: said } = stats
      const bytes = said > maxBytes ? undefined : readAll(descriptor, said, maxBytes)
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

/** The first bytes of a file as Latin-1 text, or '' where it cannot be read. */
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
 * Everything in a skill, text and code alike, by the rules for what acts. A link that leads out of the
 * skill is refused: what lies there could be exchanged unseen.
 * @param directory real path.
 */
export function skillTree(workspace: string, directory: string) {
  const isWorkspace = directory === workspace
  const files = skillFiles(directory, { text: true, isWorkspace, linksOut: 'refused' })
  files.sort(byText('path'))
  const runnable = files.filter((file) => file.executable === true).map(({ path }) => path)
  /** Paths of the files that may be executed; undefined on Windows, which does not know. */
  const executable = process.platform === 'win32' ? undefined : new Set(runnable)
  const whole = files.every(({ digest }) => digest !== unreadableDigest)
  const digests = files.map(({ path, digest }) => [path, digest] as const)
  return { digest: whole ? treeDigest(digests, executable) : undefined, executable, files }
}

/** `digest` is undefined where something in it cannot be read. */
export type SkillTree = ReturnType<typeof skillTree>

/** One digest for the files of a tree in any order, and for which of them may be executed, where known. */
export function treeDigest(
  files: readonly (readonly [path: string, digest: string])[],
  executable: Iterable<string> = [],
): string {
  const lines = files.map(([path, digest]) => `${digest} ${path}\0`)
  const bits = [...executable].map((path) => `executable ${path}\0`)
  return sha256([...lines, ...bits].toSorted(compareText).join(''))
}

/** A real path as the record has it: relative to the workspace, `/` between names, '' for itself. */
export function workspaceRelative(workspace: string, path: string): string {
  return relative(workspace, path).split(sep).join('/')
}

export function lockedPath(workspace: string, directory: string): string {
  return workspaceRelative(workspace, directory) || '.'
}

/** What lies at a path, a link being a link: `problem` where it cannot be read, neither where it is missing. */
export function entryStats(path: string): { stats?: Stats | undefined; problem?: string } {
  try {
    return { stats: lstatSync(path, { throwIfNoEntry: false }) }
  } catch (error) {
    return systemCode(error) === 'ENOTDIR' ? {} : { problem: cannotBeRead(error) }
  }
}

/** Where a link leads, unless its bytes are not text, when two of them could look the same. */
export function readLink(path: string): { target: string } | { problem: string } {
  try {
    const target = readlinkSync(path, { encoding: 'buffer' })
    if (isUtf8(target)) return { target: target.toString() }
    return { problem: 'is a link whose target is not UTF-8' }
  } catch (error) {
    return { problem: cannotBeRead(error) }
  }
}

/** Whether a value has the form of a digest that a record or a lock may hold: of a file or a link. */
export function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^(?:link-)?sha256:[0-9a-f]{64}$/.test(value)
}

/** Whether a file is code: by its extension, its executable bit or its first two characters. */
export function canAct(path: string, executable: boolean, head: () => string): boolean {
  const extension = extensionOf(path)
  if (interpreters.has(extension) || loadable.has(extension)) return true
  return !prose.has(extension) && (executable || head() === '#!')
}

/** `python3` for `#!/usr/bin/env -S python3 -u`; else what the extension stands for, if anything. */
export function interpreterOf(path: string, head: string): string | undefined {
  const line = /^#!\s*(\S+)(.*)/.exec(head)
  const program = line?.[1]?.split('/').at(-1)
  if (program === undefined) return interpreters.get(extensionOf(path))
  if (program !== 'env') return program
  return line?.[2]?.split(/\s+/).find((word) => word !== '' && !/^-|=/.test(word))
}

export function extensionOf(path: string): string {
  return posix.extname(path).slice(1).toLowerCase()
}

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

export const codeExtensions: readonly string[] = [...interpreters.keys()]

/** Source code of other languages. */
export const sourceExtensions: readonly string[] =
  'applescript awk clj cs dart ex exs go groovy java jl ksh kts mk nu psm1 pyi pyw rs scala sql swift tcl vbs'.split(
    ' ',
  )

/** Files that another program loads and executes, or unpacks into such files. */
const loadable: ReadonlySet<string> = new Set([
  ...sourceExtensions,
  ...'7z a bin class com dll dylib egg exe gz jar msi node o pth pyc pyd pyo rar so tar tgz wasm whl xz zip'.split(
    ' ',
  ),
])

/** Acts only below `scripts/` or where `run` or a hook names it. */
const prose: ReadonlySet<string> = new Set(['gif', 'jpeg', 'jpg', 'md', 'pdf', 'png', 'svg'])
