import { createRequire } from 'node:module'
import type Yaml from 'yaml'
import type { Document } from 'yaml'
import { formatFinding } from '../_format-finding.ts'
import { type Conversion, convertNode } from './convert.ts'
import { positionsIn } from './position.ts'
import { guarded } from './guarded.ts'
import { checkTokens, tooDeep } from './tokens.ts'
import type { ReadYamlOptions, YamlReading } from '../yaml-tree.ts'

const mostErrors = 20

/** Reads YAML with the `yaml` library, which is loaded only here. */
export function readLibraryYaml(source: string, options: ReadYamlOptions): YamlReading {
  const library = loadLibrary()
  const { path } = options
  const positionOf = positionsIn(source, options.firstLine)
  const tokens = guarded(() => [...new library.Parser().parse(source)])
  const diagnostics = tokens === undefined ? [] : checkTokens(tokens, path, positionOf)
  const conversion: Conversion = { library, path, positionOf, diagnostics }
  if (diagnostics.length > 0) return failed(conversion)
  // The library compares every key with every other; duplicates are found while converting.
  const composer = new library.Composer({ uniqueKeys: false, prettyErrors: false })
  const documents = tokens && guarded(() => [...composer.compose(tokens, false, source.length)])
  if (documents === undefined) {
    diagnostics.push(formatFinding('yaml-too-deep', path, positionOf(0), tooDeep))
    return failed(conversion)
  }
  reportErrors(documents, conversion)
  const contents = documents[0]?.contents ?? null
  if (conversion.diagnostics.length > 0 || contents === null) return failed(conversion)
  const root = convertNode(contents, conversion)
  return conversion.diagnostics.length > 0 ? failed(conversion) : { root, diagnostics: [] }
}

let loaded: typeof Yaml | undefined

function loadLibrary(): typeof Yaml {
  const library: typeof Yaml = loaded ?? createRequire(import.meta.url)('yaml')
  loaded = library
  return library
}

function failed({ diagnostics }: Conversion): YamlReading {
  return { root: undefined, diagnostics: diagnostics.slice(0, mostErrors) }
}

function reportErrors(documents: readonly Document.Parsed[], conversion: Conversion): void {
  const { diagnostics, path, positionOf } = conversion
  for (const error of documents.flatMap((document) => document.errors)) {
    const message = `The YAML cannot be read: ${shortened(error.message.trim())}`
    const at = positionOf(error.pos[0])
    diagnostics.push(formatFinding('yaml-syntax', path, at, message, hintFor(error.message)))
  }
  const second = documents[1]
  if (second === undefined || diagnostics.length > 0) return
  const message = 'A second YAML document begins here; one is allowed.'
  const at = positionOf(second.range[0])
  diagnostics.push(formatFinding('yaml-several-documents', path, at, message))
}

/** A message of the library can quote everything that follows. */
function shortened(message: string): string {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage)}…`
}

const longestMessage = 300

function hintFor(message: string): string | undefined {
  if (message.startsWith('Nested mappings') || message.startsWith('Implicit')) {
    return 'Put a value that contains `: ` into quotes.'
  }
  return message.includes('reserved') ? 'Put the value into quotes.' : undefined
}
