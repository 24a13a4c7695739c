import { type Dirent, readdirSync } from 'node:fs'
import { lookProblem, messageOf, systemCode } from '../base/index.ts'
import { sortText } from './_sort-text.ts'

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

export interface ListingProblem {
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
