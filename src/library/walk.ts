import { type Dirent, readdirSync, statSync } from 'node:fs'
import { basename, dirname, resolve, sep } from 'node:path'
import { compareText, type Diagnostic } from '../core/diagnostic.ts'
import { lookProblem, messageOf, systemCode } from '../core/errors.ts'
import { realPathOf } from '../core/read-files.ts'

/** What the client guide of the standard recommends as an upper bound for a search. */
export const walkLimits = { depth: 6, directories: 2000 }
type WalkLimits = typeof walkLimits

export interface WalkOptions {
  /** Default: none, for a directory that a user named. */
  limits?: WalkLimits | undefined
  report?: ((diagnostic: Diagnostic) => void) | undefined
  /** Reads one directory, whose path below the root is `key`; replaced by a cache. */
  list?: ((directory: string, key: string) => Listing) | undefined
}

interface WalkedDirectory {
  path: string
  real: string
  depth: number
  skillFile: string | undefined
}

export interface FoundSkillFile {
  path: string
  directory: string
  realDirectory: string
}

/** The skill files below a directory, shallowest first, then in code-point order. */
export function* findSkillFiles(
  root: string,
  options: WalkOptions = {},
): Generator<FoundSkillFile, void> {
  const isFile = /^skill\.md$/i.test(basename(root)) && !isDirectory(root)
  for (const { path, real, skillFile } of walkDirectories(isFile ? dirname(root) : root, options)) {
    if (skillFile === undefined) continue
    yield { path: below(path, skillFile), directory: path, realDirectory: real }
  }
}

/** Every directory of a search, each real one once, so that no circle of links is walked twice. */
export function* walkDirectories(
  root: string,
  { limits, report = () => undefined, list = readListing }: WalkOptions = {},
): Generator<WalkedDirectory, void> {
  const start = resolve(root)
  const seen = new Set<string>()
  const waiting: Visit[] = [{ path: start, real: realPathOf(start) ?? start, key: '', depth: 0 }]
  let without = 0
  for (const visit of waiting) {
    const { path, real, depth } = visit
    if (seen.has(real)) continue
    seen.add(real)
    const listing = list(path, visit.key)
    const { problem, skillFile } = listing
    if (problem !== undefined) report(problemDiagnostic(path, problem))
    if (skillFile === undefined && depth > 0) without++
    if (limits !== undefined && without > limits.directories) {
      report(limitDiagnostic(start, limits))
      return
    }
    yield { path, real, depth, skillFile }
    if (limits === undefined || depth < limits.depth) {
      for (const child of childrenOf(visit, listing, report)) waiting.push(child)
    }
  }
}

interface Visit {
  key: string
  path: string
  real: string
  depth: number
}

function childrenOf(
  { path, real, key, depth }: Visit,
  { directories, links }: Listing,
  report: (diagnostic: Diagnostic) => void,
): Visit[] {
  const names = links.length === 0 ? directories : [...directories, ...links].toSorted(compareText)
  const isLink = new Set(links)
  return names.flatMap((name) => {
    const child = below(path, name)
    const visit = { path: child, key: key === '' ? name : key + sep + name, depth: depth + 1 }
    // One string for both where they are the same: a search keeps thousands.
    if (!isLink.has(name)) return [{ ...visit, real: path === real ? child : below(real, name) }]
    const target = realPathOf(child)
    if (target === undefined) report(brokenLink(child))
    return target !== undefined && isDirectory(target) ? [{ ...visit, real: target }] : []
  })
}

/** Joins a plain name. `path.join` would keep several times the memory for each path. */
export function below(directory: string, name: string): string {
  return directory.endsWith(sep) ? directory + name : directory + sep + name
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    return false
  }
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
  const message = 'the symbolic link leads nowhere or in a circle'
  const hint = 'Remove the link, or restore what it pointed to.'
  return { code: 'link-broken', severity: 'warning', message, path, hint }
}

function limitDiagnostic(path: string, { directories }: WalkLimits): Diagnostic {
  const message = `the search stopped after ${directories} directories without a skill; there may be more skills`
  const hint =
    'Move what is not a skill elsewhere, or name the directories with skills in `skills.paths`.'
  return { code: 'search-limit', severity: 'warning', message, path, hint }
}

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
    const isMissing = systemCode(error) === 'ENOENT'
    const why = `the directory cannot be read: ${lookProblem(error) ?? messageOf(error)}`
    const message = isMissing ? 'the directory does not exist' : why
    const code = isMissing ? 'directory-missing' : 'directory-unreadable'
    const problem: ListingProblem = { code, name: '', message }
    return { skillFile: undefined, directories: [], links: [], problem }
  }
}

function listingOf(entries: readonly Dirent[]): Listing {
  const named = (wanted: string) => entries.find(({ name }) => name === wanted)
  const file = named('SKILL.md') ?? named('skill.md')
  const usable = file !== undefined && (file.isFile() || file.isSymbolicLink())
  const isSkipped = ({ name }: Dirent): boolean =>
    skippedEverywhere.has(name) || (usable && skippedInSkills.has(name))
  const others = entries.filter((entry) => entry !== file && !isSkipped(entry))
  const namesOf = (kind: 'isDirectory' | 'isSymbolicLink'): string[] =>
    others.flatMap((entry) => (entry[kind]() ? [entry.name] : [])).toSorted(compareText)
  return {
    skillFile: usable ? file.name : undefined,
    directories: namesOf('isDirectory'),
    links: namesOf('isSymbolicLink'),
    problem: usable ? undefined : problemOf(file, entries),
  }
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
