import { type FSWatcher, watch } from 'node:fs'
import { compareText } from '../core/diagnostic.ts'
import type { SkillInfo } from './model.ts'

/** Names of skills that differ from the search before; each in code-point order. */
export type SkillChanges = Readonly<Record<'added' | 'removed' | 'changed', readonly string[]>>

export type WatchListener = (changes: SkillChanges) => void

export interface SkillWatcher {
  /** Stops watching. No call of the listener follows. */
  close(): void
}

interface WatchSkillsOptions {
  search: () => { skills: readonly SkillInfo[]; directories: readonly string[] }
  listener: WatchListener
  debounceMs?: number | undefined
  /** Time between searches that no event asked for; default 5,000. They find what events do not show. */
  pollMs?: number | undefined
}

/** More than this would use up what a user may watch on Linux; the rest is found by polling. */
const maxWatchedDirectories = 1024

/** Watches skills until it is closed. Keeps no process alive. */
export function watchSkills(options: WatchSkillsOptions): SkillWatcher {
  const { search, listener, debounceMs = 100, pollMs = 5000 } = options
  const watchers = new Map<string, FSWatcher>()
  let pending: NodeJS.Timeout | undefined
  let closed = false

  const soon = (): void => {
    clearTimeout(pending)
    if (!closed) pending = setTimeout(refresh, debounceMs).unref()
  }
  const look = (): ReadonlyMap<string, string> => {
    const { skills, directories } = search()
    const wanted = new Set(directories.slice(0, maxWatchedDirectories))
    for (const [directory, watcher] of watchers) {
      if (wanted.has(directory)) continue
      watcher.close()
      watchers.delete(directory)
    }
    for (const directory of wanted) {
      const watcher = watchers.get(directory) ?? tryWatch(directory, soon)
      if (watcher !== undefined) watchers.set(directory, watcher)
    }
    const stateOf = ({ path, size, mtimeMs, trustLevel }: SkillInfo): string =>
      [path, size, mtimeMs, trustLevel].join('\0')
    return new Map(skills.map((skill) => [skill.name, stateOf(skill)]))
  }
  let known = look()
  const refresh = (): void => {
    const before = known
    known = look()
    const changes = changesBetween(before, known)
    if (Object.values(changes).some((names) => names.length > 0)) listener(changes)
  }
  const poll = setInterval(refresh, pollMs).unref()
  return {
    close() {
      closed = true
      clearTimeout(pending)
      clearInterval(poll)
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}

/** Undefined where the system cannot watch it: gone, too many watchers, a network drive. */
function tryWatch(directory: string, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, onEvent)
    // A directory that disappears is an error on some systems; polling sees the rest.
    watcher.on('error', onEvent)
    return watcher
  } catch {
    return undefined
  }
}

function changesBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted(compareText)
  const kept = names.filter((name) => before.has(name) && after.has(name))
  return {
    added: names.filter((name) => !before.has(name)),
    removed: names.filter((name) => !after.has(name)),
    changed: kept.filter((name) => before.get(name) !== after.get(name)),
  }
}
