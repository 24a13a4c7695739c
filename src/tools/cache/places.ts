import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Runtime, userDirectories } from '../../core/runtime.ts'
import { sha256 } from '../../core/json.ts'

/** Whose tools are meant. */
export interface ProjectPlace {
  /** Directory of the project. */
  project: string
  runtime: Runtime
}

/**
 * The project's tool cache: `.skillrail/tools.json`, or `.opencode/agent-skill-tools.json` where the
 * project has `.opencode/`, the place the format was made for.
 */
export function toolCachePath(project: string): string {
  const openCode = join(project, '.opencode')
  return existsSync(openCode)
    ? join(openCode, 'agent-skill-tools.json')
    : join(project, '.skillrail', 'tools.json')
}

/** Where a cache may have been written before: by the format's later and earlier clients, by us. */
const formerPlaces: readonly (readonly string[])[] = [
  ['.opencode', 'skill-tools.json'],
  ['.opencode', 'mcp-tools.json'],
  ['.skillrail', 'tools.json'],
]

/** The cache to read: the one of {@link toolCachePath}, or where there is none, a former one. */
export function readableCachePath(project: string): string {
  const path = toolCachePath(project)
  if (existsSync(path)) return path
  const former = formerPlaces.map((names) => join(project, ...names))
  return former.find((candidate) => existsSync(candidate)) ?? path
}

/** What this user's last refresh of the project saw. */
export function refreshRecordPath({ project, runtime }: ProjectPlace): string {
  return join(userDirectories(runtime).state, 'tools', `${fileName(realProject(project))}.json`)
}

/**
 * The full definitions of one server, by the digest of its configuration. A project has its own: one
 * and the same configuration can start another program in another directory.
 */
export function sidecarPath(serverDigest: string, { project, runtime }: ProjectPlace): string {
  return join(toolsDirectory({ project, runtime }), `${fileName(serverDigest)}.json`)
}

/** What is kept of a project's tools to spare work, and may be deleted at any time. */
export function toolsDirectory({ project, runtime }: ProjectPlace): string {
  return join(userDirectories(runtime).cache, 'tools', fileName(realProject(project)))
}

/** The path that stands for a project however it was reached. */
export function realProject(project: string): string {
  try {
    return realpathSync(project)
  } catch {
    return resolve(project)
  }
}

/** Of its own for every text, and readable; long ones are hashed, which takes milliseconds to load. */
export function fileName(text: string): string {
  const name = text.replace(
    /[^A-Za-z0-9._-]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  )
  return name.length <= 200 ? name : sha256(text).slice('sha256:'.length)
}
