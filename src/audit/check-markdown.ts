import type { AuditedText } from './check-characters.ts'
import type { Findings } from './_findings.ts'
import { withoutCode } from './_without-code.ts'

/** What a Markdown file contains that its rendered page does not show. */
export function checkMarkdown({ file, text, placeOf }: AuditedText, findings: Findings): void {
  if (!/<|\]:/.test(text)) return
  const prose = withoutCode(text)
  for (const { offset, length } of comments(prose)) {
    const words = text.slice(offset, offset + length)
    if (!speaksToReader.test(words)) continue
    const message = 'a comment that a rendered page does not show speaks to the reader'
    findings.add('comment-instructions', { file, ...placeOf(offset) }, message)
  }
  for (const match of prose.matchAll(/(?:style\s{0,3}=|<font\s)[^>]{1,400}/gi)) {
    const reason = hiddenBy(match[0].toLowerCase())
    if (reason === undefined) continue
    const message = `text that a rendered page does not show: ${reason}`
    findings.add('hidden-style', { file, ...placeOf(match.index) }, message)
  }
}

/** Verbs and names with which an agent is told to do something; an author's own notes have none. */
const speaksToReader =
  /\b(?:you (?:must|should|are)|ignore|disregard|do not (?:tell|mention|show|ask)|don't (?:tell|mention|show|ask)|never (?:tell|mention|show)|secretly|silently|without (?:telling|asking)|assistant|system prompt|execute|curl|wget|api[ _-]?key|password|credentials?)\b/i

interface Comment {
  offset: number
  length: number
}

/** One that is not closed hides the rest of the page. */
function comments(text: string): Comment[] {
  const found: Comment[] = []
  for (let at = text.indexOf('<!--'); at !== -1; at = text.indexOf('<!--', at)) {
    const close = text.indexOf('-->', at + 4)
    const end = close === -1 ? text.length : close + 3
    found.push({ offset: at, length: end - at })
    at = end
  }
  // A definition of a link that nothing uses is a comment too: [//]: # (text)
  for (const { index, 0: line } of text.matchAll(/^\[(?:\/\/|comment)\]:[^\n]{1,2000}/gm)) {
    found.push({ offset: index, length: line.length })
  }
  return found
}

function hiddenBy(style: string): string | undefined {
  const value = (property: string): string | undefined =>
    new RegExp(`(?:^|[\\s"';{])${property}\\s{0,3}[:=]\\s{0,3}["']?([^;"'}]{1,60})`)
      .exec(style)?.[1]
      ?.trim()
  if (value('display') === 'none') return 'display: none'
  if (value('visibility') === 'hidden') return 'visibility: hidden'
  if (/^0(?:\.0+)?(?:px|pt|em|rem|%)?$/.test(value('font-size') ?? '')) return 'font-size: 0'
  if (/^0(?:\.0+)?%?$/.test(value('opacity') ?? '')) return 'opacity: 0'
  const color = value('color')
  if (color === undefined) return undefined
  const background = value('background-color') ?? value('background') ?? 'white'
  if (color === 'transparent') return 'color: transparent'
  return colour(color) === colour(background) ? `${color} on ${background}` : undefined
}

function colour(name: string): string {
  const plain = name.replaceAll(' ', '').replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3')
  return /^(?:white|#ffffff(?:ff)?|rgba?\(255,255,255(?:,1)?\))$/.test(plain) ? 'white' : plain
}
