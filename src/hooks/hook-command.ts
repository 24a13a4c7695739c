import { type Runtime } from '../base/index.ts'
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
  const start = scope === 'user' ? userCommand(runtime) : projectCommand
  return Array.from({ length: parts }, (_, index) => {
    const part = parts === 1 ? '' : ` ${index + 1}/${parts}`
    return start(`${platform}${part}`)
  })
}

function userCommand(runtime: Pick<Runtime, 'env' | 'home' | 'platform'>) {
  const path = launcherPath(runtime)
  const quoted = runtime.platform === 'win32' ? `"${path}"` : shellQuote(path)
  return (argument: string): string => `${quoted} ${argument}`
}

function projectCommand(argument: string): string {
  const path = `"\${XDG_DATA_HOME:-$HOME/.local/share}/skillrail/hook/${launcherName}"`
  return `if [ -x ${path} ]; then exec ${path} ${argument}; else cat >/dev/null; fi`
}
