import { parseSkill } from '../skill/index.ts'
import { portableRewrite } from './rewrite-pattern.ts'

export interface TriggerFix {
  text: string
  changes: readonly { line: number; from: string; to: string }[]
}

/**
 * Writes patterns in the portable subset where that has the same meaning. Only the characters of the
 * pattern change; a pattern that YAML writes differently from what it says is left alone.
 */
export function fixTriggers(text: string, path: string): TriggerFix {
  const triggers = parseSkill(text, { path }).skill?.fields.triggers ?? []
  const lines = text.split('\n')
  const changes: { line: number; from: string; to: string }[] = []
  for (const { match, line } of triggers) {
    const to = portableRewrite(match)
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
  for (const quote of ["'", '']) {
    const written = quote + from + quote
    const at = line.indexOf(`match: ${written}`)
    if (at < 0) continue
    return `${line.slice(0, at)}match: ${quoted(to)}${line.slice(at + 7 + written.length)}`
  }
  const escaped = `"${from.replace(/[\\"]/g, '\\$&')}"`
  const at = line.indexOf(escaped)
  return at < 0 ? undefined : line.slice(0, at) + quoted(to) + line.slice(at + escaped.length)
}

/** In double quotes, where a portable reader understands them. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
