import { realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { systemCode } from '#core/errors'
import type { JsonObject, JsonValue } from '#core/json'
import { isInside, statsOf } from '#core/read-files'
import { usageError } from '#agent/errors'
import { objectSchema } from '#agent/tool'
import type { AgentTool } from '#agent/types'
import { isFreeToWrite } from './free-paths.ts'

export interface ResolvedPath {
  /** Absolute; links are resolved as far as the path exists. */
  real: string
  /** Relative to the project and with `/`, or absolute if it is outside. */
  displayPath: string
}

export interface Workspace {
  project: string
  /** Returns further directories that can be read without an approval. */
  readable?: (() => readonly string[]) | undefined
}

export interface PathToolDefinition extends Pick<AgentTool, 'name' | 'aliases' | 'description'> {
  patternKind: 'path' | 'tree'
  access: 'read' | 'write'
  properties: JsonObject
  required: readonly string[]
  effect?(path: ResolvedPath, input: JsonObject): string
  execute(path: ResolvedPath, input: JsonObject, signal: AbortSignal): Promise<JsonValue>
}

export const filePath: JsonObject = {
  type: 'string',
  description: 'From the project directory, or absolute.',
}

/**
 * Creates a built-in tool for a path, the field `file_path` or `path` of its input. A path outside of
 * the project needs an approval. The call is refused if a link leads elsewhere after the approval.
 */
export function pathTool(workspace: Workspace, definition: PathToolDefinition): AgentTool {
  const { properties, required, access, effect, ...facts } = definition
  const key = 'file_path' in properties ? 'file_path' : 'path'
  const resolveIn = (input: JsonObject): ResolvedPath & { isFree: boolean } => {
    const { isOutside, ...path } = resolvePath(textOf(input, key), workspace.project)
    const readable = access === 'read' ? (workspace.readable?.() ?? []) : []
    return {
      ...path,
      isFree: !isOutside || readable.some((one) => isInside(realPath(one), path.real)),
    }
  }
  /** The real paths that an approval is asked for, by the input of the call. */
  const outsidePaths = new WeakMap<JsonObject, string>()
  return {
    ...facts,
    inputSchema: objectSchema(properties, required),
    readOnly: access === 'read',
    origin: { kind: 'built-in' },
    patternText: (input) => resolveIn(input).displayPath,
    alwaysAsk(input) {
      const { real, displayPath, isFree } = resolveIn(input)
      if (isFree) return access === 'write' ? reasonToAsk({ real, displayPath }) : undefined
      outsidePaths.set(input, real)
      return `${displayPath} is outside of the project`
    },
    effect: effect && ((input) => effect(resolveIn(input), input)),
    async execute(input, { signal }) {
      const path = resolveIn(input)
      if (path.isFree || outsidePaths.get(input) === path.real) {
        return await definition.execute(path, input, signal)
      }
      const problem = 'is outside of the project and was not approved.'
      throw usageError('path-outside', `${path.displayPath} ${problem}`)
    },
  }
}

function resolvePath(path: string, project: string): ResolvedPath & { isOutside: boolean } {
  if (path.includes('\0')) throw usageError('path-nul', 'The path contains a NUL character.')
  const root = realPath(project)
  const real = realPath(resolve(project, path === '' ? '.' : path))
  const isOutside = !isInside(root, real)
  const displayPath = isOutside ? real : relative(root, real)
  return {
    real,
    displayPath: displayPath === '' ? '.' : displayPath.split(sep).join('/'),
    isOutside,
  }
}

/** A file that does not exist is resolved by the directory in which it would be created. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const parent = dirname(path)
    if (parent === path || systemCode(error) === 'ELOOP') return path
    return join(realPath(parent), basename(path))
  }
}

/** Returns why writing a file needs an approval: other programs could execute or obey it. */
function reasonToAsk({ real, displayPath }: ResolvedPath) {
  const isExecutable = ((statsOf(real)?.mode ?? 0) & 0o111) !== 0
  const isFree = isFreeToWrite(displayPath) && (!isExecutable || process.platform === 'win32')
  return isFree ? undefined : `${displayPath} can make programs act by themselves`
}

export function textOf(input: JsonObject, key: string, defaultText = ''): string {
  const value = input[key]
  return typeof value === 'string' ? value : defaultText
}

export function numberOf(input: JsonObject, key: string, defaultNumber: number): number {
  const value = input[key]
  return typeof value === 'number' ? value : defaultNumber
}
