import { type InputFit, fitInputs, inputPieces } from '../parameters/input-forms.ts'
import type { RequestWords } from './read-words.ts'
import type { PartKind } from './route.ts'
import type { RoutedTool } from './routed-tool.ts'
import { weights } from './weights.ts'

/**
 * Weighs tools by whether the typed pieces of a request fill what they require, as much as the
 * request consists of such pieces: `add 3 and 4` means a tool of two numbers and none that requires
 * a list of objects. Where words say more than pieces do, they continue to decide. A tool that takes
 * free text has a place for everything.
 */
export function addFit(
  { words, weak, slots }: RequestWords,
  tools: readonly Pick<RoutedTool, 'inputs'>[],
  unit: number,
  scores: Float64Array,
  add: (position: number, kind: PartKind, text: string, score: number) => void,
): void {
  const pieces = inputPieces(slots)
  if (pieces.length === 0) return
  let spoken = 0
  for (const [word, weight] of words) if (weight === 1 && !weak.has(word)) spoken += 1
  const text = slots.map(({ value }) => value).join(' ')
  const share = pieces.length / (pieces.length + spoken)
  scores.forEach((score, position) => {
    if (score <= 0) return
    const forms = tools[position]?.inputs() ?? ''
    if (forms === '') return
    const fit = fitInputs(forms, pieces)
    const lack = lackOf(fit, pieces.length)
    if (lack > 0) add(position, 'does not take', text, -weights.lacksPlace * share * lack * score)
    else if (fit.open.worded === 0)
      add(position, 'takes', text, weights.takes * share * unit * closeness(fit))
  })
}

/** How much of the pieces, or of what it requires besides them, speaks against a tool: 0 to 1. */
function lackOf({ homeless, open, needsStructure, filled }: InputFit, pieces: number): number {
  if (needsStructure) return 1
  const lacking = open.said === 0 ? 0 : open.said / (open.said + open.worded + filled.required)
  return Math.min(1, homeless / pieces + lacking)
}

/** Grows with what the pieces fill, and shrinks with what they leave open: 0 to 1. */
function closeness({ filled, open, spare }: InputFit): number {
  const placed = filled.required + filled.others / 2
  return (placed / (placed + 1) + placed / (placed + open.given + spare + 1)) / 2
}
