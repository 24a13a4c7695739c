import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isInside, realPathOf, type Runtime } from '../base/index.ts'

/**
 * The workspace that a directory belongs to, as a real path: the nearest directory above it that
 * holds `.git`, else the directory itself. The user's home, or one above it, is a workspace only
 * where it is asked for by name: a home kept in Git must not cover every folder unpacked in it.
 */
export function findWorkspace(directory: string, runtime: Pick<Runtime, 'home'>): string {
  const start = realPathOf(directory) ?? directory
  const home = realPathOf(runtime.home) ?? runtime.home
  for (let candidate = start; ; candidate = dirname(candidate)) {
    if (isInside(candidate, home)) return start
    if (existsSync(join(candidate, '.git'))) return candidate
    if (dirname(candidate) === candidate) return start
  }
}
