import { realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isInside, systemCode } from '../../base/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import { AgentUsageError } from '../errors.ts'

/** Where a path of a call really leads. */
export interface Place {
  /** Absolute, links resolved as far as it exists. */
  real: string
  /** With `/`: from the project's directory, or absolute when it is outside. */
  shown: string
  outside: boolean
}

/** The directory that the tools work in, and what else they may read without being asked for. */
export interface Ground {
  /** Absolute. */
  project: string
  /** Absolute: the directories of active trusted skills. */
  readable?: (() => readonly string[]) | undefined
}

/** @throws {AgentUsageError} for a path that no file can have. */
export function placeOf(path: string, { project }: Ground): Place {
  if (path.includes('\0')) {
    throw new AgentUsageError({ code: 'path-nul', message: 'The path contains a NUL character.' })
  }
  const root = realPath(project)
  const real = realPath(resolve(project, path === '' ? '.' : path))
  const outside = !isInside(root, real)
  const way = outside ? real : relative(root, real)
  return { real, shown: way === '' ? '.' : way.split(sep).join('/'), outside }
}

/** A file that does not exist yet lies where the directory really is that it would be made in. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const parent = dirname(path)
    if (parent === path || systemCode(error) === 'ELOOP') return path
    return join(realPath(parent), basename(path))
  }
}

/**
 * Keeps calls within the project: what leads out of it has to be asked for, and is not done where
 * nobody was asked, or where a link leads elsewhere than when they were.
 */
interface Fence {
  /** Why a call has to be asked for; undefined inside. */
  alwaysAsk: (input: JsonObject) => string | undefined
  /** @throws {AgentUsageError} for a place outside that was not asked for. */
  enter: (input: JsonObject) => Place
}

export function createFence(
  ground: Ground,
  pathOf: (input: JsonObject) => string,
  access: 'read' | 'write',
): Fence {
  const asked = new WeakMap<JsonObject, string>()
  const isFree = (place: Place): boolean =>
    !place.outside ||
    (access === 'read' &&
      (ground.readable?.() ?? []).some((directory) => isInside(realPath(directory), place.real)))
  return {
    alwaysAsk(input) {
      const place = placeOf(pathOf(input), ground)
      if (isFree(place)) return access === 'write' ? actingPlace(place) : undefined
      asked.set(input, place.real)
      return `${place.shown} is outside of the project`
    },
    enter(input) {
      const place = placeOf(pathOf(input), ground)
      if (isFree(place) || asked.get(input) === place.real) return place
      throw new AgentUsageError({
        code: 'path-outside',
        message: `${place.shown} is outside of the project, and nobody was asked about it.`,
      })
    },
  }
}

/** What git, agents and editors run or obey by themselves, in a package of a project as in its root. */
const actingNames: ReadonlySet<string> = new Set([
  '.agents',
  '.claude',
  '.codex',
  '.cursor',
  '.envrc',
  '.gemini',
  '.git',
  '.github',
  '.husky',
  '.idea',
  '.mamba',
  '.mcp.json',
  '.opencode',
  '.qwen',
  '.skillrail',
  '.vscode',
  'opencode.json',
  'opencode.jsonc',
])

/** A skill that may write in the project has not been given the right to make something act. */
function actingPlace({ shown }: Place): string | undefined {
  const acts = shown
    .toLowerCase()
    .split('/')
    .some((name) => actingNames.has(name))
  return acts ? `${shown} can make programs act by themselves` : undefined
}

/** A text of the input; the schema was checked before. */
export function textOf(input: JsonObject, key: string): string {
  const value = input[key]
  return typeof value === 'string' ? value : ''
}

export function numberOf(input: JsonObject, key: string): number | undefined {
  const value = input[key]
  return typeof value === 'number' ? value : undefined
}
