import { type Dirent, readdirSync } from 'node:fs'
import { basename, dirname, resolve, sep } from 'node:path'
import { compareText, type Diagnostic, lookProblem, messageOf, systemCode } from '#core/errors'
import { isDirectory, realPathOf } from '#core/read-files'

/** Upper bounds for a search, from the standard's client guide. */
export const walkLimits = { depth: 6, directories: 2000 }
type WalkLimits = typeof walkLimits

export interface WalkOptions {
  /** Default: no limits, for an explicit directory. */
  limits?: WalkLimits | undefined
  report?: ((diagnostic: Diagnostic) => void) | undefined
  /** Whether to skip a folder; not asked for the root. */
  skip?: ((directory: string) => boolean) | undefined
  /** Reads one directory; `key` is its path below the root. A cache can replace it. */
  list?: ((directory: string, key: string) => Listing) | undefined
}

export interface FoundSkillFile {
  path: string
  directory: string
  realDirectory: string
}

/** Yields the skill files below a directory, shallowest first, then in code-point order. */
export function* findSkillFiles(
  root: string,
  options: WalkOptions = {},
): Generator<FoundSkillFile, void> {
  const isFile = /^skill\.md$/i.test(basename(root)) && !isDirectory(root)
  for (const { path, realPath, skillFile } of walkDirectories(
    isFile ? dirname(root) : root,
    options,
  )) {
    if (skillFile === undefined) continue
    yield { path: childPath(path, skillFile), directory: path, realDirectory: realPath }
  }
}

/** Yields the directories of a search, each real directory once, so that links cannot lead in circles. */
export function* walkDirectories(
  root: string,
  { limits, report = () => undefined, skip, list = readListing }: WalkOptions = {},
): Generator<Omit<Visit, 'key'> & Pick<Listing, 'skillFile'>, void> {
  const start = resolve(root)
  const visited = new Set<string>()
  const waiting: Visit[] = [
    { path: start, realPath: realPathOf(start) ?? start, key: '', depth: 0 },
  ]
  let without = 0
  for (const visit of waiting) {
    const { path, realPath, depth } = visit
    if (visited.has(realPath)) continue
    visited.add(realPath)
    const listing = list(path, visit.key)
    const { problem, skillFile } = listing
    if (problem) report(problem)
    if (skillFile === undefined && depth > 0) without++
    if (limits && without > limits.directories) {
      const message = `the search stopped after ${limits.directories} directories without a skill; there may be more skills`
      const hint = 'Name the directories with skills in `skills.paths`.'
      return report(diagnostic('search-limit', start, message, hint))
    }
    yield { path, realPath, depth, skillFile }
    if (!limits || depth < limits.depth) {
      for (const child of childrenOf(visit, listing, report)) {
        if (skip?.(child.path) !== true) waiting.push(child)
      }
    }
  }
}

interface Visit {
  key: string
  path: string
  realPath: string
  depth: number
}

function childrenOf(
  { path, realPath, key, depth }: Visit,
  { names, links }: Listing,
  report: (diagnostic: Diagnostic) => void,
): Visit[] {
  return names.flatMap((name) => {
    const child = childPath(path, name)
    const visit = { path: child, key: key === '' ? name : key + sep + name, depth: depth + 1 }
    // Equal paths share one string: a search keeps thousands of paths.
    if (!links.has(name))
      return [{ ...visit, realPath: path === realPath ? child : childPath(realPath, name) }]
    const target = realPathOf(child)
    if (target === undefined) {
      const message = 'the symbolic link leads nowhere or in a circle'
      report(diagnostic('link-broken', child, message))
    }
    return target !== undefined && isDirectory(target) ? [{ ...visit, realPath: target }] : []
  })
}

/** Joins a plain name. `path.join` would use several times the memory for each path. */
export function childPath(directory: string, name: string): string {
  return directory.endsWith(sep) ? directory + name : directory + sep + name
}

function diagnostic(code: string, path: string, message: string, hint?: string): Diagnostic {
  const isError = code === 'directory-unreadable' || code === 'file-not-regular'
  return { code, severity: isError ? 'error' : 'warning', message, path, hint }
}

export interface Listing {
  skillFile: string | undefined
  /** Names of directories, and of links that can lead to a directory. */
  names: readonly string[]
  links: ReadonlySet<string>
  problem: Diagnostic | undefined
}

/** Folders that a search never enters. */
const skippedEverywhere: ReadonlySet<string> = new Set(['.git', 'node_modules'])
/** Folders of a skill's resources: a `SKILL.md` in them is a template or a sample. */
const skippedInSkills: ReadonlySet<string> = new Set(['scripts', 'references', 'assets'])

export function readListing(directory: string): Listing {
  try {
    return listingOf(directory, readdirSync(directory, { withFileTypes: true }))
  } catch (error) {
    const reason = `the directory cannot be read: ${lookProblem(error) ?? messageOf(error)}`
    const problem =
      systemCode(error) === 'ENOENT'
        ? diagnostic('directory-missing', directory, 'the directory does not exist')
        : diagnostic('directory-unreadable', directory, reason)
    return { skillFile: undefined, names: [], links: new Set(), problem }
  }
}

function listingOf(directory: string, entries: readonly Dirent[]): Listing {
  const entryNamed = (text: string) => entries.find(({ name }) => name === text)
  const file = entryNamed('SKILL.md') ?? entryNamed('skill.md')
  const usable = file !== undefined && (file.isFile() || file.isSymbolicLink())
  const isSkipped = ({ name }: Dirent) =>
    skippedEverywhere.has(name) || (usable && skippedInSkills.has(name))
  const otherEntries = entries.filter((entry) => entry !== file && !isSkipped(entry))
  const links = otherEntries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name)
  const directories = otherEntries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return {
    skillFile: usable ? file.name : undefined,
    // Directories precede links, so a skill is found under its real name.
    names: [...directories.toSorted(compareText), ...links.toSorted(compareText)],
    links: new Set(links),
    problem: usable ? undefined : problemOf(directory, file, entries),
  }
}

function problemOf(
  directory: string,
  file: Dirent | undefined,
  entries: readonly Dirent[],
): Diagnostic | undefined {
  if (file) {
    const kind = file.isDirectory() ? 'a directory' : 'no file'
    const message = `${file.name} is ${kind}; it must be a regular file`
    return diagnostic('file-not-regular', childPath(directory, file.name), message)
  }
  const misspelt = entries.find(({ name }) => name.length === 8 && /^skill\.md$/i.test(name))
  if (!misspelt || !misspelt.isFile()) return undefined
  const message = `${misspelt.name} is not read: the file must be called SKILL.md`
  const path = childPath(directory, misspelt.name)
  return diagnostic('skill-file-case', path, message, 'Rename it to SKILL.md.')
}
