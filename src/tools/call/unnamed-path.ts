import { isObject } from '../../base/index.ts'
import { fileURLToPath } from 'node:url'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject } from '../model.ts'
import { isList } from './_json.ts'

/**
 * The first path in the parameters, at any depth, that the request does not name. A path is known by
 * the name of its parameter, or by its scheme `file:`; the members of a list have the list's name.
 */
export function unnamedPath(params: JsonObject, request: string): string | undefined {
  return pathsIn('', params).find((path) => !isNamed(path, request))
}

/** Words at the end of a parameter's name, as `output_file`, `outputFiles` and `saveTo` have them. */
const pathParameter =
  /(?:^|_)(?:path|file|file_?name|file_?path|path_?name|director(?:y|ie)|dir|folder|(?:save|write|export|download)_?(?:to|as))s?$/

/** These may be paths; `target` of a click is the id of an element. */
const placeParameter = /(?:^|_)(?:destination|dest|target|output|out)s?$/

function pathsIn(name: string, value: JsonValue): string[] {
  if (typeof value === 'string') return isPath(name, value) ? [value] : []
  if (isList(value)) return value.flatMap((item) => pathsIn(name, item))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) =>
    // `files: { "src/a.ts": "its content" }`
    isPathParameter(name) && looksLikePath(key) ? [key] : pathsIn(key, member),
  )
}

function isPath(name: string, value: string): boolean {
  if (/^file:/i.test(value) || isPathParameter(name)) return true
  return placeParameter.test(inSnakeCase(name)) && looksLikePath(value)
}

function isPathParameter(name: string): boolean {
  return pathParameter.test(inSnakeCase(name))
}

function inSnakeCase(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
}

function looksLikePath(text: string): boolean {
  return /[/\\.]/.test(text)
}

function isNamed(path: string, request: string): boolean {
  return request.includes(path) || request.includes(filePath(path) ?? path)
}

/** The path of a `file:` address. */
function filePath(address: string): string | undefined {
  try {
    return fileURLToPath(address)
  } catch {
    return undefined
  }
}
