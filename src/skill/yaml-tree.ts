import type { Diagnostic } from '../base/index.ts'

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
 * Frontmatter as a tree with positions. Both readers of YAML produce it, the fast path and the
 * library, so that everything after them works on one shape. Lines and columns count from 1 and
 * refer to the whole file.
 */
export type YamlNode = YamlScalar | YamlMap | YamlList

export interface YamlScalar {
  kind: 'scalar'
  /** The characters after unquoting and folding: `"1.10"` and `1.10` both have the text `1.10`. */
  text: string
  /** The text as YAML 1.2 core resolves it: a plain `true` is a boolean, a quoted one a string. */
  value: string | number | boolean | null
  style: 'plain' | 'single' | 'double' | 'literal' | 'folded'
  line: number
  column: number
}

export interface YamlMap {
  kind: 'map'
  flow: boolean
  entries: readonly YamlEntry[]
  line: number
  column: number
}

export interface YamlEntry {
  key: YamlScalar
  value: YamlNode
}

export interface YamlList {
  kind: 'list'
  flow: boolean
  items: readonly YamlNode[]
  line: number
  column: number
}
