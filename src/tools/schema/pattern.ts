import { createRequire } from 'node:module'
import type * as Re2 from 're2js'

/** A regular expression of a server's schema, read by RE2: a match takes time linear in the text. */
export interface SchemaPattern {
  /** Whether the text contains a match; undefined if the text is too long to say. */
  test(text: string): boolean | undefined
}

const longestPattern = 1000
const maxInstructions = 2000
/** Instructions times characters: about a quarter of a second at worst. */
const maxSteps = 5_000_000
const maxCached = 500

/** Constructs that RE2 reads otherwise than ECMA-262, whose syntax JSON Schema uses. */
const readOtherwise = /\[:|\\[AaCQz]|\(\?[A-Za-z-]/

const cached = new Map<string, SchemaPattern | undefined>()

/**
 * Reads a pattern that a server wrote. It never becomes a `RegExp`, which can take hours for a text of
 * thirty characters. Undefined for a pattern that RE2 cannot read, such as one with look-around, and for
 * one that is too large.
 */
export function schemaPattern(source: string): SchemaPattern | undefined {
  if (cached.has(source)) return cached.get(source)
  if (cached.size >= maxCached) cached.clear()
  const pattern = compile(source)
  cached.set(source, pattern)
  return pattern
}

function compile(source: string): SchemaPattern | undefined {
  if (source.length > longestPattern || readOtherwise.test(source)) return undefined
  const { RE2JS, RE2JSException } = loadRe2()
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source))
    const size = compiled.programSize()
    if (size > maxInstructions) return undefined
    return {
      test: (text) => (text.length * size > maxSteps ? undefined : compiled.matcher(text).find()),
    }
  } catch (error) {
    if (error instanceof RE2JSException) return undefined
    throw error
  }
}

let loaded: typeof Re2 | undefined

function loadRe2(): typeof Re2 {
  return (loaded ??= createRequire(import.meta.url)('re2js'))
}
