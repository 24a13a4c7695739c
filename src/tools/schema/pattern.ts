import { createRequire } from 'node:module'
import type * as Re2 from 're2js'

/** A regular expression of a server's schema, executed by RE2: a match takes time linear in the text. */
export interface SchemaPattern {
  /** Whether the text contains a match; undefined if the text is too long to decide. */
  test(text: string): boolean | undefined
}

const longestPattern = 1000
const maxInstructions = 2000
/** Instructions times characters: about a quarter of a second at worst. */
const maxSteps = 5_000_000
const maxCached = 500

/** Constructs that RE2 reads differently from ECMA-262, whose syntax JSON Schema uses. */
const otherSyntax = /\[:|\\[AaCQz]|\(\?[A-Za-z-]/

const cache = new Map<string, SchemaPattern | undefined>()

/**
 * Reads a pattern that a server wrote. It never becomes a `RegExp`, which can take hours for a text of
 * thirty characters. Undefined if RE2 cannot read the pattern, for example because of look-around, or if
 * the pattern is too large.
 */
export function schemaPattern(source: string): SchemaPattern | undefined {
  if (cache.has(source)) return cache.get(source)
  if (cache.size >= maxCached) cache.clear()
  const pattern = compile(source)
  cache.set(source, pattern)
  return pattern
}

function compile(source: string): SchemaPattern | undefined {
  if (source.length > longestPattern || otherSyntax.test(source)) return undefined
  const { RE2JS, RE2JSException } = loadRe2()
  try {
    const pattern = RE2JS.compile(RE2JS.translateRegExp(source))
    const size = pattern.programSize()
    if (size > maxInstructions) return undefined
    return {
      test: (text) => (text.length * size > maxSteps ? undefined : pattern.matcher(text).find()),
    }
  } catch (error) {
    if (error instanceof RE2JSException) return undefined
    throw error
  }
}

let re2Module: typeof Re2 | undefined

function loadRe2(): typeof Re2 {
  return (re2Module ??= createRequire(import.meta.url)('re2js'))
}
