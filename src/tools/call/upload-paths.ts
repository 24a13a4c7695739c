import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonValue, JsonObject } from '#core/json'
import { plainWords } from '#rank/words'
import type { ServerTransport } from '#tools/config/model'
import type { ToolDefinition } from '#tools/model'
import { type Parameter, parametersOf } from '#tools/parameters/parameter'
import { takesForm } from '#tools/parameters/place-by-form'

/** Programs that start a server where the files of this machine have other paths, or none. */
const elsewhere: ReadonlySet<string> = new Set([
  'docker',
  'podman',
  'nerdctl',
  'kubectl',
  'ssh',
  'wsl',
])

/** The directories that relative paths of a server can start from; undefined: its files are not here. */
export function filesOf(
  transport: ServerTransport,
  project: string,
): readonly string[] | undefined {
  if (transport.kind !== 'stdio') return undefined
  const { command, cwd } = transport
  const program = basename(command).replace(/\.exe$/i, '')
  return elsewhere.has(program) ? undefined : [...new Set([cwd ?? project, project])]
}

/**
 * The paths that a call would upload and that lead to nothing, by parameter: those of a tool whose name
 * or of a parameter whose name or description says so.
 */
export function missingUploads(
  tool: ToolDefinition,
  params: JsonObject,
  directories: readonly string[],
): { parameter: string; path: string }[] {
  const isUploader = plainWords(tool.name).includes('upload')
  return parametersOf(tool.inputSchema)
    .filter((one) => isPath(one) && (isUploader || saysUpload(one)))
    .flatMap(({ name }) =>
      textsIn(Object.hasOwn(params, name) ? params[name] : undefined)
        .filter((path) => isMissing(path, directories))
        .map((path) => ({ parameter: name, path })),
    )
}

function isPath(parameter: Parameter): boolean {
  const { kind, items } = parameter
  const isText = (items?.kind ?? kind) === 'string'
  // `files` beside `file`, and not a pattern of paths.
  return isText && takesForm(parameter, 'path') && !parameter.words.includes('pattern')
}

function saysUpload({ name, description }: Parameter): boolean {
  return plainWords(`${name} ${description}`).includes('upload')
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  return [value].flat().filter((one) => typeof one === 'string')
}

function isMissing(written: string, directories: readonly string[]): boolean {
  const path = localPath(written)
  return (
    path !== undefined && !directories.some((directory) => existsSync(resolve(directory, path)))
  )
}

/** Undefined for what is not a path of this machine, or one that only the server can complete. */
function localPath(written: string): string | undefined {
  if (written === '' || written.startsWith('~') || written.includes('$')) return undefined
  if (!/^[a-z][a-z0-9+.-]+:/i.test(written)) return written
  try {
    return fileURLToPath(written)
  } catch {
    return undefined
  }
}
