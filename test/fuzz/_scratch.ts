import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Runtime, systemRuntime } from '../../src/core/runtime.ts'

/** A folder of this process, removed with it. */
export function scratchFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillrail-fuzz-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** An empty machine, whose home and project are in the folder. */
export function emptyMachine(folder: string): Runtime {
  const home = path.join(folder, 'home')
  const cwd = path.join(folder, 'project')
  for (const each of [home, path.join(cwd, '.git')]) mkdirSync(each, { recursive: true })
  const env = { HOME: home, TOKEN: 'token-of-the-user', EMPTY: '' }
  return systemRuntime({ env, home, cwd, platform: 'linux', now: () => 1_800_000_000_000 })
}

export function writeIn(file: string, content: Uint8Array | string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, content)
}
