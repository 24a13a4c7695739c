import { lstatSync, readlinkSync } from 'node:fs'
import { isAbsolute, join, parse, relative, resolve, sep } from 'node:path'
import { fitsText } from '#core/fits-text'

// Compares the files of a call with patterns of a guard or of a list of tools, such as `src/*`. One file has
// many paths: through links, through `..`, from another directory.

/** Where the paths of a call and the patterns start. All of them are absolute. */
interface PathOrigin {
  cwd: string
  workspace: string
  home: string
}

/** Whether a path may name a file that the pattern covers. A path that nobody can follow may be any file. */
export function mayBeFile(path: string, pattern: string, origin: PathOrigin): boolean {
  const { cwd, home } = origin
  const texts = /^~[\\/]/.test(path) ? [path, join(home, path.slice(2))] : [path]
  const wanted = letters(plainPattern(pattern))
  return texts.some((text) => {
    const places = [resolve(cwd, text), ...realPlaces(text, cwd)]
    return places.some(
      (place) => place === undefined || fitsText(letters(inProject(place, origin)), wanted),
    )
  })
}

/** Whether a path names a file that one of the patterns covers, however the client follows the path. */
export function isFileOf(path: string, patterns: readonly string[], origin: PathOrigin): boolean {
  return realPlaces(path, origin.cwd).every((place) => {
    if (place === undefined) return false
    return patterns.some((one) => fitsText(inProject(place, origin), plainPattern(one)))
  })
}

/** Some file systems do not tell `Src` from `src`, nor the two forms of an accented letter. */
function letters(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** Patterns are relative to the project; those that begin with `//` are absolute. */
function plainPattern(pattern: string): string {
  return pattern
    .replace(/^\.?\/(?!\/)/, '')
    .replace(/^\/\//, '/')
    .replaceAll(/\*+/g, '*')
}

/** Returns a path relative to the project if it is inside. */
function inProject(place: string, { workspace }: PathOrigin): string {
  const below = relative(workspace, place)
  const isOutside = below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)
  return (isOutside ? place : below).split(sep).join('/')
}

/** Returns the real path after `..` was resolved in the text, as most clients do, and as the system resolves it. */
function realPlaces(path: string, cwd: string): (string | undefined)[] {
  const asText = resolve(cwd, path)
  const asTyped = isAbsolute(path) ? path : `${cwd}${sep}${path}`
  return asTyped.includes('..') ? [realPlace(asText), realPlace(asTyped)] : [realPlace(asText)]
}

const maxLinks = 40

/**
 * Follows links, also the last one and links to nothing: a client that writes creates their target.
 *
 * @returns undefined if the path leads another process to another file, or has too many links
 */
function realPlace(path: string): string | undefined {
  let place = parse(path).root
  const rest = namesIn(path)
  for (let links = 0, name = rest.pop(); name !== undefined; name = rest.pop()) {
    const next = join(place, name)
    if (/^\/proc\/(?:thread-)?self$/.test(next)) return undefined
    const target = name === '..' ? undefined : linkAt(next)
    if (target === undefined) {
      place = next
      continue
    }
    if (++links > maxLinks) return undefined
    if (isAbsolute(target)) place = parse(target).root
    rest.push(...namesIn(target))
  }
  return place
}

/** Returns the names of a path, the last one first. */
function namesIn(path: string): string[] {
  const names = path.slice(parse(path).root.length).split(sep === '/' ? '/' : /[\\/]/)
  return names.filter((name) => name !== '' && name !== '.').toReversed()
}

function linkAt(path: string): string | undefined {
  try {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    return isLink ? readlinkSync(path) : undefined
  } catch {
    // What this process cannot look at, the client cannot follow either.
    return undefined
  }
}
