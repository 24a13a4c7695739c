import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '#core/json'
import { readRegularFile } from '#core/read-files'
import { displayPath } from '#chain/lookup'
import { allSteps, type PlannedChain } from '#chain/plan-model'
import { serverFiles } from '#trust/server-files'

/** Digests by path relative to the project. */
export type FileDigests = Readonly<Record<string, string>>

/** Returns the files that a plan's checks use, as far as their command lines and scripts name them. */
export function filesOfChecks(root: PlannedChain, workspace: string): FileDigests {
  const checks = allSteps(root).flatMap(({ check }) => check ?? [])
  return digestsOf(
    checks.flatMap((check) => filesOfCheck(check, workspace)),
    workspace,
  )
}

/**
 * Returns the files of one check that have changed since the start of the rail: the agent may have changed
 * the check of its own work.
 */
export function changedFiles(check: string, before: FileDigests, workspace: string): string[] {
  const now = digestsOf(filesOfCheck(check, workspace), workspace)
  return Object.keys(now)
    .filter((path) => now[path] !== before[path])
    .toSorted()
}

function filesOfCheck(check: string, workspace: string): string[] {
  const files = serverFiles(check, '', workspace) ?? []
  return files.map(({ path }) => displayPath(workspace, path))
}

function digestsOf(paths: readonly string[], workspace: string): FileDigests {
  return Object.fromEntries(
    [...new Set(paths)].map((path) => [path, digestOf(join(workspace, path))]),
  )
}

function digestOf(path: string): string {
  if (!existsSync(path)) return 'missing'
  const reading = readRegularFile(path, { maxBytes: 64 * 1024 * 1024, binary: true })
  return reading.ok ? sha256(reading.bytes) : 'unreadable'
}
