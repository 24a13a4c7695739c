import type { Findings } from './_findings.ts'
import type { PlaceOf } from './_line-index.ts'
import type { AuditCode } from './rules.ts'

/** A text file of a skill. */
export interface AuditedText {
  /** Relative to the skill. */
  file: string
  text: string
  placeOf: PlaceOf
}

/** Characters that are not what they seem, or that nobody sees. */
export function checkCharacters({ file, text, placeOf }: AuditedText, findings: Findings): void {
  if (!unusual.test(text)) return
  // A byte order mark at the very beginning is what editors write.
  const from = text.startsWith('\ufeff') ? 1 : 0
  for (const [code, pattern, name] of rules) {
    for (const match of text.matchAll(pattern)) {
      if (match.index < from && match[0].length === 1) continue
      if (findings.countsOnly(code, file)) continue
      const points = Array.from(match[0], pointOf)
      const shown = points.slice(0, 4).join(' ') + (points.length > 4 ? ' …' : '')
      const amount = points.length === 1 ? '' : `${points.length} `
      const message = `${amount}${name}${amount === '' ? '' : 's'}: ${shown}`
      findings.add(code, { file, ...placeOf(match.index) }, message)
    }
  }
}

const unusual = /[^\t\n\f\r\u0020-\u007e]|\r(?!\n)/

const zeroWidth = '[\\u115f\\u1160\\u180e\\u200b-\\u200d\\u2060-\\u2064\\u3164\\ufeff\\uffa0]'

const rules: readonly (readonly [code: AuditCode, pattern: RegExp, name: string])[] = [
  // Flags of England and the like are a black flag, tags, and a closing tag.
  [
    'tag-characters',
    /(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,8})[\u{e0000}-\u{e007f}]+/gu,
    'tag character',
  ],
  ['bidirectional-override', /[\u202a-\u202e\u2066-\u2069]/gu, 'bidirectional control'],
  ['hidden-characters', new RegExp(`${zeroWidth}{2,}`, 'gu'), 'invisible character'],
  ['variation-selectors', /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2,}/gu, 'variation selector'],
  // Joiners belong to emoji and to scripts whose letters connect.
  [
    'zero-width',
    new RegExp(
      `(?<!${zeroWidth})(?:[\\u200b\\u2060-\\u2064\\u180e\\u3164\\ufeff]|` +
        `(?<=[\\0-\\u02ff])[\\u200c\\u200d](?=[\\0-\\u02ff]))(?!${zeroWidth})`,
      'gu',
    ),
    'zero-width character',
  ],
  ['terminal-escape', /[\b\u001b\u0090\u009b\u009d]/gu, 'character that a terminal obeys'],
  [
    'control-character',
    /[\0-\u0007\u000b\u000e-\u001a\u001c-\u001f\u007f-\u008f\u0091-\u009a\u009c\u009e\u009f]|\r(?!\n)/gu,
    'control character',
  ],
]

function pointOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
