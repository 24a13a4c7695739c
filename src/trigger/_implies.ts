import { parsePattern } from './parse-pattern.ts'
import { plainText } from './_plain-text.ts'
import { requiredText } from './_required-text.ts'
import { sequenceOf } from './pattern-tree.ts'

/** Whether every line that matches `narrow` provably matches `wide`; false where that is not known. */
export function implies(narrow: string, wide: string): boolean {
  if (narrow === wide) return true
  const text = plainText(wide)
  const parsed = parsePattern(narrow)
  if (text === undefined || text.atEnd || !parsed.ok || parsed.tree === undefined) return false
  if (!text.atStart) {
    return requiredText(parsed.tree).some((clause) =>
      clause.every((part) => part.includes(text.text)),
    )
  }
  const [first, second] = sequenceOf(parsed.tree)
  const begins = first?.kind === 'start' && second?.kind === 'literal' ? second.text : undefined
  return begins?.startsWith(text.text) === true
}
