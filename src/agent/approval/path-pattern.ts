import { wordFits } from './command-pattern.ts'

/**
 * Whether a path fits patterns such as `src/**`, `docs/*.md` or `//etc/hosts`. Paths and patterns
 * count from the project's directory and use `/`; an absolute path is outside of it and fits only a
 * pattern that begins with `//`. `**` stands for any directories, `*` for characters of one name.
 */
export function pathFits(path: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    if (pattern === '*' || pattern === '**') return !path.startsWith('/')
    return globFits(path, normal(pattern))
  })
}

/**
 * Whether something below a path could fit one of the patterns. What is outside of the project may
 * hold the project itself, so that every pattern of the project could fit there.
 */
export function pathMayHold(path: string, patterns: readonly string[]): boolean {
  const names = path === '.' ? [] : path === '/' ? [''] : path.split('/')
  return patterns.some((pattern) => {
    const wanted = normal(pattern)
    const onDisk = wanted.startsWith('/')
    if (path.startsWith('/') !== onDisk) return !onDisk
    const parts = wanted.split('/')
    return [...placesAfter(names, parts)].some((place) => place < parts.length)
  })
}

/** Whether a path with `/` fits a pattern of directories and names. */
export function globFits(path: string, pattern: string): boolean {
  const wanted = pattern.split('/')
  return placesAfter(path.split('/'), wanted).has(wanted.length)
}

/** The places in a pattern that the names of a path can have come to; none where they do not fit. */
function placesAfter(names: readonly string[], wanted: readonly string[]): ReadonlySet<number> {
  let places = skipDirectories(new Set([0]), wanted)
  for (const name of names) {
    const next = new Set<number>()
    for (const place of places) {
      const part = wanted[place]
      if (part === undefined) continue
      if (part === '**') next.add(place)
      else if (wordFits(name, part)) next.add(place + 1)
    }
    if (next.size === 0) return next
    places = skipDirectories(next, wanted)
  }
  return places
}

function skipDirectories(places: ReadonlySet<number>, wanted: readonly string[]): Set<number> {
  const all = new Set(places)
  for (const place of all) if (wanted[place] === '**') all.add(place + 1)
  return all
}

/** `./src` and `/src` are the project's, `//etc` is the disk's. */
function normal(pattern: string): string {
  if (pattern.startsWith('//')) return pattern.slice(1)
  if (pattern.startsWith('./')) return pattern.slice(2)
  return pattern.startsWith('/') ? pattern.slice(1) : pattern
}
