import { statSync } from 'node:fs'
import { sep } from 'node:path'
import type { Diagnostic, Runtime } from '../base/index.ts'
import type { Metadata } from './_metadata.ts'
import { type DirectoryReading, readDirectory } from './_read-directory.ts'
import { type LocationIndex, openLocationIndex } from './location-index.ts'
import type { SkillLocation } from './model.ts'
import { type FoundSkillFile, walkDirectories, walkLimits } from './walk.ts'

export interface ScannedSkill {
  file: FoundSkillFile
  metadata: Metadata
}

export interface LocationScan {
  /** Every directory that was looked into, for whoever wants to watch them. */
  directories: readonly string[]
  /** Levels below the location at which the deepest skill was found. */
  deepest: number
  diagnostics: readonly Diagnostic[]
}

/**
 * Finds the skills of one location, reads their metadata and hands out one by one, shallowest first
 * and then in code-point order of their directories. Inside a skill more skills are looked
 * for only where it is a chain: its steps may lie there, and anywhere else a `SKILL.md` inside a
 * skill is a sample or a template. A location that does not exist is empty; only where a person
 * named it, that is reported.
 */
export function scanLocation(
  location: SkillLocation,
  options: { runtime: Runtime; useIndex: boolean },
  found: (skill: ScannedSkill) => void,
): LocationScan {
  const { directory: root, explicit } = location
  if (!explicit && isAbsent(root)) return nothing
  const index = options.useIndex ? openLocationIndex(options.runtime, root) : withoutIndex
  const diagnostics: Diagnostic[] = []
  const directories: string[] = []
  const childless = new Set<string>()
  let deepest = 0
  let reading: DirectoryReading | undefined
  const walk = walkDirectories(root, {
    limits: explicit ? undefined : walkLimits,
    report: (diagnostic) => diagnostics.push(diagnostic),
    list: (directory, at) => {
      reading = index.read(directory, at)
      return reading.listing
    },
  })
  for (const { path, real, depth, skillFile } of walk) {
    directories.push(path)
    if (skillFile !== undefined && reading?.metadata !== undefined) {
      const file = { path: reading.file, directory: path, realDirectory: real }
      found({ file, metadata: reading.metadata })
      deepest = depth
      if (childless.size > 0) childless.delete(childOf(root, path))
    } else if (depth === 1 && reading?.listing.problem === undefined) childless.add(path)
  }
  index.save()
  const missing = explicit ? [] : [...childless].filter(isExpected).map(withoutSkill)
  return { directories, deepest, diagnostics: [...diagnostics, ...missing] }
}

/** What cannot be looked at is not absent: the walk says why. */
function isAbsent(root: string): boolean {
  try {
    return statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true
  } catch {
    return false
  }
}

const nothing: LocationScan = { directories: [], deepest: 0, diagnostics: [] }

const withoutIndex: LocationIndex = {
  read: (directory) => readDirectory(directory),
  save: () => undefined,
}

/** The directory directly below `root` on the way to `path`. */
function childOf(root: string, path: string): string {
  const end = path.indexOf(sep, root.length + 1)
  return end === -1 ? path : path.slice(0, end)
}

/** A name that begins with `.` or `_` is a common way to say: this is no skill. */
function isExpected(directory: string): boolean {
  return !/[\\/][._][^\\/]*$/.test(directory)
}

function withoutSkill(path: string): Diagnostic {
  return {
    code: 'skill-file-missing',
    severity: 'warning',
    message: 'the directory holds no SKILL.md, nor does a directory below it',
    path,
    hint: 'Add a SKILL.md, or move the directory out of the place where skills lie.',
  }
}
