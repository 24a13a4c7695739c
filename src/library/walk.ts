import { statSync } from 'node:fs'
import { basename, dirname, resolve, sep } from 'node:path'
import { type Diagnostic, realPathOf } from '../base/index.ts'
import { type Listing, type ListingProblem, readListing } from './_listing.ts'
import { sortText } from './_sort-text.ts'

/** How far a search goes that nobody pointed at a directory for. */
export interface WalkLimits {
  /** Levels below the root. */
  depth: number
  /** Directories that hold no skill. */
  directories: number
}

/** What the client guide of the standard recommends as an upper bound. */
export const walkLimits: WalkLimits = { depth: 6, directories: 2000 }

export interface WalkOptions {
  /** Default: none, for a directory that a person named. */
  limits?: WalkLimits | undefined
  /** Receives what went wrong; the walk goes on. */
  report?: ((diagnostic: Diagnostic) => void) | undefined
  /** Reads one directory; replaced by an index that knows it already. */
  list?: ((directory: string, at: Position) => Listing) | undefined
}

/** Where a directory lies below the root of a walk; both are empty for the root itself. */
export interface Position {
  /** The key of the directory above it. */
  parent: string
  name: string
}

/** The way from the root to a directory. A text is made only where somebody needs it. */
export function keyOf({ parent, name }: Position): string {
  return name === '' ? '' : parent + sep + name
}

export interface WalkedDirectory {
  path: string
  /** `path` with its links resolved. */
  real: string
  /** 0 for the root. */
  depth: number
  /** Name of the skill file in it, if there is one. */
  skillFile: string | undefined
}

export interface FoundSkillFile {
  /** The `SKILL.md`. */
  path: string
  directory: string
  realDirectory: string
}

/**
 * The skill files below a directory, which may also be a skill itself or a `SKILL.md`: shallowest
 * first, then in code-point order, lazily. A skill may lie inside another one, though not in its
 * `scripts`, `references` or `assets`.
 *
 * @example
 * for (const { path } of findSkillFiles('skills')) console.log(path)
 */
export function* findSkillFiles(
  root: string,
  options: WalkOptions = {},
): Generator<FoundSkillFile, void> {
  for (const { path, real, skillFile } of walkDirectories(directoryOf(root), options)) {
    if (skillFile === undefined) continue
    yield { path: below(path, skillFile), directory: path, realDirectory: real }
  }
}

/** Every directory of a search, each real one once, so that no circle of links is walked twice. */
export function* walkDirectories(
  root: string,
  options: WalkOptions = {},
): Generator<WalkedDirectory, void> {
  const { limits, report = ignore, list = readListing } = options
  const start = resolve(root)
  // Only links lead to one directory twice: until the first one, a list is enough.
  const visited: string[] = []
  let seen: Set<string> | undefined
  let level: Iterable<Visit>[] = [
    [{ path: start, real: realPathOf(start) ?? start, parent: '', name: '' }],
  ]
  let without = 0
  for (let depth = 0; level.length > 0; depth++) {
    const next: Iterable<Visit>[] = []
    for (const visits of level) {
      for (const visit of visits) {
        const { path, real } = visit
        if (seen?.has(real) === true) continue
        if (seen === undefined) visited.push(real)
        else seen.add(real)
        const listing = list(path, visit)
        if (listing.problem !== undefined) report(problemDiagnostic(path, listing.problem))
        if (listing.skillFile === undefined && depth > 0) without++
        if (limits !== undefined && without > limits.directories) {
          report(limitDiagnostic(start, limits))
          return
        }
        if (listing.links.length > 0) seen ??= new Set(visited)
        yield { path, real, depth, skillFile: listing.skillFile }
        if (limits !== undefined && depth >= limits.depth) continue
        if (listing.directories.length + listing.links.length > 0) {
          next.push(childrenOf(visit, listing, report))
        }
      }
    }
    level = next
  }
}

interface Visit extends Position {
  path: string
  real: string
}

/** Made one by one: a place for skills may have ten thousand children. */
function* childrenOf(
  visit: Visit,
  { directories, links }: Listing,
  report: (diagnostic: Diagnostic) => void,
): Generator<Visit, void> {
  const names = links.length === 0 ? directories : sortText([...directories, ...links])
  const { path, real } = visit
  const same = path === real
  const parent = keyOf(visit)
  for (const name of names) {
    const child = below(path, name)
    if (links.length === 0 || !links.includes(name)) {
      yield { path: child, real: same ? child : below(real, name), parent, name }
      continue
    }
    const target = realPathOf(child)
    if (target === undefined) report(brokenLink(child))
    else if (isDirectory(target)) yield { path: child, real: target, parent, name }
  }
}

/** `path.join` for one plain name, without its cost. */
function below(directory: string, name: string): string {
  return directory.endsWith(sep) ? directory + name : directory + sep + name
}

function directoryOf(path: string): string {
  return /^skill\.md$/i.test(basename(path)) && !isDirectory(path) ? dirname(path) : path
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    return false
  }
}

function ignore(): void {
  // Nobody asked what went wrong.
}

function problemDiagnostic(directory: string, { code, name, message }: ListingProblem): Diagnostic {
  const warning = code === 'skill-file-case' || code === 'directory-missing'
  const path = name === '' ? directory : below(directory, name)
  return { code, severity: warning ? 'warning' : 'error', message, path, hint: hints[code] }
}

const hints = {
  'directory-missing': undefined,
  'directory-unreadable': 'Give yourself the right to read and enter it, or remove it.',
  'file-not-regular': 'Replace it by a regular file, or remove it.',
  'skill-file-case': 'Rename it to SKILL.md.',
} as const satisfies Record<ListingProblem['code'], string | undefined>

function brokenLink(path: string): Diagnostic {
  return {
    code: 'link-broken',
    severity: 'warning',
    message: 'the symbolic link leads nowhere or in a circle',
    path,
    hint: 'Remove the link, or restore what it pointed to.',
  }
}

function limitDiagnostic(path: string, limits: WalkLimits): Diagnostic {
  return {
    code: 'search-limit',
    severity: 'warning',
    message: `the search stopped after ${limits.directories} directories without a skill; there may be more skills`,
    path,
    hint: 'Move what is no skill elsewhere, or name the directories with skills in `skills.paths`.',
  }
}
