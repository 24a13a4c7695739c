import { isAbsolute, join } from 'node:path'
import type { Runtime } from '../base/index.ts'
import type { HookAdapter } from './adapter.ts'
import type { HookScope } from './hook-command.ts'

/** The client's own directory: where its variable says, else below the user's home. */
export function clientHome({ home }: HookAdapter, runtime: Runtime): string {
  const moved = home.variable === undefined ? undefined : runtime.env[home.variable]
  if (moved === undefined || !isAbsolute(moved)) return join(runtime.home, home.path)
  return home.moves === 'home' ? join(moved, home.path) : moved
}

/** The file that the hook is registered in. */
export function configurationPath(
  adapter: HookAdapter,
  runtime: Runtime,
  scope: HookScope,
  workspace: string,
): string {
  return scope === 'user'
    ? join(clientHome(adapter, runtime), adapter.files.user)
    : join(workspace, adapter.files.project)
}
