import { isAbsolute, join } from 'node:path'
import type { Runtime } from '../base/index.ts'
import type { HookAdapter } from './adapter.ts'
import type { HookScope } from './hook-command.ts'

/** The client's own directory: where its variable says, else below the user's home. */
export function clientHome({ home }: HookAdapter, runtime: Runtime): string {
  const moved = home.variable === undefined ? undefined : runtime.env[home.variable]
  return moved !== undefined && isAbsolute(moved) ? moved : join(runtime.home, home.path)
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
