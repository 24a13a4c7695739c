import { homedir } from 'node:os'
import { randomText } from './random-text.ts'

/** Everything a run may depend on besides its input: clock, ids and the environment, passed in. */
export interface Runtime {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds on a clock that never jumps, for durations. */
  elapsed(): number
  /** 14 characters of `[0-9a-z]`; ids made later sort after earlier ones (to the millisecond). */
  id(): string
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  home: string
  platform: NodeJS.Platform
}

/** The real clock, random ids and the environment of this process, with parts replaced for tests. */
export function systemRuntime(overrides: Partial<Runtime> = {}): Runtime {
  const env = overrides.env ?? process.env
  const now = overrides.now ?? Date.now
  return {
    now,
    // `performance` would have to be loaded first.
    elapsed: () => process.uptime() * 1000,
    id: () => timeOrderedId(now()),
    env,
    cwd: process.cwd(),
    home: env['HOME'] || homedir(),
    platform: process.platform,
    ...overrides,
  }
}

function timeOrderedId(now: number): string {
  return now.toString(36).padStart(9, '0') + randomText(5)
}
