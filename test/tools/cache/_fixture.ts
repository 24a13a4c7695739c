import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Runtime, systemRuntime } from '../../../src/core/runtime.ts'
import type { ServerFailure, ToolDefinition } from '../../../src/tools/model.ts'
import type { ListingPool } from '../../../src/tools/cache/discover.ts'
import type { RefreshOptions } from '../../../src/tools/cache/refresh.ts'

export interface Fixture {
  project: string
  home: string
  runtime: Runtime
  /** Milliseconds since the epoch; moves only when it is set. */
  clock: { now: number }
}

/** A separate project and home, and a fixed clock. */
export function makeFixture(): Fixture {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-tools-')))
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-home-')))
  const clock = { now: Date.parse('2026-03-01T10:00:00Z') }
  const runtime = systemRuntime({ now: () => clock.now, env: {}, cwd: project, home })
  return { project, home, runtime, clock }
}

export function tool(id: string, facts: Partial<ToolDefinition> = {}): ToolDefinition {
  const at = id.indexOf('__')
  return {
    id,
    server: id.slice(0, at),
    name: id.slice(at + 2),
    description: `Does ${id.slice(at + 2).replaceAll('_', ' ')}`,
    inputSchema: { type: 'object', properties: {} },
    ...facts,
  }
}

/** A pool that lists these tools. */
export function poolOf(
  tools: readonly ToolDefinition[],
  failures: readonly ServerFailure[] = [],
): ListingPool & { calls: number } {
  const pool = {
    calls: 0,
    list: () => {
      pool.calls++
      return Promise.resolve({ tools, failures })
    },
  }
  return pool
}

export function serversOf(...names: string[]): RefreshOptions['servers'] {
  return names.map((name) => ({ name, digest: `sha256:${name}`, trusted: true }))
}
