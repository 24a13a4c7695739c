import { realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { systemCode } from '#core/errors'
import type { JsonObject, JsonValue } from '#core/json'
import { isInside } from '#core/read-files'
import { usageError } from '#agent/errors'
import { objectSchema } from '#agent/tool'
import type { AgentTool } from '#agent/types'

export interface ResolvedPath {
  /** Absolute, links resolved as far as it exists. */
  real: string
  /** With `/`: from the project's directory, or absolute when it is outside. */
  shown: string
}

export interface Workspace {
  project: string
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
 * A built-in tool that works on a path, `file_path` or `path` of its input. One that leads out of the
 * project needs an approval, and is refused where a link leads elsewhere than when it was given.
 */
export function pathTool(workspace: Workspace, definition: PathToolDefinition): AgentTool {
  const { properties, required, access, effect, ...facts } = definition
  const key = 'file_path' in properties ? 'file_path' : 'path'
  const resolveIn = (input: JsonObject): ResolvedPath & { free: boolean } => {
    const { outside, ...path } = resolvePath(textOf(input, key), workspace.project)
    const readable = access === 'read' ? (workspace.readable?.() ?? []) : []
    return { ...path, free: !outside || readable.some((one) => isInside(realPath(one), path.real)) }
  }
  const asked = new WeakMap<JsonObject, string>()
  return {
    ...facts,
    inputSchema: objectSchema(properties, required),
    readOnly: access === 'read',
    origin: { kind: 'built-in' },
    patternText: (input) => resolveIn(input).shown,
    alwaysAsk(input) {
      const { real, shown, free } = resolveIn(input)
      if (free) return access === 'write' ? activeFile(shown) : undefined
      asked.set(input, real)
      return `${shown} is outside of the project`
    },
    effect: effect && ((input) => effect(resolveIn(input), input)),
    async execute(input, { signal }) {
      const path = resolveIn(input)
      if (path.free || asked.get(input) === path.real) {
        return await definition.execute(path, input, signal)
      }
      const problem = 'is outside of the project and was not approved.'
      throw usageError('path-outside', `${path.shown} ${problem}`)
    },
  }
}

function resolvePath(path: string, project: string): ResolvedPath & { outside: boolean } {
  if (path.includes('\0')) throw usageError('path-nul', 'The path contains a NUL character.')
  const root = realPath(project)
  const real = realPath(resolve(project, path === '' ? '.' : path))
  const outside = !isInside(root, real)
  const shown = outside ? real : relative(root, real)
  return { real, shown: shown === '' ? '.' : shown.split(sep).join('/'), outside }
}

/** A file that does not exist yet is resolved by the directory that it would be created in. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const parent = dirname(path)
    if (parent === path || systemCode(error) === 'ELOOP') return path
    return join(realPath(parent), basename(path))
  }
}

/** What git, agents and editors execute or obey by themselves, in any directory of a project. */
const activeNames: ReadonlySet<string> = new Set(
  (
    '.agents .claude .codex .cursor .envrc .gemini .git .github .husky .idea .mamba .mcp.json ' +
    '.opencode .qwen .skillrail .vscode opencode.json opencode.jsonc'
  ).split(' '),
)

/** A skill that may write in the project may not make other programs execute something. */
function activeFile(shown: string) {
  const names = shown.toLowerCase().split('/')
  const isActive = names.some((name) => activeNames.has(name))
  return isActive ? `${shown} can make programs act by themselves` : undefined
}

export function textOf(input: JsonObject, key: string, otherwise = ''): string {
  const value = input[key]
  return typeof value === 'string' ? value : otherwise
}

export function numberOf(input: JsonObject, key: string, otherwise: number): number {
  const value = input[key]
  return typeof value === 'number' ? value : otherwise
}
