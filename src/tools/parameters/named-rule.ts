import { withoutEnd } from '../../core/text.ts'
import { coerceText } from './coerce.ts'
import type { Parameter } from './parameter.ts'
import {
  type Finding,
  type MappingRule,
  mayHave,
  phrase,
  type RequestReading,
  slotFrom,
  spokenPart,
} from './request.ts'
import type { Slot } from './slots.ts'
import { sentenceWords, spokenNames } from './synonym-table.ts'

/** The request says the parameter's name and a value: `uid btn-1`, `page 2`, `state: closed`. */
export const namedRule: MappingRule = {
  name: 'named in the request',
  find: (parameter, reading) => assigned(parameter, reading) ?? spoken(parameter, reading),
}

/** `name=value` and `name: value`; the value is a JSON value, quoted, or runs to the next space. */
function assigned(parameter: Parameter, reading: RequestReading): Finding | undefined {
  if (parameter.words.length === 0 || !mayHave(parameter.words, reading.lower)) return undefined
  const pattern = new RegExp(
    `(?<![\\w-])${phrase(parameter.words)}\\s?(?:=|:(?!//))\\s?(?=\\S)`,
    'gi',
  )
  for (const match of reading.text.matchAll(pattern)) {
    const finding = valueAt(match.index + match[0].length, parameter, reading, () => true)
    if (finding !== undefined) return finding
  }
  return undefined
}

/** The name, or a word people use for it, directly before a value. */
function spoken(parameter: Parameter, reading: RequestReading): Finding | undefined {
  if (parameter.kind === 'boolean' || parameter.kind === 'object') return undefined
  const text = spokenPart(reading)
  for (const words of namesOf(parameter)) {
    if (!mayHave(words, reading.lower)) continue
    const pattern = new RegExp(
      `(?<![\\w/.-])${phrase(words)}\\s+(?:(?:id|uid|number|no\\.?|named|called|is)\\s+)?(?=\\S)`,
      'gi',
    )
    for (const match of text.matchAll(pattern)) {
      const offset = match.index + match[0].length
      const finding = valueAt(offset, parameter, reading, (token, slot) =>
        looksLikeValue(token, slot, parameter),
      )
      if (finding !== undefined) return finding
    }
  }
  return undefined
}

function namesOf({ name, words }: Parameter): (readonly string[])[] {
  const synonyms = spokenNames
    .filter(({ parameter }) => parameter.test(name))
    .flatMap((entry) => entry.words.map((word) => word.split(' ')))
  return words.length === 0 ? synonyms : [words, ...synonyms]
}

function valueAt(
  offset: number,
  parameter: Parameter,
  reading: RequestReading,
  accepts: (token: string, slot: Slot | undefined) => boolean,
): Finding | undefined {
  const slot = slotFrom(reading, offset)
  const token = /^[^\s,;]{1,2000}/.exec(reading.text.slice(offset, offset + 2000))?.[0] ?? ''
  const plain = withoutEnd(token, '.,;:!?)')
  if (slot !== undefined && reading.spent.has(slot)) return undefined
  const isWhole = slot?.start === offset
  const text = isWhole ? slot.value : plain
  if (text === '' || !accepts(text, isWhole ? slot : undefined)) return undefined
  const value = coerceText(text.replace(/^#(?=\d)/, ''), parameter)
  return value === undefined ? undefined : { value, text, slots: isWhole ? [slot] : [] }
}

/** What takes whole sentences: after `query` or `message` a bare word is more of the request. */
const isSentence = /^(?:query|q|question|prompt|text|message|content|body|statement|sql)$/i

/** Said without `=`, a word is a value only if it looks like a name and not like more of a sentence. */
function looksLikeValue(
  token: string,
  slot: Slot | undefined,
  { name, kind, choices }: Parameter,
): boolean {
  if (isSentence.test(name)) return slot !== undefined && slot.kind !== 'identifier'
  if (choices.length > 0 || kind === 'number' || kind === 'integer' || slot !== undefined)
    return true
  if (kind === 'array') return false
  if (/[\d_]|^[A-Z]\w|\w-\w/.test(token)) return true
  const plain = spokenNames.some((row) => row.plain === true && row.parameter.test(name))
  return plain && /^\w+$/.test(token) && !sentenceWords.has(token.toLowerCase())
}
