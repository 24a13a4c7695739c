import { loadConfiguration } from '../../src/core/configuration.ts'
import type { Context } from '../../src/core/command.ts'
import { systemRuntime } from '../../src/core/runtime.ts'

interface Place {
  directory: string
  home: string
  env?: Readonly<Record<string, string | undefined>>
}

/** What a command gets that is called in a directory, where nobody can be asked. */
export function contextIn({ directory, home, env = {} }: Place): Context {
  const runtime = { ...systemRuntime(), cwd: directory, home, env: { ...env, HOME: home } }
  const { settings } = loadConfiguration(runtime)
  const ignore = (): void => undefined
  return {
    runtime,
    settings,
    signal: new AbortController().signal,
    globals: { directory: undefined, config: undefined, trustWorkspace: false },
    note: ignore,
    diagnose: ignore,
    emit: ignore,
    interactive: false,
    ask: ({ otherwise }) => Promise.reject(otherwise()),
    stdin: async () => '',
  }
}
