import { parseSkill } from '../skill/parse.ts'
import { parsePattern } from './parse-pattern.ts'
import { concat, type PatternNode } from './pattern-tree.ts'
import { compilePattern, longestPattern, plainText } from './pattern.ts'
import type { PortabilityNote } from './portability.ts'

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

/**
 * The pattern in the portable subset, with the same meaning; undefined where it is portable already
 * or has no portable spelling that is accepted. The meaning is compared, not assumed.
 */
export function portableRewrite(source: string): string | undefined {
  if (source.length > longestPattern) return undefined // refused, however it is written
  const rewritten = rewriteOf(source)
  // It is longer, and may be longer than a pattern may be.
  return rewritten !== undefined && compilePattern(rewritten).ok ? rewritten : undefined
}

function rewriteOf(source: string): string | undefined {
  const folded = foldLetters(source)
  const from = folded ?? source
  const parsed = parsePattern(from)
  if (!parsed.ok || parsed.tree === undefined) return undefined
  const { notes } = parsed
  if (notes.length === 0) return folded
  if (notes.some(({ rewrite }) => rewrite === undefined)) return undefined
  const rewritten = applyRewrites(from, notes)
  const after = parsePattern(rewritten)
  if (!after.ok || after.notes.length > 0 || after.tree === undefined) return undefined
  return sameMeaning(parsed.tree, after.tree) ? rewritten : undefined
}

export function isPortable(source: string): boolean {
  if (plainText(source) !== undefined) return true
  if (source.length > longestPattern) return false
  const parsed = parsePattern(source)
  return parsed.ok && parsed.tree !== undefined && parsed.notes.length === 0
}

function applyRewrites(source: string, notes: readonly PortabilityNote[]): string {
  let text = source
  for (const { start, end, rewrite = '' } of notes.toSorted((a, b) => b.start - a.start)) {
    text = text.slice(0, start) + rewrite + text.slice(end)
  }
  return text
}

/** Whether two patterns find the same lines; lazy and greedy do. */
function sameMeaning(a: PatternNode, b: PatternNode): boolean {
  return JSON.stringify(normal(a)) === JSON.stringify(normal(b))
}

function normal(node: PatternNode): PatternNode {
  if (node.kind === 'repeat') return { ...node, lazy: false, child: normal(node.child) }
  if (node.kind === 'concat') return concat(node.items.map(normal))
  if (node.kind === 'alternate') return { ...node, items: node.items.map(normal) }
  // A class of one character is the character.
  const [range, second] = node.kind === 'class' && !node.negated ? node.ranges : []
  if (range === undefined || second !== undefined || range[0] !== range[1]) return node
  return { kind: 'literal', text: String.fromCodePoint(range[0]) }
}

/** Letters that have a third form outside ASCII (the Kelvin sign, the long s) have no exact spelling. */
const withThirdForm = /[ks]/i

/**
 * A pattern that begins with `(?i)` without it, each letter in brackets with both its forms. Only for
 * letters, digits and blanks: undefined for anything else.
 */
function foldLetters(source: string): string | undefined {
  const written = /^(\^?)\(\?i\)(\^?[A-Za-z0-9 /_:,-]+\$?)$/.exec(source)
  const [, anchor = '', text = ''] = written ?? []
  if (written === null || withThirdForm.test(text)) return undefined
  const folded = text.replace(
    /[A-Za-z]/g,
    (letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`,
  )
  return anchor + folded
}
