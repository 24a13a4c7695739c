import type { Context } from '../../src/core/command.ts'
import { loadConfiguration } from '../../src/core/configuration.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { ServedProject } from '../../src/mcp/served-project.ts'

/** A project as the command serves it, without a separate process. */
export function projectAt(cwd = '/', home = '/nonexistent'): ServedProject {
  const runtime = systemRuntime({ cwd, home, env: {} })
  const nothing = (): void => undefined
  const context: Context = {
    runtime,
    settings: loadConfiguration(runtime).settings,
    signal: new AbortController().signal,
    globals: { trustWorkspace: false },
    interactive: false,
    diagnose: nothing,
    note: nothing,
    emit: nothing,
    ask: ({ otherwise }) => Promise.reject(otherwise()),
    stdin: () => Promise.resolve(''),
  }
  return new ServedProject(context, { yes: false })
}
