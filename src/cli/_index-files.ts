import { existsSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { readRegularFile, writeFileAtomicSync } from '../base/index.ts'
import { tierZeroFiles, tierZeroMarkers, writeBlock } from '../trigger/index.ts'
import { unifiedDiff } from '../base/unified-diff.ts'

export interface IndexFile {
  /** As it was given. */
  path: string
  file: string
  /** `stale`: it would change; `written`: it was; `broken`: it cannot be read or its markers are damaged. */
  state: 'current' | 'stale' | 'written' | 'broken'
  text: string
  diff: string
  problem?: string | undefined
}

const mostBytes = 4 * 1024 * 1024

/** The files that are named; else those of the table that exist; else `AGENTS.md`. */
export function indexTargets(
  cwd: string,
  named: boolean | readonly string[] | undefined,
): { path: string; file: string }[] {
  const names = typeof named === 'object' ? named : []
  const present = tierZeroFiles.filter((name) => existsSync(join(cwd, name)))
  const fallback = present.length > 0 ? present : ['AGENTS.md']
  return (names.length > 0 ? names : fallback).map((path) => ({
    path,
    file: isAbsolute(path) ? path : resolve(cwd, path),
  }))
}

export function planIndex(
  targets: readonly { path: string; file: string }[],
  block: string,
): IndexFile[] {
  return targets.map(({ path, file }) => {
    const reading = readRegularFile(file, { maxBytes: mostBytes })
    if (!reading.ok && reading.code !== 'file-missing') {
      return { path, file, state: 'broken', text: '', diff: '', problem: reading.message }
    }
    const before = reading.ok ? reading.text : ''
    const written = writeBlock(before, block, tierZeroMarkers)
    if ('problem' in written) {
      return { path, file, state: 'broken', text: before, diff: '', problem: written.problem }
    }
    const diff = unifiedDiff(path, before, written.text)
    return { path, file, state: diff === '' ? 'current' : 'stale', text: written.text, diff }
  })
}

/** Writes what is out of date, through a link to the file itself. */
export function writeIndex(files: IndexFile[]): void {
  for (const entry of files) {
    if (entry.state !== 'stale') continue
    const there = existsSync(entry.file)
    const real = there ? realpathSync(entry.file) : entry.file
    writeFileAtomicSync(real, entry.text, { mode: there ? statSync(real).mode & 0o777 : 0o644 })
    entry.state = 'written'
  }
}
