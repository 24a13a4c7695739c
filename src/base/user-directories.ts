import { isAbsolute, join } from 'node:path'
import type { Runtime } from './runtime.ts'

/** Where Skillrail keeps a user's own files; each path ends in `skillrail`. */
export interface UserDirectories {
  config: string
  state: string
  cache: string
  data: string
}

/**
 * The XDG base directories, on every platform. A relative value of an XDG variable is ignored, as
 * the XDG Base Directory Specification asks.
 */
export function userDirectories(runtime: Pick<Runtime, 'env' | 'home'>): UserDirectories {
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
