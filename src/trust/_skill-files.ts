import { isUtf8 } from 'node:buffer'
import { readdirSync, type Stats } from 'node:fs'
import { basename, join, relative } from 'node:path'
import {
  foldersOutsideSkill,
  isInside,
  isLeftBehind,
  outsideSkill,
  realPathOf,
} from '../base/index.ts'
import { canAct, interpreterOf } from './_code-files.ts'
import { entryStats } from './_entry-stats.ts'
import { digestFile, fileHead, maxFileBytes } from './_file-digest.ts'
import { linkDigest, readLink } from './_link.ts'
import { workspaceRelative } from './_relative.ts'
import { unreadableDigest } from './assess.ts'
import type { ActingPart } from './model.ts'

/** A file of a skill; `path` is relative to the skill's directory. */
export interface SkillFile extends Omit<ActingPart, 'owner'> {
  /** Set where somebody may execute it. */
  executable?: true | undefined
}

export interface SkillFilesOptions {
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
 * What cannot be read, is no file, or goes away while it is read, can never be accepted. Files that
 * editors leave behind are no part of a skill: nothing of ours reads them.
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
      const problem = `is a link to ${target}, outside the skill, where nobody can vouch for it`
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

  /** Bytes that are no text could stand for another name, whose file would be looked at instead. */
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
  const problem = 'is run by the skill and lies where nobody can vouch for it'
  return { ...unreadable(workspaceRelative(directory, join(directory, run))), problem }
}

function tooMany(): SkillFile {
  return { ...unreadable('.'), problem: `has more than ${maxEntries} files and directories` }
}

const skillTooLarge = `is too large to vouch for: with it the skill has more than ${maxBytes / 1024 / 1024} MiB`

function unreadable(path: string): SkillFile {
  return { path, kind: 'script', digest: unreadableDigest, size: 0 }
}
