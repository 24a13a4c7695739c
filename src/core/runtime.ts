import { readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { UsageError } from './errors.ts'
import { hexDigest } from './json.ts'
import { realPathOf } from './read-files.ts'
import type { Settings } from './settings.ts'

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
  user(): string
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
    id: () => now().toString(36).padStart(9, '0') + randomText(5),
    env,
    cwd: process.cwd(),
    home: homeOf(env['HOME']),
    user: accountName,
    platform: process.platform,
    ...overrides,
  }
}

/** For a relative or empty `HOME` the account's home counts, since it would be the project. */
function homeOf(given: string | undefined): string {
  const home = [given, homedir()].find((path) => path !== undefined && isAbsolute(path))
  return home ?? userInfo().homedir
}

function accountName(): string {
  try {
    return userInfo().username
  } catch {
    // An account without an entry, as in some containers.
    return String(process.getuid?.() ?? '')
  }
}

/** Random lower-case letters and digits, `length` of them, from the system's secure source. */
export function randomText(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length))
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('')
}

/** The XDG base directories, on every platform. As XDG asks, relative values are ignored. */
export function userDirectories(runtime: Pick<Runtime, 'env' | 'home'>) {
  return {
    config: base('XDG_CONFIG_HOME', '.config'),
    state: base('XDG_STATE_HOME', '.local/state'),
    cache: base('XDG_CACHE_HOME', '.cache'),
    data: base('XDG_DATA_HOME', '.local/share'),
  }

  function base(variable: string, fallback: string): string {
    const value = runtime.env[variable]
    const directory = value && isAbsolute(value) ? value : join(runtime.home, fallback)
    return join(directory, 'skillrail')
  }
}

let knownVersion: string | undefined

export function packageVersion(): string {
  if (knownVersion !== undefined) return knownVersion
  try {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    knownVersion = /"version":\s*"([^"]*)"/.exec(manifest)?.[1] ?? 'unknown'
  } catch {
    knownVersion = 'unknown' // Bundled into a program without a manifest beside it.
  }
  return knownVersion
}

export function clientInfo() {
  return { name: 'skillrail', version: packageVersion() }
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Waits for the work, but not longer than the signal lets it; leaves no listener behind. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // One promise and no `Promise.race`: every step and every call of a tool waits here.
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    work.then(
      (value) => {
        signal.removeEventListener('abort', stop)
        resolve(value)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', stop)
        reject(error)
      },
    )
    // Work that is done by now still counts.
    if (signal.aborted) queueMicrotask(stop)
  })
}

export interface StatePlace {
  runtime: Pick<Runtime, 'env' | 'home'>
  settings: Pick<Settings, 'state'>
}

/** The user's state directory: that of the setting `state.directory`, or of XDG. */
export function stateDirectory({ runtime, settings }: StatePlace): string {
  const { directory } = settings.state
  if (directory === '') return userDirectories(runtime).state
  if (isAbsolute(directory)) return directory
  const message = `state.directory must be an absolute path, not ${JSON.stringify(directory)}`
  const hint = 'A relative path would be inside the project.'
  throw new UsageError({ code: 'state-directory-relative', message, hint })
}

/**
 * Where the user keeps what belongs to one project, such as run journals and sessions. The name has
 * a digest of the real path of the project: a repository can neither bring it nor guess at another.
 */
export function projectStateDirectory(project: string, place: StatePlace): string {
  const real = realPathOf(project) ?? project
  const digest = hexDigest(real, 16)
  const name = basename(real)
    .replaceAll(/[^\w.-]/g, '_')
    .slice(0, 40)
  return join(stateDirectory(place), 'projects', `${name}-${digest}`)
}
