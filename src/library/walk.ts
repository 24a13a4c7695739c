import { type Dirent, readdirSync } from 'node:fs'
import { basename, dirname, resolve, sep } from 'node:path'
import { compareText, type Diagnostic, lookProblem, messageOf, systemCode } from '#core/errors'
import { isDirectory, realPathOf } from '#core/read-files'

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
): Generator<Omit<Visit, 'key'> & Pick<Listing, 'skillFile'>, void> {
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
    if (problem) report(problem)
    if (skillFile === undefined && depth > 0) without++
    if (limits && without > limits.directories) {
      const message = `the search stopped after ${limits.directories} directories without a skill; there may be more skills`
      const hint = 'Name the directories with skills in `skills.paths`.'
      return report(finding('search-limit', start, message, hint))
    }
    yield { path, real, depth, skillFile }
    if (!limits || depth < limits.depth) {
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
  { names, links }: Listing,
  report: (diagnostic: Diagnostic) => void,
): Visit[] {
  return names.flatMap((name) => {
    const child = below(path, name)
    const visit = { path: child, key: key === '' ? name : key + sep + name, depth: depth + 1 }
    // One string for both where they are the same: a search keeps thousands.
    if (!links.has(name)) return [{ ...visit, real: path === real ? child : below(real, name) }]
    const target = realPathOf(child)
    if (target === undefined) {
      const message = 'the symbolic link leads nowhere or in a circle'
      report(finding('link-broken', child, message))
    }
    return target !== undefined && isDirectory(target) ? [{ ...visit, real: target }] : []
  })
}

/** Joins a plain name. `path.join` would keep several times the memory for each path. */
export function below(directory: string, name: string): string {
  return directory.endsWith(sep) ? directory + name : directory + sep + name
}

function finding(code: string, path: string, message: string, hint?: string): Diagnostic {
  const isError = code === 'directory-unreadable' || code === 'file-not-regular'
  return { code, severity: isError ? 'error' : 'warning', message, path, hint }
}

export interface Listing {
  skillFile: string | undefined
  /** Of the directories, and of the links that may lead to one. */
  names: readonly string[]
  links: ReadonlySet<string>
  problem: Diagnostic | undefined
}

/** Never walked into, wherever they are. */
const skippedEverywhere: ReadonlySet<string> = new Set(['.git', 'node_modules'])
/** Of a skill: they hold its resources, and a `SKILL.md` there is a template or a sample. */
const skippedInSkills: ReadonlySet<string> = new Set(['scripts', 'references', 'assets'])

export function readListing(directory: string): Listing {
  try {
    return listingOf(directory, readdirSync(directory, { withFileTypes: true }))
  } catch (error) {
    const why = `the directory cannot be read: ${lookProblem(error) ?? messageOf(error)}`
    const problem =
      systemCode(error) === 'ENOENT'
        ? finding('directory-missing', directory, 'the directory does not exist')
        : finding('directory-unreadable', directory, why)
    return { skillFile: undefined, names: [], links: new Set(), problem }
  }
}

function listingOf(directory: string, entries: readonly Dirent[]): Listing {
  const named = (wanted: string) => entries.find(({ name }) => name === wanted)
  const file = named('SKILL.md') ?? named('skill.md')
  const usable = file !== undefined && (file.isFile() || file.isSymbolicLink())
  const isSkipped = ({ name }: Dirent) =>
    skippedEverywhere.has(name) || (usable && skippedInSkills.has(name))
  const others = entries.filter((entry) => entry !== file && !isSkipped(entry))
  const links = others.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name)
  const directories = others.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return {
    skillFile: usable ? file.name : undefined,
    names: [...directories, ...links].toSorted(compareText),
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
    return finding('file-not-regular', below(directory, file.name), message)
  }
  const misspelt = entries.find(({ name }) => name.length === 8 && /^skill\.md$/i.test(name))
  if (!misspelt || !misspelt.isFile()) return undefined
  const message = `${misspelt.name} is not read: the file must be called SKILL.md`
  const path = below(directory, misspelt.name)
  return finding('skill-file-case', path, message, 'Rename it to SKILL.md.')
}
