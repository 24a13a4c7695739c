import { parseSkill } from '../skill/parse.ts'
import { parsePattern } from './parse-pattern.ts'
import { compilePattern, longestPattern, plainPattern } from './pattern.ts'

export interface TriggerFix {
  text: string
  changes: readonly { line: number; from: string; to: string }[]
}

/** Writes patterns in the portable subset where that has the same meaning, and changes nothing else. */
export function fixTriggers(text: string, path: string): TriggerFix {
  const triggers = parseSkill(text, { path }).skill?.fields.triggers ?? []
  const lines = text.split('\n')
  const changes: { line: number; from: string; to: string }[] = []
  for (const { match, line, when } of triggers) {
    const to = when !== undefined ? undefined : portableRewrite(match)
    const written = lines[line - 1]
    if (to === undefined || written === undefined) continue
    const fixed = replaceValue(written, match, to)
    if (fixed === undefined) continue
    lines[line - 1] = fixed
    changes.push({ line, from: match, to })
  }
  const fixed = lines.join('\n')
  if (changes.length === 0) return { text, changes }
  const after = parseSkill(fixed, { path }).skill?.fields.triggers ?? []
  const wanted = triggers.map(
    ({ match, line }) => changes.find((change) => change.line === line)?.to ?? match,
  )
  const isSame =
    after.length === wanted.length && after.every(({ match }, at) => match === wanted[at])
  return isSame ? { text: fixed, changes } : { text, changes: [] }
}

function replaceValue(line: string, from: string, to: string): string | undefined {
  const forms = [`match: '${from}'`, `match: ${from}`, quoted(from)]
  const form = forms.find((written) => line.includes(written))
  const key = form?.startsWith('match: ') === true ? 'match: ' : ''
  return form && line.replace(form, () => key + quoted(to))
}

/** In double quotes, where a portable reader understands them. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}

/** The pattern in the portable subset; undefined where it is portable already, or cannot be. */
export function portableRewrite(source: string): string | undefined {
  if (source.length > longestPattern) return undefined // refused, however it is written
  const { required, notes } = parsePattern(source)
  if (required === undefined || notes.length === 0) return undefined
  let text = source
  for (const { start, end, rewrite } of notes.toSorted((a, b) => b.start - a.start)) {
    if (rewrite === undefined) return undefined
    text = text.slice(0, start) + rewrite + text.slice(end)
  }
  // It is longer, and may be longer than a pattern may be.
  return isPortable(text) && compilePattern(text).ok ? text : undefined
}

export function isPortable(source: string): boolean {
  if (plainPattern(source) !== undefined) return true
  if (source.length > longestPattern) return false
  const { required, notes } = parsePattern(source)
  return required !== undefined && notes.length === 0
}
