import { withoutEnd } from '../../core/text.ts'
import { blankObjects, readJsonIn } from '../call/directive-text.ts'
import { resolveName, resolveTool } from '../call/find-tool.ts'
import { behindColon, isWholeWord, writtenNames } from '../call/passthrough.ts'
import { maxRequestLength } from '../parameters/slots.ts'
import type { RoutedTool } from './routed-tool.ts'

/** Finds the tools that a request calls by name; prepared once for many requests. */
export type NamedTools = (request: string) => readonly string[]

/**
 * Ids of the tools that a request calls by name, in the order of their place: the whole request, a
 * `SERVER__TOOL` with or without another client's prefix, a name of several words as it is written
 * (`take_screenshot`, also `take-screenshot`), or one with its parameters in JSON beside it. A name of
 * one word in the middle of prose is prose, and so are `__init__.py` and what stands in JSON.
 */
export function prepareNames(tools: readonly Pick<RoutedTool, 'id' | 'name'>[]): NamedTools {
  let byLetters: Map<string, string[]> | undefined
  const idsOf = (token: string): readonly string[] => {
    // `owner/repo` is a repository before it is a tool of a server in another spelling.
    const resolve = token.includes('/') ? resolveTool : resolveName
    const resolution = resolve(token, { tools })
    if (resolution.kind === 'found') return [resolution.tool.id]
    return resolution.kind === 'ambiguous' ? resolution.candidates : []
  }
  const wholeName = (text: string): readonly string[] => {
    if (text === '' || text.length > longestName) return []
    const exact = idsOf(text)
    if (exact.length > 0) return exact
    byLetters ??= groupByLetters(tools)
    return byLetters.get(lettersOf(text)) ?? []
  }
  return (request) => {
    const text = request.slice(0, maxRequestLength).trim()
    const whole = wholeName(text)
    if (whole.length > 0) return whole
    const named = new Set<string>()
    for (const token of tokensOf(text)) {
      const ids = idsOf(token)
      const part = ids.length > 0 ? undefined : behindColon(token)
      for (const id of part === undefined ? ids : idsOf(part)) named.add(id)
      if (named.size >= mostNamed) break
    }
    return [...named]
  }
}

function* tokensOf(text: string): Generator<string> {
  const hasJson = text.includes('{')
  if (hasJson) for (const { token } of writtenNames(text)) yield withoutEnd(token, '.:-')
  const json = hasJson ? readJsonIn(text) : undefined
  const prose = json === undefined ? text : blankObjects(text.slice(0, json.end), json.objects)
  for (const { 0: token, index } of prose.matchAll(identifier)) {
    if (isWholeWord(prose, index, index + token.length)) yield token
  }
}

/** `take screenshot`, `takeScreenshot` and `take_screenshot` have the same letters. */
function groupByLetters(tools: readonly Pick<RoutedTool, 'id' | 'name'>[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const { id, name } of tools) {
    const letters = lettersOf(name)
    const known = groups.get(letters)
    if (letters === '') continue
    if (known === undefined) groups.set(letters, [id])
    else known.push(id)
  }
  return groups
}

function lettersOf(text: string): string {
  const lower = text.toLowerCase()
  // The pattern that knows Unicode takes milliseconds to compile.
  return /[^\0-\x7f]/.test(lower)
    ? lower.replace(/[^\p{L}\p{N}]+/gu, '')
    : lower.replace(/[^a-z0-9]+/g, '')
}

const longestName = 256

const mostNamed = 10

/** A token of several words: joined by `_`, `-`, `.`, `/`, `:` or written with a hump. */
const identifier =
  /(?<![\w./:-])(?:[A-Za-z0-9]{1,100}(?:[_./:-]{1,2}[A-Za-z0-9]{1,100}){1,12}|[A-Za-z]{0,60}[a-z0-9][A-Z][A-Za-z0-9]{0,60})(?![\w/])/g
