import type { PatternPlan } from './pattern-plan.ts'

const special = new Set(Array.from('\\^$.|?*+()[]{}', (sign) => sign.charCodeAt(0)))

/**
 * The plan of a pattern that is a text, with `^` before it or `$` behind it, as most triggers are;
 * undefined for anything else. Much cheaper than parsing.
 */
export function plainText(source: string): (PatternPlan & { engine: 'text' }) | undefined {
  const atStart = source.charCodeAt(0) === 0x5e
  const from = atStart ? 1 : 0
  for (let at = from; at < source.length; at++) {
    if (!special.has(source.charCodeAt(at))) continue
    const isEnd = at === source.length - 1 && source.charCodeAt(at) === 0x24
    return isEnd
      ? { engine: 'text', text: source.slice(from, at), atStart, atEnd: true }
      : undefined
  }
  return { engine: 'text', text: source.slice(from), atStart, atEnd: false }
}
