import { readFastYaml } from './fast-yaml/fast-yaml.ts'
import { readLibraryYaml } from './yaml-library/read-with-library.ts'
import type { ReadYamlOptions, YamlReading } from './yaml-tree.ts'

/**
 * Reads one YAML document. Anchors, aliases, tags, duplicate keys, keys that reach a prototype and
 * excessive nesting are errors. Ordinary YAML never loads the YAML library.
 */
export function readYaml(source: string, options: ReadYamlOptions): YamlReading {
  const root = readFastYaml(source, options.firstLine)
  return root === undefined ? readLibraryYaml(source, options) : { root, diagnostics: [] }
}
