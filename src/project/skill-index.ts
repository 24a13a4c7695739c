import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writeLimit } from '#core/project-state'
import { readRegularFile } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { unifiedDiff } from '#core/unified-diff'
import { writeFileAtomicSync } from '#core/write-files'
import { writeBlock } from '#trigger/export-triggers'
import { tierZeroFiles, tierZeroMarkers } from '#trigger/tier-zero'

export interface IndexFile {
  path: string
  /** `stale`: would change; `written`: changed; `broken`: cannot be read, or its markers are damaged. */
  state: 'current' | 'stale' | 'written' | 'broken'
  problem?: string | undefined
  diff?: string | undefined
}

interface IndexOptions {
  /** Paths from the working directory; `true` or undefined: the usual files that exist. */
  files: true | readonly string[] | undefined
  /** Whether the changes are only shown. */
  dryRun: boolean
  /** Whether nothing is written or shown. */
  check: boolean
}

/** Inserts the block of skills into the instruction files of a project. */
export function writeIndex(
  runtime: Runtime,
  block: string,
  { files, dryRun, check }: IndexOptions,
): IndexFile[] {
  return indexTargets(runtime.cwd, files).map((path): IndexFile => {
    const file = resolve(runtime.cwd, path)
    const { before, text: after, problem } = planFile(file, block)
    if (problem !== undefined) return { path, state: 'broken', problem }
    if (after === before) return { path, state: 'current' }
    if (dryRun) return { path, state: 'stale', diff: unifiedDiff(path, before, after) }
    if (check) return { path, state: 'stale' }
    writeFileAtomicSync(file, after, { within: writeLimit(file, runtime) })
    return { path, state: 'written' }
  })
}

/** Returns the files from the option, else the usual files that exist, else `AGENTS.md`. */
function indexTargets(cwd: string, files: true | readonly string[] | undefined): readonly string[] {
  if (Array.isArray(files) && files.length > 0) return files
  const present = tierZeroFiles.filter((name) => existsSync(join(cwd, name)))
  return present.length > 0 ? present : ['AGENTS.md']
}

const maxBytes = 4 * 1024 * 1024

/** Returns the text of a file before and after the block is inserted. */
function planFile(
  file: string,
  block: string,
): { before: string; text: string; problem: string | undefined } {
  const reading = readRegularFile(file, { maxBytes, keepMark: true })
  const before = reading.ok ? reading.text : ''
  if (!reading.ok && reading.code !== 'file-missing') {
    return { before, problem: reading.message, text: before }
  }
  return { before, problem: undefined, text: before, ...writeBlock(before, block, tierZeroMarkers) }
}
