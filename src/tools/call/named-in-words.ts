import type { ToolSummary } from '../model.ts'
import { wordsOf } from '../parameters/parameter.ts'
import type { Route } from '../route/route.ts'
import { stem } from '../route/stem.ts'

/** How near to the best score a candidate must be, by the number of words of its name. */
const nearEnough = { several: 0.5, one: 0.8 }

/**
 * The one candidate of a shortlist whose name the request says word for word, though not in one
 * piece: `take a screenshot` names `take_screenshot` and not `take_snapshot`. Of several the one with
 * the most words, if it is the only one. The seed puts a tool that is named before everything that
 * is only meant.
 */
export function namedInWords(
  request: string,
  { candidates }: Pick<Route, 'candidates'>,
  tools: readonly ToolSummary[],
): string | undefined {
  const said = new Set(wordsOf(request).map(stem))
  const best = candidates[0]?.score ?? 0
  const named = candidates.flatMap(({ tool, score }) => {
    const name = tools.find(({ id }) => id === tool)?.name ?? ''
    const words = wordsOf(name).map(stem)
    const share = words.length > 1 ? nearEnough.several : nearEnough.one
    const isNamed = words.length > 0 && words.every((word) => said.has(word))
    return isNamed && score >= best * share ? [{ tool, words: words.length }] : []
  })
  const most = Math.max(...named.map(({ words }) => words))
  const fullest = named.filter(({ words }) => words === most)
  return fullest.length === 1 ? fullest[0]?.tool : undefined
}
