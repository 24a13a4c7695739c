import { realpathSync, statSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { outsideSkill } from './outside-skill.ts'

export type InsideResolution =
  | { ok: true; path: string }
  | { ok: false; code: InsideCode; message: string }

export type InsideCode =
  | 'path-absolute'
  | 'path-escapes'
  | 'path-left-out'
  | 'path-missing'
  | 'path-not-regular'
  | 'path-nul'

/** Whether `path` is `root` or lies below it. Compares resolved text; links are not followed. */
export function isInside(root: string, path: string): boolean {
  if (path.startsWith(`${root}${sep}`) && isAbsolute(root) && !unresolved.test(path)) return true
  const way = relative(resolve(root), resolve(path))
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** Resolving costs ten times this look at a text that needs none, and every path of a plan is asked about. */
const unresolved = sep === '/' ? /\/\.{0,2}(?:\/|$)/ : /^/

/**
 * Resolves a path that a skill names to a regular file inside `root`, the skill's directory, following
 * links only to find out that they stay inside. Backslashes are refused so that one skill means the
 * same everywhere, and so is what no digest of a skill has; see `outsideSkill`.
 */
export function resolveInside(root: string, path: string): InsideResolution {
  if (path.includes('\0')) return refusal('path-nul', `the path contains a NUL character`)
  if (isAbsolute(path) || /^[A-Za-z]:/.test(path)) {
    return refusal('path-absolute', `${path} is absolute; a path must be relative to ${root}`)
  }
  if (path.includes('\\')) {
    return refusal('path-escapes', `${path} contains a backslash; separate directories with /`)
  }
  if (!isInside(root, resolve(root, path))) return escapes(root, path)
  return resolveLinks(root, path)
}

function resolveLinks(root: string, path: string): InsideResolution {
  let real: string
  try {
    real = realpathSync.native(resolve(root, path))
    const realRoot = realRootOf(root, resolve(root, path), real)
    if (!isInside(realRoot, real)) return escapes(root, path)
    const outside = outsideSkill(relative(realRoot, real))
    if (outside !== undefined) return refusal('path-left-out', `${path} in ${root} ${outside}`)
    if (!statSync(real).isFile()) {
      return refusal('path-not-regular', `${path} in ${root} is no regular file`)
    }
  } catch {
    return refusal('path-missing', `${path} does not exist in ${root}`)
  }
  return { ok: true, path: real }
}

/**
 * The real path of a directory, asked for only where a link is on the way to `path` below it: looking
 * at each part of a path again is most of what a script costs a plan.
 *
 * @param real the real path of `path`.
 */
export function realRootOf(root: string, path: string, real: string): string {
  return real === path ? resolve(root) : realpathSync.native(root)
}

function escapes(root: string, path: string): InsideResolution {
  return refusal('path-escapes', `${path} leads out of ${root}`)
}

function refusal(code: InsideCode, message: string): InsideResolution {
  return { ok: false, code, message }
}
