import { type Dir, lstatSync, opendirSync, readdirSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, join, parse } from 'node:path'
import { byText, compareText, type Diagnostic, messageOf } from '#core/errors'
import { bytesOf, isInside, realPathOf } from '#core/read-files'

/** An entry of a skill's directory, not opened. `path` is relative to the directory, with `/`. */
export type TreeEntry = { path: string } & (
  | { kind: 'file'; size: number; mode: number }
  | { kind: 'directory' }
  | { kind: 'link'; target: string; leads: 'inside' | 'outside' | 'nowhere' }
  | { kind: 'special'; what: string }
  | { kind: 'unreadable'; reason: string }
)

export interface Tree {
  entries: readonly TreeEntry[]
  /** Places where a limit ended the search. */
  stopped: readonly TreeStop[]
}

export interface TreeStop {
  limit: 'too-many-files' | 'too-deep'
  path: string
}

/**
 * Lists the entries below a directory. Follows no link, opens no file, and skips `.git` and
 * `node_modules`.
 */
export function readTree(directory: string, root: string): Tree {
  const entries: TreeEntry[] = []
  const stops: TreeStop[] = []
  const waiting = [{ parent: '', depth: 1 }]
  for (const { parent, depth } of waiting) {
    const { names, truncated } = namesIn(directory, parent, entries)
    for (const name of names) {
      const path = parent === '' ? name : `${parent}/${name}`
      const entry = entryAt(root, directory, path)
      entries.push(entry)
      if (entry.kind !== 'directory' || name === '.git' || name === 'node_modules') continue
      if (depth < auditLimits.depth) waiting.push({ parent: path, depth: depth + 1 })
      else stops.push({ limit: 'too-deep', path })
    }
    if (!truncated) continue
    stops.push({ limit: 'too-many-files', path: parent })
    break
  }
  return { entries: entries.toSorted(byText('path')), stopped: stops }
}

/** Reads names one by one: a hostile directory may have millions. */
function namesIn(root: string, parent: string, entries: TreeEntry[]) {
  const directory = join(root, parent)
  const names = new Set<string>()
  const most = auditLimits.entries - entries.length
  let truncated = false
  let open: Dir | undefined
  try {
    open = opendirSync(directory)
    for (let entry = open.readSync(); entry !== null && !truncated; entry = open.readSync()) {
      if (names.size < most) names.add(entry.name)
      else truncated = true
    }
    // Many files must not keep the instructions from being checked.
    for (const name of truncated && parent === '' ? ['SKILL.md', 'skill.md'] : []) {
      if (lstatSync(join(directory, name), { throwIfNoEntry: false })) names.add(name)
    }
  } catch (error) {
    entries.push({ path: parent, kind: 'unreadable', reason: messageOf(error) })
  } finally {
    open?.closeSync()
  }
  return { names: [...names].toSorted(compareText), truncated }
}

function entryAt(root: string, directory: string, path: string): TreeEntry {
  const absolutePath = join(directory, path)
  try {
    const stats = lstatSync(absolutePath)
    if (stats.isFile()) return { path, kind: 'file', size: stats.size, mode: stats.mode }
    if (stats.isDirectory()) return { path, kind: 'directory' }
    if (stats.isSymbolicLink()) return linkAt(root, absolutePath, path)
    const what = stats.isFIFO() ? 'named pipe' : stats.isSocket() ? 'socket' : 'device'
    return { path, kind: 'special', what }
  } catch (error) {
    return { path, kind: 'unreadable', reason: messageOf(error) }
  }
}

/**
 * Finds where a link leads. A link that leads nowhere here may lead to a key on another machine.
 */
function linkAt(root: string, absolutePath: string, path: string): TreeEntry {
  const target = readlinkSync(absolutePath)
  const realTarget = realPathOf(absolutePath)
  const isInRoot = isInside(root, realTarget ?? leadsTo(dirname(absolutePath), target))
  const leads = isInRoot ? (realTarget === undefined ? 'nowhere' : 'inside') : 'outside'
  return { path, kind: 'link', target, leads }
}

/**
 * Resolves a target as the system does: `..` after a link leaves the directory that the link leads
 * to.
 */
function leadsTo(from: string, target: string): string {
  let at = isAbsolute(target) ? parse(target).root : (realPathOf(from) ?? from)
  for (const part of target.split(/[\\/]/)) {
    if (part === '..') at = dirname(at)
    else if (part !== '' && part !== '.') at = realPathOf(join(at, part)) ?? join(at, part)
  }
  return at
}

const most = { depth: 24, directories: 50_000 }

/**
 * Finds the outermost directories with a `SKILL.md`, in code-point order. Unlike discovery it
 * follows no link: a stranger's folder may link to the whole disk. Links to directories are
 * reported.
 */
export function findSkillFolders(root: string) {
  const directories: string[] = []
  const diagnostics: Diagnostic[] = []
  const report = (path: string, message: string): void =>
    void diagnostics.push({ code: 'not-analysed', severity: 'warning', path, message })
  const waiting = [{ path: root, depth: 0 }]
  for (const [count, { path, depth }] of waiting.entries()) {
    if (count >= most.directories) {
      report(path, `more than ${most.directories} directories; the others were not checked`)
      break
    }
    try {
      const entries = readdirSync(path, { withFileTypes: true })
      if (entries.some(({ name }) => /^skill\.md$/i.test(name))) {
        directories.push(path)
        continue
      }
      if (depth === most.depth) report(path, `is ${most.depth} levels deep, and was not checked`)
      for (const entry of entries) {
        const child = join(path, entry.name)
        if (entry.isSymbolicLink()) report(child, 'is a link; name its target to have it audited')
        const isSkipped = entry.name === '.git' || entry.name === 'node_modules'
        if (!entry.isDirectory() || isSkipped || depth === most.depth) continue
        waiting.push({ path: child, depth: depth + 1 })
      }
    } catch (error) {
      report(path, `cannot be read: ${messageOf(error)}`)
    }
  }
  return { directories: directories.toSorted(compareText), diagnostics }
}

export interface FileKind {
  group: 'program' | 'byte code' | 'archive' | 'picture' | 'document' | 'script' | 'text' | 'data'
  /** As in "is NAME". */
  name: string
}

/** Enough for every signature below; tar's is at offset 257. */
export const headBytes = 4096

type Signature = readonly [bytes: string, group: FileKind['group'], name: string, offset?: number]

const signatures: readonly Signature[] = [
  ['\x7fELF', 'program', 'a program for Linux (ELF)'],
  ['\xcf\xfa\xed\xfe', 'program', 'a program for macOS (Mach-O)'],
  ['\xce\xfa\xed\xfe', 'program', 'a program for macOS (Mach-O)'],
  ['\xfe\xed\xfa\xcf', 'program', 'a program for macOS (Mach-O)'],
  ['\xfe\xed\xfa\xce', 'program', 'a program for macOS (Mach-O)'],
  ['\0asm', 'byte code', 'a WebAssembly module'],
  ['dex\n', 'byte code', 'Android byte code'],
  ['\x1bLua', 'byte code', 'Lua byte code'],
  ['PK\x03\x04', 'archive', 'a ZIP archive'],
  ['PK\x05\x06', 'archive', 'an empty ZIP archive'],
  ['\x1f\x8b', 'archive', 'a gzip archive'],
  ['BZh', 'archive', 'a bzip2 archive'],
  ['\xfd7zXZ\0', 'archive', 'an xz archive'],
  ['7z\xbc\xaf\x27\x1c', 'archive', 'a 7z archive'],
  ['\x28\xb5\x2f\xfd', 'archive', 'a Zstandard archive'],
  ['Rar!\x1a\x07', 'archive', 'a RAR archive'],
  ['ustar', 'archive', 'a tar archive', 257],
  ['\x89PNG\r\n', 'picture', 'a PNG picture'],
  ['\xff\xd8\xff', 'picture', 'a JPEG picture'],
  ['GIF8', 'picture', 'a GIF picture'],
  ['RIFF', 'picture', 'a RIFF file'],
  ['%PDF-', 'document', 'a PDF document'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'document', 'an old Office document'],
]

/**
 * Determines the kind of a file by its first bytes; its name only tells byte code from other data.
 */
export function fileKind(head: Buffer, path: string): FileKind {
  const text = head.toString('latin1')
  if (/\.py[co]$/i.test(path)) return { group: 'byte code', name: 'Python byte code' }
  if (isPortableExecutable(head, text)) {
    return { group: 'program', name: 'a program for Windows (PE)' }
  }
  if (text.startsWith('\xca\xfe\xba\xbe')) {
    // Both begin alike: the number of architectures is small, the version of the class format is
    // not.
    const isMac = head.length < 8 || head.readUInt32BE(4) < 40
    if (isMac) return { group: 'program', name: 'a program for macOS (universal)' }
    return { group: 'byte code', name: 'Java byte code' }
  }
  const signature = signatures.find(([bytes, , , offset = 0]) => text.startsWith(bytes, offset))
  if (signature) return { group: signature[1], name: signature[2] }
  if (/^#!\s{0,8}\//.test(text)) return { group: 'script', name: 'a script' }
  const isUtf16 = text.startsWith('\xff\xfe') || text.startsWith('\xfe\xff')
  if (isUtf16) return { group: 'text', name: 'text in UTF-16' }
  if (text.includes('\0')) return { group: 'data', name: 'binary data' }
  return { group: 'text', name: 'text' }
}

/** Many texts begin with `MZ` too. */
function isPortableExecutable(head: Buffer, text: string): boolean {
  if (!text.startsWith('MZ') || head.length < 64) return false
  return text.startsWith('PE\0\0', head.readUInt32LE(60)) || text.slice(2, 64).includes('\0')
}

/**
 * Reads up to `length` bytes of a regular file from `offset`. Follows no link, waits for no pipe.
 */
export function readBytes(
  path: string,
  offset: number,
  length: number,
): { ok: true; bytes: Buffer } | { ok: false; reason: string } {
  try {
    return { ok: true, bytes: bytesOf(path, length, { offset }) }
  } catch (error) {
    return { ok: false, reason: messageOf(error) }
  }
}

/** Limits of an audit, for a stranger's folder. A part beyond a limit is a finding. */
export const auditLimits = {
  entries: 10_000,
  depth: 32,
  fileBytes: 64 * 1024 * 1024,
  textBytes: 1024 * 1024,
  totalBytes: 16 * 1024 * 1024,
  places: 20,
  filesOfRule: 500,
  /**
   * Maximum bytes that an archive may claim to unpack to if it also claims to grow {@link
   * archiveGrowth}-fold.
   */
  archiveBytes: 100 * 1024 * 1024,
  archiveGrowth: 100,
  archiveEntries: 10_000,
} as const
