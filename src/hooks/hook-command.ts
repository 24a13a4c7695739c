import { type Runtime } from '../base/index.ts'
import { adapters } from './adapters.ts'
import { launcherName, launcherPath } from './launcher-place.ts'
import { shellQuote } from './launcher-text.ts'
import type { Platform } from './platform.ts'

/** Whose configuration the hook is registered in. */
export type HookScope = 'user' | 'project'

/**
 * The command lines of every part. They stay the same for ever: a client that trusts a hook by its
 * text would ask again. In a project's file they mean whoever reads it, and do nothing for someone
 * who has no Skillrail.
 */
export function hookCommands(
  runtime: Pick<Runtime, 'env' | 'home' | 'platform'>,
  platform: Platform,
  scope: HookScope,
  parts: number,
): string[] {
  const start = scope === 'user' ? userCommand(runtime, platform) : projectCommand
  return Array.from({ length: parts }, (_, index) => {
    const part = parts === 1 ? '' : ` ${index + 1}/${parts}`
    return start(`${platform}${part}`)
  })
}

function userCommand(
  runtime: Pick<Runtime, 'env' | 'home' | 'platform'>,
  platform: Platform,
): (argument: string) => string {
  const path = launcherPath(runtime)
  const start =
    runtime.platform === 'win32'
      ? windowsStarts[adapters[platform].windowsShell](path.replaceAll('/', '\\'))
      : shellQuote(path)
  return (argument) => `${start} ${argument}`
}

/** How each shell of Windows starts a program whose path may hold blanks; not run by us. */
const windowsStarts = {
  bash: (path: string) => shellQuote(path.replaceAll('\\', '/')),
  cmd: (path: string) => `"${path}"`,
  powershell: (path: string) => `& '${path.replaceAll("'", "''")}'`,
} as const

function projectCommand(argument: string): string {
  const path = `"\${XDG_DATA_HOME:-$HOME/.local/share}/skillrail/hook/${launcherName}"`
  return `if [ -x ${path} ]; then exec ${path} ${argument}; else cat >/dev/null; fi`
}
