import { checkOptions, type OptionOwner, rule } from './api-options.ts'
import { existsSync, readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { type Diagnostic, UsageError } from './errors.ts'
import { hexDigest } from './json.ts'
import { isInside, realPathOf } from './read-files.ts'
import type { Settings } from './settings.ts'

/** Everything that a run depends on besides its input: clock, IDs and environment. */
export interface Runtime {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds on a clock that never jumps, for durations. */
  elapsed(): number
  /** 14 characters of `[0-9a-z]`; a later ID sorts after an earlier one (to the millisecond). */
  id(): string
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  home: string
  user(): string
  platform: NodeJS.Platform
}

/** Returns the time between two readings of the wall clock; undefined if the clock was set back between them. */
export function timeBetween(from: number, to: number): number | undefined {
  return to >= from ? to - from : undefined
}

const runtimeOptions: OptionOwner<Partial<Runtime>> = {
  of: 'a runtime',
  rules: {
    now: rule.callback,
    elapsed: rule.callback,
    id: rule.callback,
    env: rule.object,
    cwd: rule.text,
    home: rule.text,
    user: rule.callback,
    platform: rule.text,
  },
}

/** Returns the real clock, random IDs and the environment of this process; tests replace parts. */
export function systemRuntime(parts: Partial<Runtime> = {}): Runtime {
  const overrides = checkOptions(parts, runtimeOptions)
  const env = overrides.env ?? process.env
  const now = overrides.now ?? Date.now
  const cwd = overrides.cwd ?? process.cwd()
  return {
    now,
    // Node would have to load `performance` first.
    elapsed: () => process.uptime() * 1000,
    id: () => now().toString(36).padStart(9, '0') + randomText(5),
    env,
    cwd,
    home: homeDirectory(env, cwd),
    user: accountName,
    platform: process.platform,
    ...overrides,
  }
}

/**
 * Returns the user's home. A `HOME` that is relative, empty or in the project does not count, because the
 * project could provide its files. The account's entry decides then; in some containers it is missing.
 *
 * @throws {UsageError} if neither names a home directory.
 */
export function homeDirectory(env: Runtime['env'], cwd: string): string {
  const candidate = [env['HOME'], systemHome()].find((path) => isOutsideProject(path, cwd))
  const home = candidate ?? accountHome()
  if (home !== undefined) return home
  const message = 'this account has no home directory outside of the project'
  const hint = 'Set HOME to a directory outside of the project.'
  throw new UsageError({ code: 'home-missing', message, hint })
}

function systemHome(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined // Neither HOME nor the account's entry exists.
  }
}

/**
 * Returns the hook's plugin, which the plugin's launcher passes. A value that leads into the project does
 * not count: otherwise a repository could declare a folder with its skills as the user's.
 */
export function pluginOfHook({ env, cwd }: Pick<Runtime, 'env' | 'cwd'>): string | undefined {
  const { SKILLRAIL_PLUGIN: path } = env
  return isOutsideProject(path, cwd) ? path : undefined
}

function accountName(): string {
  try {
    return userInfo().username
  } catch {
    // An account without an entry, as in some containers.
    return String(process.getuid?.() ?? '')
  }
}

/** Returns `length` random lower-case letters and digits from the system's secure source. */
export function randomText(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length))
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('')
}

/**
 * Returns letters and digits for a unique name. Unlike {@link randomText}, it loads no cryptography, which
 * takes as long as everything else in the hook.
 */
export function uniqueText(length: number): string {
  const characters = Array.from({ length }, () => Math.floor(Math.random() * 36).toString(36))
  return characters.join('')
}

/**
 * Returns the XDG base directories, on every platform. As XDG requires, relative values are ignored. A value
 * that leads into the project is ignored too: a repository could contain a trust record, settings or a cache.
 */
export function userDirectories(runtime: PlaceRuntime) {
  return {
    config: base('XDG_CONFIG_HOME', '.config'),
    state: base('XDG_STATE_HOME', '.local/state'),
    cache: base('XDG_CACHE_HOME', '.cache'),
    data: base('XDG_DATA_HOME', '.local/share'),
  }

  function base(variable: string, fallback: string): string {
    const value = runtime.env[variable]
    const directory = value && isAbsolute(value) ? join(value, 'skillrail') : undefined
    return isOutsideProject(directory, runtime.cwd)
      ? directory
      : join(runtime.home, fallback, 'skillrail')
  }
}

/** The parts of a runtime that determine the places of a user's files. */
export type PlaceRuntime = Pick<Runtime, 'env' | 'home' | 'cwd'>

/** Returns a warning for each variable that is ignored because it leads into the project. */
export function ignoredPlaces(runtime: PlaceRuntime): Diagnostic[] {
  const { env, cwd, home } = runtime
  const { config, state, cache, data } = userDirectories(runtime)
  const directories = {
    HOME: home,
    XDG_CONFIG_HOME: config,
    XDG_STATE_HOME: state,
    XDG_CACHE_HOME: cache,
    XDG_DATA_HOME: data,
  }
  const plugin = env['SKILLRAIL_PLUGIN']
  const places = Object.entries(directories).flatMap(([path, instead]) => {
    const value = env[path]
    if (!value || !isAbsolute(value) || instead === value) return []
    if (instead === join(value, 'skillrail') || !isInProject(value, cwd)) return []
    const message = `the variable leads into the project (${value}), so it is ignored: a repository could bring such files. ${instead} is used`
    const hint = 'Set it to a directory outside of the project. state.directory can move runs.'
    return [{ code: 'place-in-project', severity: 'warning' as const, message, path, hint }]
  })
  if (plugin === undefined || pluginOfHook(runtime) !== undefined) return places
  const path = 'SKILLRAIL_PLUGIN'
  const message = `the variable leads into the project (${plugin}), so it is ignored: a repository could bring skills of its own as yours`
  return [...places, { code: 'place-in-project', severity: 'warning', message, path }]
}

function isOutsideProject(path: string | undefined, cwd: string): path is string {
  return path !== undefined && isAbsolute(path) && !isInProject(path, cwd)
}

/**
 * Whether a path is inside the project of a directory; the path need not exist. The project is the outermost
 * repository around the directory, else the directory itself. Files in the account's home belong to the
 * user, even if the home is a Git repository.
 */
export function isInProject(path: string, cwd: string): boolean {
  const account = accountHome()
  const start = realPathOf(cwd) ?? cwd
  let project = start
  for (let candidate = start; ; candidate = dirname(candidate)) {
    if (account !== undefined && isInside(candidate, account)) break
    if (existsSync(join(candidate, '.git'))) project = candidate
    if (dirname(candidate) === candidate) break
  }
  if (account !== undefined && isInside(project, account)) return false
  return isInside(project, realPlaceOf(path))
}

/** Resolves every link on the way, even if the last parts of the path do not exist yet. */
function realPlaceOf(path: string): string {
  const realPath = realPathOf(path)
  const parent = dirname(path)
  return realPath ?? (parent === path ? path : join(realPlaceOf(parent), basename(path)))
}

let cachedHome: { path: string | undefined } | undefined

/** Returns the home directory in the account's entry, independent of variables; some accounts have none. */
export function accountHome(): string | undefined {
  if (cachedHome) return cachedHome.path
  let path: string | undefined
  try {
    const { homedir: entry } = userInfo()
    path = isAbsolute(entry) ? (realPathOf(entry) ?? entry) : undefined
  } catch {
    path = undefined
  }
  cachedHome = { path }
  return path
}

let cachedVersion: string | undefined

export function packageVersion(): string {
  if (cachedVersion !== undefined) return cachedVersion
  // The hook of a package for agent clients is one folder below its manifest.
  const manifests = ['../../package.json', '../package.json'].map((place) => {
    try {
      return readFileSync(new URL(place, import.meta.url), 'utf8')
    } catch {
      return '' // Bundled into a program without a manifest there.
    }
  })
  const own = manifests.find((text) => /"name":\s*"skillrail"/.test(text))
  cachedVersion = /"version":\s*"([^"]*)"/.exec(own ?? '')?.[1] ?? 'unknown'
  return cachedVersion
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

/** Waits for the work until the signal aborts; leaves no listener behind. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // One promise instead of `Promise.race`, because every step and every tool call waits here.
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
    // Work that is already done still counts.
    if (signal.aborted) queueMicrotask(stop)
  })
}

export interface StatePlace {
  runtime: PlaceRuntime
  settings: Pick<Settings, 'state'>
}

/** Returns the user's state directory: the setting `state.directory`, or that of XDG. */
export function stateDirectory({ runtime, settings }: StatePlace): string {
  const { directory } = settings.state
  if (directory === '') return userDirectories(runtime).state
  if (isAbsolute(directory)) return directory
  const message = `state.directory must be an absolute path, not ${JSON.stringify(directory)}`
  const hint = 'A relative path would be inside the project.'
  throw new UsageError({ code: 'state-directory-relative', message, hint })
}

/**
 * Returns the directory for the user's files about one project, such as run journals and sessions. Its name
 * contains a digest of the project's real path. A `state.directory` in the project is used only for files
 * that are `sealed` with a key from outside: a build machine can keep its runs there between jobs.
 */
export function projectStateDirectory(
  project: string,
  place: StatePlace,
  { sealed = false } = {},
): string {
  const realProject = realPathOf(project) ?? project
  const digest = hexDigest(realProject, 16)
  const name = basename(realProject)
    .replaceAll(/[^\w.-]/g, '_')
    .slice(0, 40)
  const state = sealed ? stateDirectory(place) : ownStateDirectory(place)
  return join(state, 'projects', `${name}-${digest}`)
}

/** Returns {@link stateDirectory}, or that of XDG if the setting leads into the project. */
export function ownStateDirectory(place: StatePlace): string {
  const directory = stateDirectory(place)
  return isOutsideProject(directory, place.runtime.cwd)
    ? directory
    : userDirectories(place.runtime).state
}
