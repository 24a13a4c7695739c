import { statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { loadConfiguration } from '../core/configuration.ts'
import type { Runtime } from '../core/runtime.ts'
import { shellWord } from '../core/text.ts'
import { discoverOptionsFrom, discoverSkills } from '../library/discover.ts'
import { adapters, type HookAdapter, type Platform } from './adapters.ts'
import { launcherName, launcherPath } from './launcher.ts'

export type HookScope = 'user' | 'project'
type Place = Pick<Runtime, 'env' | 'home' | 'platform'>

/** The command line of each part. It must not change: clients that trust it by its text ask again. */
export function hookCommands(
  runtime: Place,
  platform: Platform,
  scope: HookScope,
  parts: number,
): string[] {
  return hookArguments(platform, parts).map((argument) => {
    const isWindows = runtime.platform === 'win32'
    if (scope === 'user' && isWindows) return `${windowsStart(runtime, platform)} ${argument}`
    const shared = `"\${XDG_DATA_HOME:-$HOME/.local/share}/skillrail/hook/${launcherName}"`
    return guardedCommand(scope === 'user' ? shellWord(launcherPath(runtime)) : shared, argument)
  })
}

export function hookArguments(platform: Platform, parts: number): string[] {
  if (parts === 1) return [platform]
  return Array.from({ length: parts }, (_, index) => `${platform} ${index + 1}/${parts}`)
}

export function guardedCommand(path: string, argument: string): string {
  // Some clients block a prompt or a tool where a hook cannot be started or fails, and some wait
  // for the children of a shell that they have ended.
  const start = `exec 3<&0; ${path} ${argument} <&3 & trap "kill $!" TERM INT HUP; wait $!`
  return `if [ -x ${path} ]; then ${start}; else cat >/dev/null; fi; exit 0`
}

/** How a shell of Windows starts the launcher, whose path may hold blanks. It was not run by us. */
function windowsStart(runtime: Place, platform: Platform): string {
  const path = launcherPath(runtime)
  const windowsPath = path.replaceAll('/', '\\')
  const { windowsShell } = adapters[platform]
  if (windowsShell === 'bash') return shellWord(path.replaceAll('\\', '/'))
  return windowsShell === 'cmd' ? `"${windowsPath}"` : `& '${windowsPath.replaceAll("'", "''")}'`
}

export function clientHome({ home }: HookAdapter, runtime: Runtime): string {
  const moved = home.variable === undefined ? undefined : runtime.env[home.variable]
  if (moved === undefined || !isAbsolute(moved)) return join(runtime.home, home.path)
  return home.moves === 'home' ? join(moved, home.path) : moved
}

export function configurationPath(
  adapter: HookAdapter,
  runtime: Runtime,
  scope: HookScope,
  workspace: string,
): string {
  if (scope === 'user') return join(clientHome(adapter, runtime), adapter.files.user)
  return join(workspace, adapter.files.project)
}

/** The bytes of all references of the skill with the most: what one prompt can ask for. */
export function largestInjection(runtime: Runtime): number {
  const { settings } = loadConfiguration(runtime)
  const { skills } = discoverSkills(discoverOptionsFrom(runtime, settings))
  const sums = skills.map(({ directory, fields }) => {
    const files = new Set(fields.triggers.map(({ inject }) => join(directory, inject)))
    const stats = [...files].map((file) => statSync(file, { throwIfNoEntry: false }))
    return stats.reduce((sum, file) => sum + (file?.isFile() === true ? file.size : 0), 0)
  })
  return Math.max(0, ...sums)
}
