import { withoutEnd } from '../../core/text.ts'
import { blankObjects, readJsonIn } from '../call/directive-text.ts'
import { resolveName, resolveTool } from '../call/find-tool.ts'
import { behindColon, isWholeWord, writtenNames } from '../call/passthrough.ts'
import type { ToolSummary } from '../model.ts'
import { maxRequestLength } from '../parameters/slots.ts'

const longestName = 256
const mostNamed = 10

/** A token of several words: joined by `_`, `-`, `.`, `/`, `:` or written with a hump. */
const identifier =
  /(?<![\w./:-])(?:[A-Za-z0-9]{1,100}(?:[_./:-]{1,2}[A-Za-z0-9]{1,100}){1,12}|[A-Za-z]{0,60}[a-z0-9][A-Z][A-Za-z0-9]{0,60})(?![\w/])/g

/**
 * Prepares the search for the ids of tools that a request calls by name, in the order of their
 * place: the whole request, a `SERVER__TOOL` with or without another client's prefix, a name of
 * several words as it is written (`take_screenshot`, also `take-screenshot`), or one with its
 * parameters in JSON behind it. A name of one word in the middle of prose is prose, and so are
 * `__init__.py` and what stands in JSON.
 */
export function prepareNames(
  tools: readonly Pick<ToolSummary, 'id' | 'name'>[],
): (request: string) => readonly string[] {
  const byLetters = Map.groupBy(tools, ({ name }) => lettersOf(name))
  const idsOf = (token: string): readonly string[] => {
    // `owner/repo` is a repository before it is a tool of a server in another spelling.
    const resolution = (token.includes('/') ? resolveTool : resolveName)(token, { tools })
    if (resolution.kind === 'found') return [resolution.tool.id]
    return resolution.kind === 'ambiguous' ? resolution.candidates : []
  }
  return (request) => {
    const text = request.slice(0, maxRequestLength).trim()
    const isName = text !== '' && text.length <= longestName
    const exact = isName ? idsOf(text) : []
    const letters = lettersOf(text)
    const alike = isName && letters !== '' ? (byLetters.get(letters) ?? []) : []
    const whole = exact.length > 0 ? exact : alike.map(({ id }) => id)
    if (whole.length > 0) return whole
    const named = tokensOf(text).flatMap((token) => {
      const ids = idsOf(token)
      const part = ids.length > 0 ? undefined : behindColon(token)
      return part === undefined ? ids : idsOf(part)
    })
    return [...new Set(named)].slice(0, mostNamed)
  }
}

function tokensOf(text: string): string[] {
  const hasJson = text.includes('{')
  const beside = hasJson ? writtenNames(text).map(({ token }) => withoutEnd(token, '.:-')) : []
  const json = hasJson ? readJsonIn(text) : undefined
  const prose = json === undefined ? text : blankObjects(text.slice(0, json.end), json.objects)
  const tokens = [...prose.matchAll(identifier)]
    .filter(({ 0: token, index }) => isWholeWord(prose, index, index + token.length))
    .map(([token]) => token)
  return [...beside, ...tokens]
}

/** `take screenshot`, `takeScreenshot` and `take_screenshot` have the same letters. */
function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')
}
