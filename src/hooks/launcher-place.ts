import { join } from 'node:path'
import { type Runtime, userDirectories } from '../base/index.ts'

/** In every command that we register: by this an entry is known to be ours. */
export const launcherName = 'skillrail-hook'

/** Where the hook lies that clients call: one path for ever, whatever happens to the package. */
export function launcherDirectory(runtime: Pick<Runtime, 'env' | 'home'>): string {
  return join(userDirectories(runtime).data, 'hook')
}

export function launcherPath(runtime: Pick<Runtime, 'env' | 'home' | 'platform'>): string {
  const name = runtime.platform === 'win32' ? `${launcherName}.cmd` : launcherName
  return join(launcherDirectory(runtime), name)
}
