import { loadConfiguration } from '../../src/core/configuration.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import type { McpWorld } from '../../src/mcp/world.ts'

const unused = (): never => {
  throw new Error('nothing is called here')
}

/** A world without tools and chains, with the skills of a directory; it counts sessions. */
export function emptyWorld(cwd = '/', home = '/nonexistent'): McpWorld & { sessions: number } {
  const runtime = systemRuntime({ cwd, home, env: {} })
  const { settings } = loadConfiguration(runtime)
  const world = {
    version: '0',
    runtime,
    settings,
    tools: { route: unused, describe: unused, open: unused, close: () => Promise.resolve() },
    chains: { start: unused, report: unused, next: unused, status: unused },
    references: unused,
    yes: false,
    sessions: 0,
    session: () => String(++world.sessions),
    note: () => undefined,
  }
  return world
}
