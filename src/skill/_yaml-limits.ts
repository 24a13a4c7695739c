/** What a frontmatter may be at most; beyond, it is an attack or no frontmatter. */
export const yamlLimits = {
  /** UTF-8 bytes between the delimiters. */
  bytes: 64 * 1024,
  /** Collections inside one another. */
  depth: 32,
  /** Keys in all mappings together. */
  keys: 4000,
} as const

/** Keys that would reach the prototype of an object made from the frontmatter. */
export const reservedKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
