import { wordsOf } from '../parameters/parameter.ts'
import { stem } from '../route/stem.ts'
import type { FittingCandidate } from './fitting-candidate.ts'

/** How near to the best score a candidate must be, by the number of words of its name. */
const nearEnough = { several: 0.5, one: 0.8 }

/**
 * The one candidate whose name the request says word for word, though not in one piece: `take a
 * screenshot` names `take_screenshot` and not `take_snapshot`. Of several the one with the most
 * words, if it is the only one. The seed puts a tool that is named before everything that is only
 * meant. Where others have a place for all that the request says, one without is not named: `read
 * the files a.md and b.md` is no `read_file`.
 */
export function namedInWords(
  request: string,
  candidates: readonly FittingCandidate[],
): string | undefined {
  const said = new Set(wordsOf(request).map(stem))
  const named = candidates.flatMap((candidate) => {
    const words = wordsOf(candidate.name).map(stem)
    const share = words.length > 1 ? nearEnough.several : nearEnough.one
    const isNamed = words.length > 0 && words.every((word) => said.has(word))
    return isNamed && candidate.share >= share ? [{ candidate, words: words.length }] : []
  })
  const most = Math.max(...named.map(({ words }) => words))
  const [fullest, ...others] = named.filter(({ words }) => words === most)
  if (fullest === undefined || others.length > 0) return undefined
  const { candidate } = fullest
  const isOutdone =
    !candidate.fit().hasPlace &&
    candidates.some(({ share, fit }) => share >= nearEnough.several && fit().hasPlace)
  return isOutdone ? undefined : candidate.tool
}
