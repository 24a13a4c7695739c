import { type Dirent, readdirSync, statSync } from 'node:fs'
import { basename, dirname, resolve, sep } from 'node:path'
import { compareText, type Diagnostic } from '../core/diagnostic.ts'
import { lookProblem, messageOf, systemCode } from '../core/errors.ts'
import { realPathOf } from '../core/read-files.ts'

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
  /** Default: none, for a directory that a user named. */
  limits?: WalkLimits | undefined
  /** Receives what went wrong; the walk continues. */
  report?: ((diagnostic: Diagnostic) => void) | undefined
  /** Reads one directory, whose path below the root is `key`; replaced by a cache. */
  list?: ((directory: string, key: string) => Listing) | undefined
}

interface WalkedDirectory {
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
  let level: Iterable<Visit>[] = [[{ path: start, real: realPathOf(start) ?? start, key: '' }]]
  let without = 0
  for (let depth = 0; level.length > 0; depth++) {
    const next: Iterable<Visit>[] = []
    for (const visits of level) {
      for (const visit of visits) {
        const { path, real } = visit
        if (seen?.has(real) === true) continue
        if (seen === undefined) visited.push(real)
        else seen.add(real)
        const listing = list(path, visit.key)
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

interface Visit {
  /** The path below the root. */
  key: string
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
  for (const name of names) {
    const child = below(path, name)
    const key = visit.key === '' ? name : visit.key + sep + name
    if (links.length === 0 || !links.includes(name)) {
      yield { path: child, real: same ? child : below(real, name), key }
      continue
    }
    const target = realPathOf(child)
    if (target === undefined) report(brokenLink(child))
    else if (isDirectory(target)) yield { path: child, real: target, key }
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
    hint: 'Move what is not a skill elsewhere, or name the directories with skills in `skills.paths`.',
  }
}

/** What one directory means for a search of skills. */
export interface Listing {
  /** `SKILL.md`, else `skill.md`. */
  skillFile: string | undefined
  /** Names to walk into, sorted by code point. */
  directories: readonly string[]
  /** Names of symbolic links, which may lead to directories. */
  links: readonly string[]
  problem: ListingProblem | undefined
}

interface ListingProblem {
  code: 'directory-missing' | 'directory-unreadable' | 'file-not-regular' | 'skill-file-case'
  /** A name in the directory, or empty for the directory itself. */
  name: string
  message: string
}

/** Never walked into, wherever they are. */
const skippedEverywhere: ReadonlySet<string> = new Set(['.git', 'node_modules'])
/** Of a skill: they hold its resources, and a `SKILL.md` there is a template or a sample. */
const skippedInSkills: ReadonlySet<string> = new Set(['scripts', 'references', 'assets'])

/** Reads one directory. Never throws: what went wrong is in `problem`. */
export function readListing(directory: string): Listing {
  try {
    return listingOf(readdirSync(directory, { withFileTypes: true }))
  } catch (error) {
    const missing = systemCode(error) === 'ENOENT'
    return {
      ...emptyListing,
      problem: {
        code: missing ? 'directory-missing' : 'directory-unreadable',
        name: '',
        message: missing
          ? 'the directory does not exist'
          : `the directory cannot be read: ${lookProblem(error) ?? messageOf(error)}`,
      },
    }
  }
}

const emptyListing: Listing = {
  skillFile: undefined,
  directories: [],
  links: [],
  problem: undefined,
}

function listingOf(entries: readonly Dirent[]): Listing {
  const file = skillFileOf(entries)
  const usable = file !== undefined && (file.isFile() || file.isSymbolicLink())
  const directories: string[] = []
  const links: string[] = []
  for (const entry of entries) {
    const { name } = entry
    if (entry === file || skippedEverywhere.has(name)) continue
    if (usable && skippedInSkills.has(name)) continue
    if (entry.isDirectory()) directories.push(name)
    else if (entry.isSymbolicLink()) links.push(name)
  }
  return {
    skillFile: usable ? file.name : undefined,
    directories: sortText(directories),
    links: sortText(links),
    problem: usable ? undefined : problemOf(file, entries),
  }
}

function skillFileOf(entries: readonly Dirent[]): Dirent | undefined {
  let lower: Dirent | undefined
  for (const entry of entries) {
    if (entry.name === 'SKILL.md') return entry
    if (entry.name === 'skill.md') lower = entry
  }
  return lower
}

function problemOf(
  file: Dirent | undefined,
  entries: readonly Dirent[],
): ListingProblem | undefined {
  if (file !== undefined) {
    const kind = file.isDirectory() ? 'a directory' : file.isFIFO() ? 'a named pipe' : 'no file'
    const message = `${file.name} is ${kind}; it must be a regular file`
    return { code: 'file-not-regular', name: file.name, message }
  }
  const misspelt = entries.find(({ name }) => name.length === 8 && /^skill\.md$/i.test(name))
  if (misspelt === undefined || !misspelt.isFile()) return undefined
  const message = `${misspelt.name} is not read: the file must be called SKILL.md`
  return { code: 'skill-file-case', name: misspelt.name, message }
}

/** In code-point order; cheap for the usual case of many names that are in order already. */
export function sortText(list: readonly string[]): string[] {
  return list.toSorted(orderOf)
}

/** {@link compareText}, without taking apart what compares the same by code unit. */
export function orderOf(a: string, b: string): number {
  if (a === b) return 0
  // Code-unit order differs from code-point order only where surrogates meet U+E000 to U+FFFF.
  if (surrogate.test(a) || surrogate.test(b)) return compareText(a, b)
  return a < b ? -1 : 1
}

const surrogate = /[\ud800-\udfff]/
