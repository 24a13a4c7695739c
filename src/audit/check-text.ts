import type { AuditedText } from './findings.ts'
import type { AuditCode } from './rules.ts'

export function checkMarkdown({ text, report }: AuditedText): void {
  if (!/<|\]:/.test(text)) return
  const prose = withoutCode(text)
  for (const { offset, length } of comments(prose)) {
    const words = text.slice(offset, offset + length)
    if (!speaksToReader.test(words) || !/(?:\b[A-Za-z']+[\s,.]+){2}/.test(words)) continue
    const message = 'a comment that a rendered page does not show speaks to the reader'
    report('comment-instructions', offset, message)
  }
  for (const { index } of prose.matchAll(
    /<(?:details|div|p|span|section)\b[^>]{0,200}\shidden(?=[\s>=])/gi,
  )) {
    report('hidden-style', index, 'text that a rendered page does not show: the attribute hidden')
  }
  for (const match of prose.matchAll(/(?:style\s{0,3}=|<font\s)[^>]{1,400}/gi)) {
    const reason = hiddenBy(match[0].toLowerCase())
    if (reason === undefined) continue
    const message = `text that a rendered page does not show: ${reason}`
    report('hidden-style', match.index, message)
  }
}

/** Verbs and names of instructions to an agent; an author's notes contain none of them. */
const speaksToReader =
  /\b(?:you (?:must|should|are)|ignore|disregard|do not (?:tell|mention|show|ask)|don't (?:tell|mention|show|ask)|never (?:tell|mention|show)|secretly|silently|without (?:telling|asking)|assistant|system prompt|execute|curl|wget|api[ _-]?key|password|credentials?|skip every|the user has (?:approved|agreed|allowed|consented)|note to (?:ai|agents?|models?|assistants?))\b/i

/** Finds comments. A comment that is not closed hides the rest of the page. */
function comments(text: string): { offset: number; length: number }[] {
  const places: { offset: number; length: number }[] = []
  for (let at = text.indexOf('<!--'); at !== -1; at = text.indexOf('<!--', at)) {
    const close = text.indexOf('-->', at + 4)
    const end = close === -1 ? text.length : close + 3
    places.push({ offset: at, length: end - at })
    at = end
  }
  // A link definition that nothing uses is a comment too: [//]: # (text)
  for (const { index, 0: line } of text.matchAll(/^\[(?:\/\/|comment)\]:[^\n]{1,2000}/gm)) {
    places.push({ offset: index, length: line.length })
  }
  return places
}

function hiddenBy(style: string): string | undefined {
  const value = (property: string): string | undefined =>
    new RegExp(`(?:^|[\\s"';{])${property}\\s{0,3}[:=]\\s{0,3}["']?([^;"'}]{1,60})`)
      .exec(style)?.[1]
      ?.trim()
  if (value('display') === 'none') return 'display: none'
  if (value('visibility') === 'hidden') return 'visibility: hidden'
  const aside = /(?:left|top|right|text-indent)\s{0,3}:\s{0,3}(-\d{4,6})/.exec(style)?.[1]
  if (aside !== undefined) return `moved aside by ${aside}`
  if (/^0(?:\.0+)?(?:px|pt|em|rem|%)?$/.test(value('font-size') ?? '')) return 'font-size: 0'
  if (/^0(?:\.0+)?%?$/.test(value('opacity') ?? '')) return 'opacity: 0'
  const color = value('color')
  if (color === undefined) return undefined
  const background = value('background-color') ?? value('background') ?? 'white'
  if (color === 'transparent') return 'color: transparent'
  return colour(color) === colour(background) ? `${color} on ${background}` : undefined
}

function colour(name: string): string {
  const code = name.replaceAll(' ', '').replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3')
  return /^(?:white|#ffffff(?:ff)?|rgba?\(255,255,255(?:,1)?\))$/.test(code) ? 'white' : code
}

/** Replaces every character of code in Markdown by a blank: offsets and lines stay. */
function withoutCode(text: string): string {
  let fence: string | undefined
  const lines = text.split('\n').map((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined && mark === undefined) {
      return line.replaceAll(/`[^`]*`/g, (code) => ' '.repeat(code.length))
    }
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence) === true) fence = undefined
    return ' '.repeat(line.length)
  })
  return lines.join('\n')
}

/** Reports invisible characters, and characters that look like others. */
export function checkCharacters({ text, report, countsOnly }: AuditedText): void {
  if (!unusual.test(text)) return
  // Editors write a byte order mark at the very beginning.
  const from = text.startsWith('\ufeff') ? 1 : 0
  for (const [code, pattern, name] of rules) {
    for (const match of text.matchAll(pattern)) {
      if (match.index < from && match[0].length === 1) continue
      if (countsOnly(code)) continue
      const points = Array.from(match[0], pointOf)
      const listedPoints = points.slice(0, 4).join(' ') + (points.length > 4 ? ' …' : '')
      const amount = points.length === 1 ? '' : `${points.length} `
      const message = `${amount}${name}${amount === '' ? '' : 's'}: ${listedPoints}`
      report(code, match.index, message)
    }
  }
}

const unusual = /[^\t\n\f\r\u0020-\u007e]|\r(?!\n)/

const zeroWidth = '[\\u115f\\u1160\\u180e\\u200b-\\u200d\\u2060-\\u2064\\u3164\\ufeff\\uffa0]'

const rules: readonly (readonly [code: AuditCode, pattern: RegExp, name: string])[] = [
  // Regional flags, such as England's, are a black flag, tags, and a closing tag.
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

const farColumns = 500
const farLines = 200

/** Reports text that a reader does not reach: after many blanks, or below many empty lines. */
export function checkLayout({ text, report }: AuditedText): void {
  let blanks = 0
  let empty = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 10) {
      empty++
      blanks = 0
    } else if (code === 32 || code === 9 || code === 13 || code === 0xa0) {
      blanks++
    } else {
      const lines = empty - 1
      if (blanks >= farColumns || lines >= farLines) {
        const message = blanks >= farColumns ? `${blanks} blanks` : `${lines} empty lines`
        report('text-pushed-aside', at, `follows ${message}`)
      }
      blanks = 0
      empty = 0
    }
  }
}

export function checkJson({ text, report }: AuditedText): void {
  for (const { index } of text.matchAll(
    /"(?:__proto__|\\u005f\\u005fproto\\u005f\\u005f)"\s{0,9}:/gi,
  )) {
    const message = 'a key that reaches the prototype of objects made from the file'
    report('prototype-key', index, message)
  }
  const hooks = text.search(/"hooks"\s{0,9}:\s{0,9}[[{]/)
  if (hooks === -1 || !/"command"\s{0,9}:/.test(text)) return
  report('hooks', hooks, 'declares hooks that run commands')
}
