import type { Diagnostic } from '../base/index.ts'
import { readFastYaml } from './_fast-yaml.ts'
import { readLibraryYaml } from './_yaml-library.ts'
import type { YamlNode } from './yaml-tree.ts'

/** YAML as a tree with positions; undefined where it is empty or has errors. */
export interface YamlReading {
  root: YamlNode | undefined
  diagnostics: Diagnostic[]
}

export interface ReadYamlOptions {
  /** The line of the file on which `source` begins, from 1. */
  firstLine: number
  path: string
}

/**
 * Reads one YAML document. Anchors, aliases, tags, duplicate keys, keys that reach a prototype and
 * excessive nesting are errors. Ordinary YAML never loads the YAML library.
 */
export function readYaml(source: string, options: ReadYamlOptions): YamlReading {
  const root = readFastYaml(source, options.firstLine)
  return root === undefined ? readLibraryYaml(source, options) : { root, diagnostics: [] }
}
