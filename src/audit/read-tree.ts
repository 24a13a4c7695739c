import { type Dir, lstatSync, opendirSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, join, parse, resolve } from 'node:path'
import { compareText, isInside, messageOf, realPathOf } from '../base/index.ts'
import { auditLimits } from './limits.ts'

/** Something in a skill's directory. `path` is relative to it, with `/`. Nothing was opened. */
export type TreeEntry = { path: string } & (
  | { kind: 'file'; size: number; mode: number }
  | { kind: 'directory' }
  | { kind: 'link'; target: string; leads: 'inside' | 'outside' | 'nowhere' }
  | { kind: 'special'; what: string }
  | { kind: 'unreadable'; reason: string }
)

/** What a directory contains, as far as the limits go. */
export interface Tree {
  /** In code-point order of their paths. */
  entries: readonly TreeEntry[]
  /** The limit that stopped the walk, and where. */
  stopped: readonly { limit: 'too-many-files' | 'too-deep'; path: string }[]
}

/**
 * The entries below a directory, by their own names: no link is followed, no file opened, and
 * `.git` and `node_modules` are entries that nobody looks into. Never throws.
 */
export function readTree(directory: string): Tree {
  const root = realPathOf(directory) ?? resolve(directory)
  const entries: TreeEntry[] = []
  const stopped: Tree['stopped'][number][] = []
  let level = ['']
  for (let depth = 1; level.length > 0; depth++) {
    const next: string[] = []
    for (const parent of level) {
      const names = namesIn(join(directory, parent), auditLimits.entries - entries.length)
      if (names.problem !== undefined) {
        entries.push({ path: parent, kind: 'unreadable', reason: names.problem })
      }
      // A crowd of files must not keep the instructions themselves from being looked at.
      const missing = parent === '' && names.truncated ? skillFilesNotIn(names.list, directory) : []
      for (const name of [...names.list, ...missing]) {
        const path = parent === '' ? name : `${parent}/${name}`
        const entry = entryAt(root, directory, path)
        entries.push(entry)
        if (entry.kind !== 'directory' || isOpaque(name)) continue
        if (depth < auditLimits.depth) next.push(path)
        else stopped.push({ limit: 'too-deep', path })
      }
      if (!names.truncated) continue
      stopped.push({ limit: 'too-many-files', path: parent })
      return { entries: ordered(entries), stopped }
    }
    level = next
  }
  return { entries: ordered(entries), stopped }
}

function skillFilesNotIn(names: readonly string[], directory: string): string[] {
  return ['SKILL.md', 'skill.md'].filter(
    (name) =>
      !names.includes(name) &&
      lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined,
  )
}

function isOpaque(name: string): boolean {
  return name === '.git' || name === 'node_modules'
}

function ordered(entries: readonly TreeEntry[]): TreeEntry[] {
  return entries.toSorted((a, b) => compareText(a.path, b.path))
}

/** Names are taken one by one: a hostile directory may have millions. */
function namesIn(
  directory: string,
  limit: number,
): { list: string[]; truncated: boolean; problem?: string } {
  const list: string[] = []
  let open: Dir | undefined
  try {
    open = opendirSync(directory)
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      if (list.length === limit) return { list: list.toSorted(compareText), truncated: true }
      list.push(entry.name)
    }
    return { list: list.toSorted(compareText), truncated: false }
  } catch (error) {
    return { list, truncated: false, problem: messageOf(error) }
  } finally {
    open?.closeSync()
  }
}

function entryAt(root: string, directory: string, path: string): TreeEntry {
  const full = join(directory, path)
  try {
    const stats = lstatSync(full)
    if (stats.isFile()) return { path, kind: 'file', size: stats.size, mode: stats.mode }
    if (stats.isDirectory()) return { path, kind: 'directory' }
    if (stats.isSymbolicLink()) return linkAt(root, full, path)
    const what = stats.isFIFO() ? 'named pipe' : stats.isSocket() ? 'socket' : 'device'
    return { path, kind: 'special', what }
  } catch (error) {
    return { path, kind: 'unreadable', reason: messageOf(error) }
  }
}

/**
 * Where a link leads. One that leads nowhere here may lead to a key on another machine, so its
 * text counts then.
 */
function linkAt(root: string, full: string, path: string): TreeEntry {
  const target = readlinkSync(full)
  const real = realPathOf(full)
  if (real !== undefined) {
    return { path, kind: 'link', target, leads: isInside(root, real) ? 'inside' : 'outside' }
  }
  const written = leadsTo(dirname(full), target)
  return { path, kind: 'link', target, leads: isInside(root, written) ? 'nowhere' : 'outside' }
}

/** As the system walks: `..` behind a link leaves the directory that the link leads to. */
function leadsTo(from: string, target: string): string {
  let at = isAbsolute(target) ? parse(target).root : (realPathOf(from) ?? from)
  for (const part of target.split(/[\\/]/)) {
    if (part === '..') at = dirname(at)
    else if (part !== '' && part !== '.') at = realPathOf(join(at, part)) ?? join(at, part)
  }
  return at
}
