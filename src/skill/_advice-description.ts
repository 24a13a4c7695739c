import type { Diagnostic } from '../base/index.ts'
import { finding, type Position } from './_finding.ts'

/** Advice about the one text by which a model chooses the skill. */
export function adviseOnDescription(path: string, text: string, at: Position): Diagnostic[] {
  const found: Diagnostic[] = []
  const person = wrongPerson(text)
  if (person !== undefined) {
    const message = `The description speaks in the ${person} person.`
    const hint = 'It becomes part of a system prompt: write "Extracts …", not "I extract …".'
    found.push(finding('description-person', path, at, message, hint))
  }
  if (isVague(text)) {
    const message = 'The description is too short to choose the skill by.'
    const hint = 'Name what it does, with the words that a user would use.'
    found.push(finding('description-vague', path, at, message, hint))
  }
  if (!occasion.test(text)) {
    const message = 'The description does not say when to use the skill.'
    const hint = 'Add a sentence such as "Use when …".'
    found.push(finding('description-no-occasion', path, at, message, hint))
  }
  return found
}

/** The ways in which descriptions say when: "Use when", "when the user", "if …", "for … tasks". */
const occasion =
  /\b(?:when(?:ever)?|if|during|before|after|while|trigger(?:s|ed)?|activate[sd]?|invoke[sd]?|whether)\b|\b(?:us(?:e|ed|eful)|need(?:ed)?|helpful|ideal|suitable|designed|intended|appl(?:y|ies)|invoke|covers|should be used)\s+(?:(?:this|it|proactively|skill)\s+)*(?:for|to|with|in|by|as)\b|\b(?:asks?|asked|wants?|needs?|mentions?|requests?|says?)\b|\bin (?:case|response|situations)\b|\bon (?:request|demand)\b/i

/** Fewer than four words that carry meaning do not separate one skill from a hundred others. */
function isVague(text: string): boolean {
  if (unspacedScript.test(text)) return Array.from(text).length < 12
  const words = text.toLowerCase().split(/[\s"'(),.:;!?/<>`[\]{}]+/)
  return (
    words.filter((word) => /[a-z0-9\u00c0-\uffff]/.test(word) && !emptyWords.has(word)).length < 4
  )
}

/** Scripts that write without blanks between words: Thai, kana, Han. */
const unspacedScript = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]/

const emptyWords = new Set(
  'a an and any are as at by can do does for from helps help helper in is it its of on or skill that the this thing things to tool use used useful various with work working works stuff your'.split(
    ' ',
  ),
)

function wrongPerson(text: string): 'first' | 'second' | undefined {
  // Words in quotation marks are the user's.
  const own = text.replace(/"[^"]*"|“[^”]{0,400}”|`[^`]*`|(?<!\w)'[^']*'(?!\w)/g, ' ')
  if (/(?:^|[.!?:]\s+)(?:I|We)\s+(?:can|will|am|are|help|\w+)\b|\bI(?:'ll|'m)\b/.test(own)) {
    return 'first'
  }
  return /(?:^|[.!?:]\s+)(?:You|Your)\b/.test(own) || /\b(?:helps?|lets?|allows?) you\b/i.test(own)
    ? 'second'
    : undefined
}
