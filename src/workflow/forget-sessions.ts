import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from '../base/index.ts'
import { sessionLifetimeMs } from './session.ts'
import { sessionsDirectory } from './session-place.ts'

export interface ForgetSessionsOptions {
  /** The root of the project. */
  project: string
  runtime: Pick<Runtime, 'now'>
  /** With what the ids begin that were made up; what follows is the id of a runtime. */
  prefix: string
}

/**
 * Removes what sessions left that nobody named and that nobody wrote to for as long as a session
 * lasts. What cannot be removed stays.
 */
export function forgetSessions({ project, runtime, prefix }: ForgetSessionsOptions): void {
  const directory = sessionsDirectory(project)
  for (const name of namesIn(directory)) {
    if (!name.startsWith(prefix) || !madeUp.test(name.slice(prefix.length))) continue
    const path = join(directory, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats?.isFile() !== true || runtime.now() - stats.mtimeMs <= sessionLifetimeMs) continue
    try {
      rmSync(path, { force: true })
    } catch {
      // A folder that cannot be written keeps them.
    }
  }
}

/** The rest of a file's name: its session, the log of its calls, and the log before that. */
const madeUp = /^[0-9a-z]{14}\.(?:json|calls\.jsonl(?:\.old)?)$/

/** None in a folder that is elsewhere in truth. */
function namesIn(directory: string): string[] {
  try {
    return lstatSync(directory).isDirectory() ? readdirSync(directory) : []
  } catch {
    return []
  }
}
