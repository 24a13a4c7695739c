import { safeLine } from '../base/index.ts'
import type { RouteExplanation } from '../tools/index.ts'
import { cell } from '../base/text.ts'
import type { Output } from './output.ts'

/** What led to each candidate: its parts, and why it stands before the next. */
export function explanationTable({ words, candidates }: RouteExplanation, output: Output): void {
  const shown = words.map(({ word, weight }) =>
    weight === 1 ? word : `${word} (${String(Math.round(weight * 100) / 100)})`,
  )
  output.line()
  output.line(`words: ${safeLine(shown.join(', '))}`)
  for (const { tool, score, parts, aheadOfNext } of candidates) {
    output.line()
    output.line(`${output.style('bold', safeLine(tool))}  ${score.toFixed(2)}`)
    output.table(
      parts.map((part) => [
        `  ${part.kind}`,
        part.score.toFixed(2),
        output.style('dim', cell(part.text, output.width - 30)),
      ]),
    )
    if (aheadOfNext !== undefined) output.line(`  before the next by: ${safeLine(aheadOfNext)}`)
  }
}
