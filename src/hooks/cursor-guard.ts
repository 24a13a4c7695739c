import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from '../base/index.ts'
import { adapters } from './adapters.ts'
import { launcherName } from './launcher-place.ts'

/** Whether our hook for Cursor itself is registered, so that the one for Claude Code keeps silent. */
export function isOtherHookInCursor({ cwd, home }: Pick<Runtime, 'cwd' | 'home'>): boolean {
  const { home: own, files } = adapters.cursor
  return [join(home, own.path, files.user), join(cwd, files.project)].some(namesLauncher)
}

function namesLauncher(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes(launcherName)
  } catch {
    return false
  }
}
