import { withoutEnd } from '#core/text'
import { stopWords, plainWords, stemOf } from '#rank/words'
import { plainText, type JsonValue } from '#core/json'
import { callingVerbs, readingVerbs } from '#tools/contract'
import type { ToolDefinition } from '#tools/model'
import { coerceText, isIdentifier, type Parameter, parametersOf } from './parameter.ts'
import { findSlots, type SlotKind } from './slots.ts'

export interface Token {
  text: string
  word: string
  stem: string
  start: number
  end: number
  at: number
  /** The kind of a typed piece; undefined for a word. */
  kind: SlotKind | undefined
  /** Whether `not`, `no` or `without` precedes. */
  negated: boolean
  /** Whether it is a name: capitalised, in the middle of a sentence. */
  isProper: boolean
}

export interface MappedValue {
  parameter: string
  value: JsonValue
  rule: string
  /** The request's words for the value; empty if the value has another source. */
  text: string
}

/** A request and the assignment of its pieces to one tool's parameters. */
export class Reading {
  readonly text: string
  readonly tool: ToolDefinition
  readonly tokens: readonly Token[]
  /** The first token that is not grammar. */
  readonly first: Token | undefined
  readonly parameters: readonly Parameter[]
  readonly name: readonly string[]
  readonly found = new Map<string, MappedValue>()
  readonly #used = new Set<Token>()
  /** Tokens that fit several parameters, or are negated. */
  readonly #doubtful = new Set<Token>()
  readonly #closed: ReadonlySet<string | undefined>
  readonly #vocabulary: ReadonlySet<string>
  /** Words of each parameter. They count as words of the tool once the parameter has a value. */
  readonly #described: ReadonlyMap<string, ReadonlySet<string>>
  readonly #texts: string

  /** @param closed names of parameters that take no text of the request */
  constructor(
    text: string,
    tool: ToolDefinition,
    closed: ReadonlySet<string | undefined>,
    examples: readonly string[] = [],
  ) {
    this.text = text
    this.tool = tool
    this.tokens = tokensOf(text)
    this.first = this.tokens.find(({ word }) => !isGrammar(word))
    const all = parametersOf(tool.inputSchema)
    this.parameters = all
    this.#closed = closed
    this.name = plainWords(tool.name)
    const { vocabulary, described, texts } = wordsOfTool(tool)
    this.#vocabulary =
      examples.length > 0 ? new Set([...vocabulary, ...stemsOf(examples)]) : vocabulary
    this.#described = described
    this.#texts = texts
  }

  open(): readonly Parameter[] {
    return this.parameters.filter(({ name }) => !this.found.has(name) && !this.#closed.has(name))
  }

  /** Assigns a text to a parameter; false if the schema does not accept the text, or it is negated. */
  take(parameter: Parameter, text: string, rule: string, tokens: readonly Token[]): boolean {
    if (tokens.some((token) => token.negated)) {
      this.doubt(tokens)
      return false
    }
    const value = fitsExamples(text, parameter) ? coerceText(text, parameter) : undefined
    if (value !== undefined) this.give(parameter, value, rule, tokens, text)
    return value !== undefined
  }

  give(
    { name }: Parameter,
    value: JsonValue,
    rule: string,
    tokens: readonly Token[],
    text = tokens.map((token) => token.text).join(' '),
  ): void {
    for (const token of tokens) this.#used.add(token)
    this.found.set(name, { parameter: name, value, rule, text })
  }

  doubt(tokens: readonly Token[]): void {
    for (const token of tokens) this.#doubtful.add(token)
  }

  /** Returns a word with the words that hyphens join, a name of several words, or one typed piece. */
  wordFrom(first: Token): readonly Token[] {
    const words = [first]
    if (first.kind) return words
    for (const next of this.tokens.slice(first.at + 1)) {
      const between = this.text.slice(words.at(-1)?.end, next.start)
      const isName = between === ' ' && [first, next].every(({ text }) => /^\p{Lu}/u.test(text))
      if (next.kind || !(isName || between === '-')) break
      words.push(next)
    }
    return words
  }

  textOf(tokens: readonly Token[]): string {
    const [first] = tokens
    if (tokens.length === 1 || !first) return first?.text ?? ''
    return this.text.slice(first.start, tokens.at(-1)?.end)
  }

  after({ at }: Token): Token | undefined {
    return this.tokens[at + 1]
  }

  isUsed(token: Token): boolean {
    return this.#used.has(token)
  }

  isLeft(token: Token): boolean {
    return !this.isUsed(token) && !this.isKnown(token)
  }

  /** Whether a token can be a value: a typed piece, or a word that the tool does not mention. */
  isValue(token: Token): boolean {
    return !this.isUsed(token) && !this.isOfTool(token)
  }

  isKnown(token: Token): boolean {
    const { stem, word } = token
    // `Done` of `to Done` is a value, although `done` is a word of grammar.
    if (token.isProper && ['to', 'as'].includes(this.tokens[token.at - 1]?.word ?? '')) {
      return this.#vocabulary.has(stem)
    }
    // A request's verb only selects the tool: `run`, and `show` for a tool that reads.
    const isVerb = callingVerbs.has(word) || (readingVerbs.has(word) && saysItReads(this.tool))
    return (
      isGrammar(word) ||
      plainPrepositions.has(word) ||
      this.#vocabulary.has(stem) ||
      [...this.found.keys()].some((name) => this.#described.get(name)?.has(stem)) ||
      wordsOfInitials(token.text, this.name).length > 0 ||
      (isVerb && token === this.first)
    )
  }

  /** Whether the tool's name or description, or a parameter that has a value, contains a word. */
  hasWord(word: string): boolean {
    const stem = stemOf(word)
    const described = [...this.found.keys()].map((name) => this.#described.get(name))
    return this.#vocabulary.has(stem) || described.some((stems) => stems?.has(stem) === true)
  }

  /** Returns the parts of the request that no parameter took and that are neither the tool's words nor grammar. */
  unplaced(): string[] {
    const left = this.tokens.filter((token) => {
      if (this.isUsed(token)) return false
      // `do not close page 3` does not ask to close it.
      const isAction = !isGrammar(token.word) || this.name.includes(token.word)
      const isOpen =
        this.#doubtful.has(token) ||
        (token.negated && isAction) ||
        this.#isOpenLabel(token) ||
        this.#isAfterBy(token)
      return isOpen || !(this.#isNaming(token) || this.isOfTool(token))
    })
    return [...new Set(left.map(({ text }) => text))]
  }

  /**
   * Returns the words that say which thing of an earlier answer is meant: those that neither grammar, nor the tool's name,
   * nor a parameter that is required or has a value explain.
   */
  identifying(): string[] {
    const verbs = [callingVerbs, saysItReads(this.tool) ? readingVerbs : callingVerbs]
    const open = new Set(this.open())
    const read = this.parameters.filter((one) => one.required || !open.has(one))
    const described = read.flatMap(({ name }) => [...(this.#described.get(name) ?? [])])
    const ofTool = new Set([...this.name.map(stemOf), ...described])
    const left = this.tokens.filter((token) => {
      const { word, stem, kind } = token
      if (this.isUsed(token) || (kind !== undefined && kind !== 'quoted')) return false
      if (quantifiers.has(word) || token.negated) return true
      const isVerb = token === this.first && verbs.some((some) => some.has(word))
      return !isGrammar(word) && !ofTool.has(stem) && !isVerb
    })
    return left.flatMap(({ text }) => plainWords(text))
  }

  /**
   * Whether the request only asks or reports something about what the tool does: `why was PR 17 merged`, `we merged PR 17`.
   * `can you merge PR 17` asks for the call.
   */
  isOnlyAbout(): boolean {
    const words = this.tokens.filter(({ kind }) => !kind).map(({ word }) => word)
    const [first = '', second = ''] = words
    const isQuestion =
      interrogatives.has(first) ||
      (['can', 'could'].includes(first) && ['i', 'we'].includes(second)) ||
      words.some((word) => ['how', 'why', 'whether'].includes(word))
    return isQuestion || this.name.some((name) => this.#isInflected(name))
  }

  /**
   * Returns the words that make an action depend on something, choose or exclude something: `if it is idle`,
   * `when done`, `all but db-2`, `what is in list 7`, `those under 7`.
   */
  conditions(): string[] {
    const isLike = ({ word, at }: Token) => {
      const before = this.tokens[at - 1]
      return word === 'like' && before && !isGrammar(plainWords(before.text).join(''))
    }
    // `a filter like A1` means another filter; `I would like` is not a condition.
    const like = this.tokens.some((token) => !token.kind && isLike(token)) ? ['like'] : []
    return [...this.#openWords(conditions), ...like]
  }

  /** Returns the words that choose among several things: `every container`, but not `all` of `mark_all_as_read`. */
  openQuantifiers(): string[] {
    return this.#openWords(quantifiers).filter((word) => !this.name.includes(word))
  }

  /**
   * Returns the values that the request uses in another sense than the call: `2 pages` for the ID of a page, and
   * `from list 7` for the list to which something is moved.
   */
  otherSenses(): string[] {
    return this.tokens.flatMap((token) => {
      const taking = this.parameters.filter(({ name }) => {
        const value = this.found.get(name)?.value
        return value !== undefined && plainText(value) === token.text
      })
      const counted = this.#countedBy(token)
      const isCount = (one: Parameter) => !isIdentifier(one) && one.words.includes(counted ?? '')
      if (counted !== undefined && taking.length > 0 && !taking.some(isCount)) {
        return [`${token.text} ${counted}`]
      }
      return taking.length === 1 && taking.every(isTarget) && this.#isAfterFrom(token)
        ? [`from ${token.text}`]
        : []
    })
  }

  /** Whether a word says by what something is sorted or chosen: `list processes by memory`. */
  #isAfterBy({ kind, word, at }: Token): boolean {
    return !kind && !isGrammar(word) && this.tokens[at - 1]?.word === 'by'
  }

  /** Whether a word is the name of an optional parameter without a value: `read the first sheet`. */
  #isOpenLabel({ kind, word }: Token): boolean {
    const isNamed = !kind && !this.name.includes(word)
    return isNamed && this.open().some((one) => !one.required && one.name === word)
  }

  /** Returns the plural that a number counts: `pages` of `close 2 pages`, but not of `close page 2`. */
  #countedBy(token: Token): string | undefined {
    const before = this.tokens[token.at - 1]
    const isNamed =
      before && before !== this.first && !isGrammar(before.word) && this.isKnown(before)
    if (token.kind !== 'number' || isNamed || this.text.charAt(token.start) === '#')
      return undefined
    const rest = this.tokens.slice(token.at + 1, token.at + 4)
    const end = rest.findIndex((one) => one.kind || isGrammar(one.word) || !this.isKnown(one))
    const nouns = rest.slice(0, end < 0 ? rest.length : end)
    return nouns.find(({ word }) => /[^s]s$/.test(word))?.word
  }

  /** Whether `from` precedes a token, perhaps with words of the tool between: `from the list 7`. */
  #isAfterFrom({ at }: Token): boolean {
    const before = this.tokens.slice(Math.max(0, at - 4), at)
    const preposition = before.findLast((one) => !this.isOfTool(one) || prepositions.has(one.word))
    return preposition?.word === 'from'
  }

  #openWords(words: ReadonlySet<string>): string[] {
    const open = this.tokens.filter((one) => !one.kind && words.has(one.word) && !this.isUsed(one))
    const named = this.parameters.filter(({ name }) => this.found.has(name))
    // `until 2026-12-24` is the value of `until`.
    const isLabel = (word: string) => named.some((one) => one.words.includes(word))
    return [...new Set(open.map(({ word }) => word))].filter((word) => !isLabel(word))
  }

  /** Whether the request has a word of the tool's name only as `merged` or `merging`. */
  #isInflected(name: string): boolean {
    const said = this.tokens.filter(({ kind, stem }) => !kind && stem === stemOf(name))
    const isForm = (word: string) => /(?:ed|ing)$/.test(word)
    return said.length > 0 && !isForm(name) && said.every(({ word }) => isForm(word))
  }

  /** Whether a token is `called` before a value that a parameter took. */
  #isNaming(token: Token): boolean {
    const next = this.after(token)
    return namingWords.has(token.word) && next !== undefined && this.isUsed(next)
  }

  /** Whether a token is a word or an identifier of the tool, such as `pull_request` or `GraphQL`. */
  isOfTool(token: Token): boolean {
    const { kind, text, word } = token
    if (!kind) return this.isKnown(token)
    return kind === 'identifier' && !/\d/.test(text) && this.#texts.includes(word)
  }
}

const readingStems: ReadonlySet<string> = new Set([...readingVerbs].map(stemOf))

/**
 * Whether the name or the description of a tool starts with a verb that reads: `Get details of a task`. It only says how
 * the words of a request are read, never that a call needs no approval.
 */
export function saysItReads(tool: ToolDefinition): boolean {
  return wordsOfTool(tool).reads
}

function startsWithReading({ name, description }: ToolDefinition): boolean {
  const [first = ''] = plainWords(name)
  const [verb = ''] = plainWords(ownDescription(description))
  return readingVerbs.has(first) || readingStems.has(stemOf(verb))
}

/** Returns a description without the name of its product: `Notion | Update a block`. */
export function ownDescription(description: string): string {
  const text = description.slice(0, 500).trimStart()
  return text.replace(/^[\w -]{1,40}\|/, '').trimStart()
}

interface ToolWords {
  vocabulary: Set<string>
  /** By parameter. */
  described: ReadonlyMap<string, ReadonlySet<string>>
  /** Everything that the tool says about itself, in lower case. */
  texts: string
  reads: boolean
}

const wordsByTool = new WeakMap<ToolDefinition, ToolWords>()

function wordsOfTool(tool: ToolDefinition): ToolWords {
  const cached = wordsByTool.get(tool)
  if (cached) return cached
  const { name, title = '', description, server } = tool
  const parameters = parametersOf(tool.inputSchema)
  const required = parameters.filter((parameter) => parameter.required)
  const own = [name, title, plainDescription(description), server]
  const choices = parameters.flatMap((parameter) => choicesOf(parameter).map(String))
  const about = parameters.flatMap((one) => [one.name, one.description])
  const words = {
    vocabulary: stemsOf([...own, ...required.map((parameter) => parameter.name)]),
    described: new Map(
      parameters.map((one) => [one.name, stemsOf([one.name, plainDescription(one.description)])]),
    ),
    texts: [...own, description, ...about, ...choices].join('\n').toLowerCase(),
    reads: startsWithReading(tool),
  }
  wordsByTool.set(tool, words)
  return words
}

function stemsOf(texts: readonly string[]): Set<string> {
  return new Set(texts.flatMap((text) => plainWords(text).map(stemOf)))
}

export function only<T>(list: readonly T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined
}

/** Whether a lower-case word is grammar. */
export function isGrammar(word: string): boolean {
  return stopWords.has(word)
}

export const namingWords: ReadonlySet<string> = new Set(['called', 'named', 'titled', 'entitled'])

/** Prepositions without a meaning of their own: `through the proxy`. */
const plainPrepositions: ReadonlySet<string> = new Set(['through', 'via', 'inside', 'per'])

/** Grammar that chooses among things: `all pages` is none of them. */
export const quantifiers: ReadonlySet<string> = new Set(
  (
    'all every each any some few most both either neither another other same everything anything ' +
    'something everyone anyone'
  ).split(' '),
)

/** Grammar that makes an action depend on something, chooses, compares or excludes something. */
const conditions: ReadonlySet<string> = new Set(
  (
    'if unless while although though but when whenever until till whether or nor than under more ' +
    'less least what which whose who where'
  ).split(' '),
)

const prepositions: ReadonlySet<string> = new Set('from to into in of on for at by with'.split(' '))

/** Whether a parameter says that it is where something goes: `ID of the target list`. */
function isTarget({ words, description }: Parameter): boolean {
  const said = [...words, ...plainWords(description)]
  const isAny = (names: readonly string[]) => said.some((word) => names.includes(word))
  return isAny(['target', 'destination', 'dest']) && !isAny(['from', 'source', 'src', 'origin'])
}

/** Grammar that starts a question about a state, a time or a reason. */
const interrogatives: ReadonlySet<string> = new Set(
  (
    'why how what when who whom whose which where is are was were did does has had should may ' +
    'might shall am'
  ).split(' '),
)

/** What a user has to see before a call whose request has such words. */
export function reservation(words: readonly string[]): string[] {
  const list = words.map((word) => JSON.stringify(word)).join(', ')
  return words.length === 0 ? [] : [`The request says ${list}, and the call would not follow it.`]
}

const negations: ReadonlySet<string> = new Set(
  'not no without except never cannot nobody nothing none neither'.split(' '),
)

let lastRead: { text: string; tokens: readonly Token[] } = { text: '', tokens: [] }

/** Returns the tokens of a request. One request is read for many tools in a row, so the last one is kept. */
function tokensOf(text: string): readonly Token[] {
  if (lastRead.text !== text) lastRead = { text, tokens: tokenise(text) }
  return lastRead.tokens
}

function tokenise(text: string): Token[] {
  const pieces: Omit<Token, 'word' | 'at' | 'negated'>[] = []
  for (const { kind, value, start, end } of findSlots(text)) {
    pieces.push({ text: value, stem: value.toLowerCase(), start, end, kind, isProper: false })
  }
  const slots = [...pieces]
  for (const { 0: word, index: start } of text.matchAll(/[\p{L}\p{M}\p{N}]+(?:['’]\p{L}+)?/gu)) {
    const end = start + word.length
    if (slots.some((slot) => slot.start < end && start < slot.end)) continue
    const before = text.slice(0, start).trimEnd()
    const isProper = /^\p{Lu}/u.test(word) && before !== '' && !/[.!?:]$/.test(before)
    const stem = stemOf(plainWords(word).join(''))
    pieces.push({ text: word, stem, start, end, kind: undefined, isProper })
  }
  const tokens = pieces.toSorted((a, b) => a.start - b.start)
  const isNegation = ({ text: word }: Pick<Token, 'text'>) =>
    negations.has(plainWords(word).join('')) || /^dont$|n['’]t$/i.test(word)
  return tokens.map((token, at) => ({
    ...token,
    word: token.text.toLowerCase(),
    at,
    negated: tokens.slice(Math.max(0, at - 2), at).some(isNegation),
  }))
}

/** Example values in a description: `a code (e.g. CA)`, `such as pods`, `"full"`. */
const exampleText =
  /(?:\be\.g\.,?|\bfor example,?|\bexamples?:|\bsuch as)\s{0,3}([^;)\n]{1,300}?)(?=[;)\n]|\.\s|\.?$)|(?<!\w)["'`]([^"'`\n]{1,60})["'`]/gi

export function examplesOf({ description }: Parameter): string[] {
  return [...description.matchAll(exampleText)]
    .flatMap(([, list = '', quoted = '']) => [...list.split(/,|\bor\b|\band\b/), quoted])
    .map((item) => withoutEnd(item.trim(), '."\'`').replace(/^["'`]/, ''))
    .filter((item) => /^\S+$/.test(item))
}

/** Whether a text has the form of the examples: `Texas` is not like `CA`, `Tokyo` not like `Asia/Tokyo`. */
function fitsExamples(text: string, parameter: Parameter): boolean {
  if (parameter.kind !== 'string' || parameter.choices.length > 0) return true
  const examples = examplesOf(parameter)
  const isCode = (value: string) => /^\p{Lu}+$/u.test(value)
  const isParted = (value: string) => /^\w+\/\w+$/.test(value)
  return [isCode, isParted].every(
    (isLike) => examples.length === 0 || !examples.every(isLike) || isLike(text),
  )
}

/** Removes examples and names from a description: they are values, not words of the tool. */
function plainDescription(description: string): string {
  return description
    .replaceAll(exampleText, ' ')
    .replaceAll(/\bdefault\S{0,3}(?: to)? \S+/gi, ' ')
    .replaceAll(/(?<=[a-z,] )\p{Lu}\p{L}*/gu, ' ')
}

export function choicesOf({ choices, items }: Parameter): Parameter['choices'] {
  return choices.length > 0 ? choices : (items?.choices ?? [])
}

/** Returns the words of a name whose initials a word consists of: `PR` and `PRs` for `get_pull_request`. */
export function wordsOfInitials(word: string, name: readonly string[]): readonly string[] {
  const letters = name.map((part) => part.charAt(0)).join('')
  const [, plain = ''] = /^(\p{Lu}{2,})s?$/u.exec(word) ?? []
  const at = plain === '' ? -1 : letters.indexOf(plain.toLowerCase())
  return at < 0 ? [] : name.slice(at, at + plain.length)
}
