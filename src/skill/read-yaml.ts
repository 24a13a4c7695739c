import type { Diagnostic } from '../base/index.ts'
import { formatFinding } from './_format-finding.ts'
import { yamlLimits } from './_yaml-limits.ts'
import { readFastYaml } from './fast-yaml/fast-yaml.ts'
import { readLibraryYaml } from './yaml-library/read-with-library.ts'
import type { ReadYamlOptions, YamlReading } from './yaml-tree.ts'

/**
 * Reads one YAML document. Anchors, aliases, tags, duplicate keys, keys that reach a prototype and
 * excessive length or nesting are errors. Ordinary YAML never loads the YAML library.
 */
export function readYaml(source: string, options: ReadYamlOptions): YamlReading {
  const size = source.length > yamlLimits.bytes / 3 ? Buffer.byteLength(source) : 0
  if (size > yamlLimits.bytes) return { root: undefined, diagnostics: [tooLong(size, options)] }
  const root = readFastYaml(source, options.firstLine)
  return root === undefined ? readLibraryYaml(source, options) : { root, diagnostics: [] }
}

/** The library's time grows with the square of what it is given. */
function tooLong(size: number, { path, firstLine }: ReadYamlOptions): Diagnostic {
  const message = `The YAML has ${size} bytes; ${yamlLimits.bytes} are allowed.`
  return formatFinding('frontmatter-too-large', path, { line: firstLine, column: 1 }, message)
}
