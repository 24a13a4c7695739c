import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { type Runtime, systemRuntime } from '../../src/core/runtime.ts'
import type { RailSession } from '../../src/rail/session.ts'

const writer = fileURLToPath(new URL('../fixtures/programs/rail-writer.ts', import.meta.url))

export function temporaryHome(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-rail-state-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  return home
}

export function runtimeIn(home: string): Runtime {
  return systemRuntime({ home, cwd: home, env: {} })
}

export function makeRail(): RailSession {
  return {
    version: 1,
    session: 's1',
    client: 'claude',
    workspace: '/w',
    runId: 'run1',
    chain: 'release',
    standing: 'working',
    reason: '',
    steps: ['build'],
    guards: [],
    checkFiles: {},
    turn: { id: 't1', receivedStep: false, worked: false, blocks: 0 },
    sequence: 0,
  }
}

/** Processes that change the one rail of `home`, each so often. */
export function writers(
  home: string,
  log: string,
  count: number,
  rounds: number,
): { child: ChildProcess; ended: Promise<unknown> }[] {
  return Array.from({ length: count }, () => {
    const command = ['--no-warnings', writer, home, log, String(rounds)]
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'inherit'] })
    return { child, ended: once(child, 'close') }
  })
}
