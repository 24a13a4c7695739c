import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Runtime, systemRuntime } from '../../../src/core/runtime.ts'
import type { ServerDefinition } from '../../../src/tools/config/model.ts'

export const serverProgram: string = fileURLToPath(
  new URL('../../fixtures/programs/mcp-server.mjs', import.meta.url),
)

/** A runtime with the search path alone and a home of its own, in which sign-ins are looked up. */
export function emptyRuntime(): Runtime {
  return systemRuntime({
    env: { PATH: process.env['PATH'] },
    home: mkdtempSync(join(tmpdir(), 'servers-home-')),
  })
}

/** A marker that no other process on this machine has. */
export function newMarker(): string {
  return `marker-${process.pid}-${Math.random().toString(36).slice(2)}`
}

/** Running processes with the marker among their arguments; zombies do not count. */
export function processesWith(marker: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      return words.includes(marker) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

export function definition(
  name: string,
  transport: ServerDefinition['transport'],
  more: Partial<ServerDefinition> = {},
): ServerDefinition {
  return {
    name,
    transport,
    source: { client: 'cursor', path: '/home/user/.cursor/mcp.json', scope: 'user' },
    startupTimeoutMs: 20_000,
    callTimeoutMs: 20_000,
    disabled: false,
    trusted: true,
    digest: 'sha256:0',
    ...more,
  }
}

export function testServer(
  name: string,
  marker: string,
  habits: readonly string[] = [],
  more: Partial<ServerDefinition> = {},
): ServerDefinition {
  const args = ['--disable-warning=ExperimentalWarning', serverProgram, marker, ...habits]
  return definition(name, { kind: 'stdio', command: process.execPath, args, env: {} }, more)
}
