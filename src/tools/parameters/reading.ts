import { stopWords, plainWords, stemOf } from '../../rank/words.ts'
import type { ToolDefinition } from '../model.ts'
import { callingVerbs, readingVerbs } from '../contract.ts'
import { type Parameter, parametersOf, wordsOf } from './parameter.ts'
import { findSlots, type Slot } from './slots.ts'

/** A typed piece of a request, or a word outside of them. */
export interface Token {
  text: string
  stem: string
  start: number
  end: number
  slot?: Slot | undefined
  /** `not`, `no` or `without` stands before it. */
  negated: boolean
  /** A name by its capital letter, in the middle of a sentence. */
  isProper: boolean
}

/** A request while it is mapped: its pieces in order, and which of them have a place. */
export interface Reading {
  text: string
  tokens: readonly Token[]
  /** Tokens that became a value or said which parameter it is for. */
  used: Set<Token>
  /** Tokens that may be a value for several parameters, or were negated. */
  doubtful: Set<Token>
  /** Whether the tool says the word: in its name, description, parameters or choices. */
  isKnown(token: Token): boolean
}

/** Reads a request for one tool. `examples` are sentences that are known to mean the tool. */
export function readRequest(
  text: string,
  tool: ToolDefinition,
  examples: readonly string[] = [],
): Reading {
  const tokens = tokensOf(text)
  const vocabulary = vocabularyOf(tool, examples)
  const name = wordsOf(tool.name)
  const reads = readingVerbs.has(name[0] ?? '')
  const isVerb = (word: string): boolean =>
    callingVerbs.has(word) || (reads && readingVerbs.has(word))
  const first = tokens.find(({ text: word }) => !stopWords.has(word.toLowerCase()))
  const isKnown = ({ stem, text: word, ...token }: Token): boolean =>
    stopWords.has(word.toLowerCase()) ||
    vocabulary.has(stem) ||
    [...vocabulary].some((known) => isSameWord(known, stem)) ||
    isInitials(word.toLowerCase(), name) ||
    // The verb of a request says no more than the choice of the tool: `run`, and `show` of a reader.
    (token.start === first?.start && isVerb(word.toLowerCase()))
  return { text, tokens, used: new Set(), doubtful: new Set(), isKnown }
}

/** What the request says and no parameter took: the rest of it is of the tool, or grammar. */
export function unplaced({ tokens, used, doubtful, isKnown }: Reading): string[] {
  const left = tokens.filter((token) => {
    if (used.has(token)) return false
    if (doubtful.has(token)) return true
    return token.slot === undefined ? !isKnown(token) : !isOwnWords(token, isKnown)
  })
  return [...new Set(left.map(({ text, slot }) => slot?.value ?? text))]
}

/** `pull_request` says no more than its words; a number, a path or a quoted text always does. */
function isOwnWords({ slot, ...token }: Token, isKnown: Reading['isKnown']): boolean {
  if (slot?.kind !== 'identifier' || /\d/.test(slot.value)) return false
  return wordsOf(slot.value).every((word) =>
    isKnown({ ...token, text: word, stem: stemOf(word), slot: undefined }),
  )
}

const negations: ReadonlySet<string> = new Set(['not', 'no', 'without', 'dont', 'except', 'never'])

function tokensOf(text: string): Token[] {
  const slots = findSlots(text)
  const found: Token[] = slots.map((slot) => ({
    ...slot,
    text: slot.value,
    stem: slot.value.toLowerCase(),
    slot,
    negated: false,
    isProper: false,
  }))
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{M}\p{N}]+(?:['’]\p{L}+)?/gu)) {
    const end = index + word.length
    if (slots.some((slot) => slot.start < end && index < slot.end)) continue
    const plain = plainWords(word).join('')
    const before = text.slice(0, index).trimEnd()
    const isProper = /^\p{Lu}/u.test(word) && before !== '' && !/[.!?:]$/.test(before)
    found.push({ text: word, stem: stemOf(plain), start: index, end, negated: false, isProper })
  }
  const tokens = found.toSorted((a, b) => a.start - b.start)
  return tokens.map((token, at) => ({
    ...token,
    negated: tokens
      .slice(Math.max(0, at - 2), at)
      .some(({ text: word }) => negations.has(plainWords(word).join(''))),
  }))
}

function vocabularyOf(tool: ToolDefinition, examples: readonly string[]): Set<string> {
  const { name, title = '', description, server, inputSchema } = tool
  const described = parametersOf(inputSchema).flatMap((parameter) => [
    parameter.name,
    parameter.description,
    ...choicesOf(parameter).map(String),
  ])
  const texts = [name, title, description, server, ...described, ...examples]
  return new Set(texts.flatMap((text) => plainWords(text).map(stemOf)))
}

/** The values of an enumeration, or of the members of a list. */
export function choicesOf({ choices, items }: Parameter): Parameter['choices'] {
  return choices.length > 0 ? choices : (items?.choices ?? [])
}

/** `repo` and `repository`, `doc` and `documentation`. */
function isSameWord(one: string, other: string): boolean {
  const [short = '', long = ''] = [one, other].toSorted((a, b) => a.length - b.length)
  return short.length >= 3 && /^[a-z]+$/.test(short) && long.startsWith(short)
}

/** `PR` and `PRs` for `get_pull_request`. */
function isInitials(word: string, name: readonly string[]): boolean {
  const letters = name.map((part) => part.charAt(0)).join('')
  const plain = word.replace(/s$/, '')
  return plain.length >= 2 && letters.includes(plain)
}
