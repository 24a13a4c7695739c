import { isDeepStrictEqual } from 'node:util'
import { plainWords, stemOf } from '#rank/words'
import { isList, isObject, plainText, type JsonValue, type JsonObject } from '#core/json'
import type { ToolDefinition } from '#tools/model'
import { derivesFrom } from './derived-values.ts'
import { isOpenAction, mapParameters, type ParameterMapping } from './map-parameters.ts'
import { isIdentifier, type Parameter } from './parameter.ts'
import { fits, isOtherThanId } from './place-by-form.ts'
import {
  choicesOf,
  isGrammar,
  type MappedValue,
  namingWords,
  quantifiers,
  Reading,
  reservation,
  saysItReads,
  type Token,
  wordsOfInitials,
} from './reading.ts'
import { findSlots, maxRequestLength } from './slots.ts'

interface JudgedParameters extends ParameterMapping {
  /** Why a call that may change something needs a question, also with a yes in advance. */
  doubts: readonly string[]
}

/**
 * Judges a model's parameters by the request. `missing` has the parameters whose values the request does not contain
 * or contradicts, `unplaced` the typed pieces that no value has, and for a call that may change something the words.
 */
export function judgeParameters(
  request: string,
  tool: ToolDefinition,
  params: JsonObject,
  { mayChange }: { mayChange: boolean },
): JudgedParameters {
  const text = request.slice(0, maxRequestLength)
  const whole = new Judge(text, tool, params, mayChange)
  const unsaid = Object.keys(params).filter((name) => whole.isDoubtful(name))
  // A default that nobody says is left out: the call is the same.
  const defaults = unsaid.filter((name) => whole.isOptionalDefault(name))
  if (defaults.length > 0) {
    const said = Object.entries(params).filter(([name]) => !defaults.includes(name))
    return judgeParameters(request, tool, Object.fromEntries(said), { mayChange })
  }
  const judge = whole
  const doubtful = unsaid
  const open = judge.reading
    .open()
    .filter((one) => one.required || (mayChange && judge.isUnsaidAction(one)))
  return {
    params,
    missing: [...new Set([...open.map(({ name }) => name), ...doubtful])],
    unplaced: judge.unplaced(mayChange),
    identifying: [],
    trace: [...judge.reading.found.values()],
    doubts: [...judge.questions(), ...judge.exchangeable()],
  }
}

/** How the words say which parameter a value belongs to. */
const labelRules: ReadonlySet<string> = new Set([
  'named in the request',
  'written as JSON',
  'a phrase of the format',
  'by its preposition',
  'a flag of the schema',
])

interface Leaf {
  name: string
  value: string | number | boolean | null
}

class Judge {
  readonly reading: Reading
  /** The same without the model's values, whose descriptions explain no word here. */
  readonly #bare: Reading
  readonly #text: string
  readonly #mayChange: boolean
  readonly #params: JsonObject
  readonly #stems: ReadonlySet<string>
  /** What the words alone say, by parameter. */
  readonly #byWords: ReadonlyMap<string, MappedValue>
  readonly #leaves: readonly Leaf[]
  readonly #nameStems: ReadonlySet<string>
  /** Words of all values, stemmed. */
  readonly #placed: ReadonlySet<string>

  constructor(text: string, tool: ToolDefinition, params: JsonObject, mayChange: boolean) {
    this.#text = text
    this.#mayChange = mayChange
    this.#params = params
    this.reading = new Reading(text, tool, new Set())
    this.#bare = new Reading(text, tool, new Set())
    this.#stems = new Set(plainWords(text).map(stemOf))
    this.#nameStems = new Set(this.reading.name.map(stemOf))
    const { trace } = mapParameters(text, tool)
    this.#byWords = new Map(trace.map((one) => [one.parameter, one]))
    this.#leaves = Object.entries(params).flatMap(([name, value]) => leavesOf(name, value))
    this.#placed = new Set(
      this.#leaves.flatMap(({ value }) => plainWords(String(value)).map(stemOf)),
    )
    for (const [name, value] of Object.entries(params)) {
      const parameter = this.#parameter(name)
      if (parameter) this.reading.give(parameter, value, 'chosen by a model', [])
    }
  }

  /** Whether the request does not contain a value, or says another one. */
  isDoubtful(name: string): boolean {
    const value = this.#params[name]
    const parameter = this.#parameter(name)
    const byWords = this.#byWords.get(name)
    const isLabelled = byWords !== undefined && labelRules.has(byWords.rule)
    if (value === undefined || value === null) return parameter?.required ?? false
    if (byWords && isDeepStrictEqual(byWords.value, value)) return false
    // `since 5 March 2026` is not `since: 5`.
    const isDerived = typeof value === 'string' && derivesFrom(value, this.#text)
    if (isLabelled && !isDerived && this.#contradicts(byWords, value)) return true
    const leaves = leavesOf(name, value)
    if (this.#mayChange && leaves.some((leaf) => this.#isSaidTooRarely(leaf))) return true
    return !leaves.every((leaf) => this.#isFounded(leaf, parameter))
  }

  isOptionalDefault(name: string): boolean {
    const parameter = this.#parameter(name)
    const value = this.#params[name]
    return (
      parameter?.required === false &&
      parameter.default !== undefined &&
      isDeepStrictEqual(parameter.default, value)
    )
  }

  /** Whether an action is open, and the verb of the request is not explained by a value: `assign` by `assignedTo`. */
  isUnsaidAction(parameter: Parameter): boolean {
    const { first } = this.reading
    const choices = choicesOf(parameter).map((choice) => stemOf(plainText(choice).toLowerCase()))
    const isExplained =
      first !== undefined &&
      this.#isVerbOfValue(first) &&
      !this.reading.tokens.some(({ stem }) => choices.includes(stem))
    return isOpenAction(parameter, this.reading) && !isExplained
  }

  /** Whether more values have a piece than the request says it: `17` of `PR 17` is not the version too. */
  #isSaidTooRarely({ value }: Leaf): boolean {
    const text = String(value)
    const said = occurrences(text, this.#text)
    if (typeof value === 'boolean' || said === 0) return false
    return this.#leaves.filter((leaf) => String(leaf.value) === text).length > said
  }

  /** Whether the request says another value for a parameter, which is not part of this one. */
  #contradicts({ value: said }: MappedValue, value: JsonValue): boolean {
    const own = new Set(leavesOf('', value).flatMap((leaf) => plainWords(String(leaf.value))))
    const words = leavesOf('', said).flatMap((leaf) => plainWords(String(leaf.value)))
    return typeof said === 'boolean' || !words.every((word) => own.has(word))
  }

  /** Whether a part of a value is said, a choice of the schema, or follows from what is said. */
  #isFounded(leaf: Leaf, parameter: Parameter | undefined): boolean {
    const { value } = leaf
    if (value === null) return true
    if (typeof value === 'boolean') return this.#isFlag(value, parameter)
    const isChoice = parameter?.required === true && choicesOf(parameter).length > 0
    if (this.#mayChange && !isChoice && this.#isOnlyName(String(value))) return false
    if (this.#mayChange && parameter && this.#isUnlikelyId(String(value), parameter)) return false
    if (this.#isSaid(String(value))) return true
    const choices = parameter ? choicesOf(parameter) : []
    if (choices.includes(value)) return this.#isChosen(String(value), parameter)
    return (
      isRequiredDefault(value, parameter) ||
      derivesFrom(String(value), this.#text) ||
      this.#isComposed(String(value))
    )
  }

  /** Whether all words of a value are grammar or name the tool: `merge` of `merge PR 17` is not a strategy. */
  #isOnlyName(value: string): boolean {
    const words = plainWords(value)
    const tokens = this.reading.tokens
    const isNoValue = (word: string) => {
      const stem = stemOf(word)
      const isInPiece = tokens.some(
        ({ kind, text }) => kind && plainWords(text).map(stemOf).includes(stem),
      )
      const isRepeated = tokens.filter((token) => !token.kind && token.stem === stem).length > 1
      const isName = isGrammar(word) || (this.#nameStems.has(stem) && !isRepeated)
      return isName && !isInPiece
    }
    return words.length > 0 && words.every(isNoValue)
  }

  /** Whether a plain word of the request is an ID, though no word names it as one: `latest` of `delete the latest email`. */
  #isUnlikelyId(value: string, parameter: Parameter): boolean {
    if (!isIdentifier(parameter)) return false
    const places = this.reading.tokens.filter(({ text }) => text === value)
    const isPlain = places.every(({ kind, text }) => !kind && /^\p{Ll}+$/u.test(text))
    const isLabelled = places.some(({ at }) => {
      const before = this.reading.tokens[at - 1]
      if (!before || before === this.reading.first || isGrammar(before.word)) return false
      return parameter.words.includes(before.word) || this.#isToolWord(before.word)
    })
    return places.length > 0 && isPlain && !isLabelled
  }

  #isSaid(value: string): boolean {
    if (value.trim() === '') return false
    if (occursIn(value, this.#text)) return true
    const words = plainWords(value)
    const isNumber = /^[-+\d.,]+$/.test(value)
    const isContent = words.some((word) => !isGrammar(word))
    return !isNumber && isContent && words.every((word) => isGrammar(word) || this.#hasWord(word))
  }

  #hasWord(word: string): boolean {
    return this.#stems.has(stemOf(word))
  }

  /** A choice that is not said needs a word of the request that nothing else explains: `by train` for `transit`. */
  #isChosen(choice: string, parameter: Parameter | undefined): boolean {
    const choices = parameter ? choicesOf(parameter) : []
    const others = choices.map((one) => plainWords(plainText(one)))
    const isNamed = plainWords(choice).some((word) => {
      const isTold = this.#nameStems.has(stemOf(word)) || others.every((one) => one.includes(word))
      return this.#hasWord(word) && !isGrammar(word) && !(this.#mayChange && isTold)
    })
    const isOtherNamed = choices.some((one) => {
      const words = plainWords(plainText(one))
      return one !== choice && words.length > 0 && words.every((word) => this.#hasWord(word))
    })
    // `resolve` says `resolved`, not `resolvedInNextRelease`.
    const isWhole = plainWords(choice).every((word) => this.#hasWord(word))
    if (this.#mayChange && isOtherNamed && !isWhole) return false
    const isRequired = parameter?.required === true && !(this.#mayChange && isOtherNamed)
    return (
      isNamed ||
      isRequired ||
      isRequiredDefault(choice, parameter) ||
      this.#unexplained(parameter).length > 0
    )
  }

  /** A flag is on if the request says a word of it, and off if it is negated or not said. */
  #isFlag(value: boolean, parameter: Parameter | undefined): boolean {
    if (!parameter || isRequiredDefault(value, parameter)) return true
    const ofOthers = this.#mayChange ? this.#stemsOfOthers(parameter) : []
    const isWhole = parameter.words.every((word) => isGrammar(word) || this.#hasWord(word))
    const named = this.#tokensOf(parameter.name).filter(
      (token) =>
        !this.#nameStems.has(token.stem) &&
        !ofOthers.includes(token.stem) &&
        !(this.#mayChange && !isWhole && this.#isLabelOfValue(token)),
    )
    if (named.length > 0) return value !== named.some(({ negated }) => negated)
    const left = this.#unexplained(parameter)
    const isDescribed = this.#tokensOf(parameter.description).some((token) => left.includes(token))
    if (isDescribed) return value
    return parameter.required || left.length > 0
  }

  /** Whether a word only says what the next value is: `branch` of `checkout branch dev` does not create one. */
  #isLabelOfValue({ at }: Token): boolean {
    const next = this.reading.tokens[at + 1]
    return next !== undefined && this.#leaves.some(({ value }) => String(value) === next.text)
  }

  /** The words in the names of the other parameters with a value: `namespace` says nothing about `allNamespaces`. */
  #stemsOfOthers(parameter: Parameter): string[] {
    return this.reading.parameters
      .filter(({ name }) => name !== parameter.name && Object.hasOwn(this.#params, name))
      .flatMap(({ words }) => words.map(stemOf))
  }

  /** The words of the request that a text has. */
  #tokensOf(text: string): Token[] {
    const stems = new Set(plainWords(text).map(stemOf))
    return this.reading.tokens.filter(({ stem, word }) => !isGrammar(word) && stems.has(stem))
  }

  /** A text such as a query is composed if each word is said or is one of the tool's own, and a value is said. */
  #isComposed(value: string): boolean {
    if (!/\s/.test(value.trim())) return false
    const isSyntax = findSlots(value).some(({ kind }) => kind === 'sql')
    const words = value.match(/[\p{L}\p{N}_]+/gu) ?? []
    const unsaid = words.filter((word) => {
      const parts = plainWords(word)
      return !parts.every((part) => isGrammar(part) || this.#hasWord(part))
    })
    const isOwn = (word: string) =>
      (isSyntax && /^[A-Z]+$/.test(word)) ||
      plainWords(word).every((part) => this.#isToolWord(part))
    const isAnySaid = words.some((word) => !isGrammar(word.toLowerCase()) && !unsaid.includes(word))
    return isAnySaid && unsaid.every((word) => !/\d/.test(word) && isOwn(word))
  }

  #isToolWord(word: string): boolean {
    return this.reading.hasWord(word)
  }

  /** The typed pieces, the labelled values, and with `words` also the plain words, that no value has. */
  unplaced(words: boolean): string[] {
    const left = words ? [...this.#leftWords(), ...this.#repeated()] : []
    const pieces = this.reading.tokens
      .filter((token) => left.includes(token) || (token.kind && !this.#isCarried(token)))
      .map(({ text }) => text)
    const labelled = [...this.#byWords.values()].filter(
      ({ parameter, value, rule }) =>
        (labelRules.has(rule) || rule === 'a choice of the schema') &&
        !Object.hasOwn(this.#params, parameter) &&
        (value === true ||
          !leavesOf('', value).every((leaf) => this.#hasPlaced(String(leaf.value)))),
    )
    return [...new Set([...pieces, ...labelled.map(({ text }) => text)])]
  }

  /** Pieces and words that the request says more often than the values have them: `HEAD` of `diff HEAD~1 HEAD`. */
  #repeated(): Token[] {
    const open = this.reading.tokens.filter(
      (token) => !this.reading.isOfTool(token) && !namingWords.has(token.word),
    )
    return [...Map.groupBy(open, ({ word }) => word)].flatMap(([word, tokens]) => {
      const [first] = tokens
      const counts = this.#leaves.map(({ value }) => occurrences(word, String(value)))
      const placed = counts.reduce((sum, count) => sum + count, 0)
      return first && tokens.length > 1 && placed > 0 && placed < tokens.length ? [first] : []
    })
  }

  #hasPlaced(value: string): boolean {
    return plainWords(value).every((word) => this.#placed.has(stemOf(word)))
  }

  /** Whether values have a piece, or each of its parts: `octo/hello` is an owner and a repository. */
  #isCarried(token: Token): boolean {
    const { text, negated } = token
    if (this.reading.isOfTool(token) && !negated) return true
    const values = this.#leaves.map(({ value }) => String(value))
    if (values.some((value) => occursIn(text, value) || derivesFrom(value, text))) return true
    if (values.some((value) => derivesFrom(value, this.#text, text))) return true
    const parts = text.split(/[^\p{L}\p{N}]+|(?<=\d)[x×](?=\d)/u).filter((part) => part !== '')
    return parts.length > 1 && parts.every((part) => this.#hasPlaced(part))
  }

  /** Plain words that no value has and that are neither the tool's words nor grammar. */
  #left(reading = this.reading): Token[] {
    return this.reading.tokens.filter((token) => {
      if (token.kind !== undefined || namingWords.has(token.word)) return false
      if (this.#hasPlaced(token.word)) return false
      return token.negated || !(reading.isKnown(token) || this.#isVerbOfValue(token))
    })
  }

  /** Whether the first word says what a given value does: `assign` an assignee, `rename` to a name, `set the title … to`. */
  #isVerbOfValue(token: Token): boolean {
    if (token !== this.reading.first) return false
    const given = this.reading.parameters.filter(({ name }) => Object.hasOwn(this.#params, name))
    const bare = token.word.replace(/^re(?=\p{L}{4})/u, '')
    const isOf = (word: string) => word === bare || (bare.length > 3 && word.startsWith(bare))
    return given.some((one) => one.words.some(isOf) || this.#isSetTo(one))
  }

  /** Whether the request has a word of a parameter's name, and later `to` before its value. */
  #isSetTo({ name, words }: Parameter): boolean {
    const { tokens } = this.reading
    const texts = textsOf(this.#params[name] ?? null)
    const label = tokens.findIndex((token) => !token.kind && words.includes(token.word))
    return tokens.slice(label + 1).some(({ word, at }) => {
      const next = tokens[at + 1]
      return label >= 0 && word === 'to' && next && texts.some((text) => text.startsWith(next.text))
    })
  }

  /** The words that neither a value, nor the tool, nor another parameter with a value explains. */
  #unexplained(parameter: Parameter | undefined): Token[] {
    const others = this.reading.parameters.filter(
      (one) => one.name !== parameter?.name && Object.hasOwn(this.#params, one.name),
    )
    const explained = new Set(
      others.flatMap((one) => this.#tokensOf(`${one.name} ${one.description}`)),
    )
    return this.#left(this.#bare).filter((token) => !explained.has(token))
  }

  #leftWords(): Token[] {
    const agreed = [...this.#byWords.values()].flatMap(({ parameter, value, text }) =>
      isDeepStrictEqual(value, this.#params[parameter]) ? plainWords(text) : [],
    )
    const open = this.reading.open()
    const defaults = open.flatMap(({ default: value }) => (typeof value === 'string' ? value : []))
    const unsaid = open.flatMap((one) => choicesOf(one).map(String)).concat(defaults)
    const isOpenChoice = (token: Token) =>
      token.kind === undefined &&
      unsaid.includes(token.word) &&
      !isGrammar(token.word) &&
      !this.reading.name.includes(token.word)
    const isOpen = (token: Token) => isOpenChoice(token) || quantifiers.has(token.word)
    const openChoices = this.reading.tokens.filter(
      (token) => isOpen(token) && !this.#hasPlaced(token.word),
    )
    return [...this.#left(), ...openChoices].filter(
      ({ text, word }) =>
        !agreed.includes(word) &&
        !this.#leaves.some(({ value }) => derivesFrom(String(value), this.#text, text)),
    )
  }

  questions(): string[] {
    if (!this.#mayChange || saysItReads(this.reading.tool)) return []
    const conditions = this.reading.conditions().filter((word) => !this.#hasPlaced(word))
    const report = 'The request asks or reports something, and the call may change something.'
    return [
      ...(this.reading.isOnlyAbout() ? [report] : []),
      ...reservation([...conditions, ...this.reading.otherSenses()]),
      ...this.#misread(),
    ]
  }

  /** Why a value may be a misread part of the request: a word that names something else, or a piece used before. */
  #misread(): string[] {
    const names = Object.keys(this.#params).filter((name) => {
      const value = this.#params[name] ?? null
      const parameter = this.#parameter(name)
      const isFree = !this.#byWords.has(name) && parameter && choicesOf(parameter).length === 0
      const isWord = isFree && textsOf(value).some((text) => this.#isOtherWord(text, parameter))
      return isWord || this.#isUsedTwice(value)
    })
    return names.slice(0, 1).map((name) => `It is not certain that the request says ${name}.`)
  }

  /** Whether a text is only a verb or a label of the request: `due` of `set the due date` for the name of a card. */
  #isOtherWord(text: string, parameter: Parameter): boolean {
    const { tokens, first } = this.reading
    const places = tokens.filter((token) => token.text === text)
    const isOther = (token: Token) => {
      const before = tokens[token.at - 1]
      const after = tokens[token.at + 1]
      const isInitials = wordsOfInitials(token.text, this.reading.name).length > 0
      if (token.kind || !(isInitials || /^\p{Ll}+$/u.test(token.text))) return false
      if (before && (parameter.words.includes(before.word) || namingWords.has(before.word)))
        return false
      const isTarget = before && ['to', 'as'].includes(before.word) && !after?.kind
      return !isTarget && (token === first || this.reading.isKnown(token))
    }
    return places.length > 0 && places.every(isOther)
  }

  /** Whether values have a piece more often than the request: `octo/hello` for the owner, and `hello` for the repository. */
  #isUsedTwice(value: JsonValue): boolean {
    const all = this.#leaves.map((leaf) => String(leaf.value))
    return textsOf(value).some((text) => {
      const said = occurrences(text, this.#text)
      const used = all.reduce((sum, one) => sum + occurrences(text, one), 0)
      return said > 0 && used > said
    })
  }

  /** Two values that the schema would accept in each other's place, and the words do not say which is which. */
  exchangeable(): string[] {
    const open = this.reading.parameters.filter(({ name }) => {
      const value = this.#params[name]
      const byWords = this.#byWords.get(name)
      const isText = value !== undefined && textsOf(value).length > 0
      const isLabelled = byWords !== undefined && labelRules.has(byWords.rule)
      return isText && !(isLabelled && isDeepStrictEqual(byWords.value, value))
    })
    const pairs = open.flatMap((one, at) =>
      open
        .slice(at + 1)
        .flatMap((other) => (this.#isExchangeable(one, other) ? [[one, other]] : [])),
    )
    return pairs
      .slice(0, 1)
      .map(
        (pair) =>
          `It is not certain which value is ${pair.map(({ name }) => name).join(' and which ')}.`,
      )
  }

  #isExchangeable(one: Parameter, other: Parameter): boolean {
    // What a parameter has says nothing against another value if it does not fit either.
    const accepts = (parameter: Parameter, other: Parameter) =>
      this.#fitsIn(parameter, other) || !this.#fitsIn(parameter, parameter)
    const isTold = this.#isBeside(one, other) || this.#isBeside(other, one)
    return !isTold && accepts(one, other) && accepts(other, one)
  }

  /** Whether a parameter accepts the value that a parameter has. */
  #fitsIn(parameter: Parameter, { name }: Parameter): boolean {
    const texts = textsOf(this.#params[name] ?? null)
    const isName = (text: string) =>
      this.reading.tokens.some(
        ({ kind, text: piece }) => piece === text && kind && isOtherThanId(parameter, kind, text),
      )
    return texts.every((text) => !isName(text) && fits(text, parameter.items ?? parameter))
  }

  /** Whether a value, and not the other one, follows a word that only its parameter has: `calendar primary`. */
  #isBeside(one: Parameter, other: Parameter): boolean {
    const own = one.words.filter((word) => !other.words.includes(word)).map(stemOf)
    const isLabel = (token: Token | undefined) => token !== undefined && own.includes(token.stem)
    const labels = this.#beforeValues(one)
    return labels.length > 0 && labels.every(isLabel) && !this.#beforeValues(other).some(isLabel)
  }

  /** The token before each place of a parameter's value. */
  #beforeValues({ name }: Parameter): (Token | undefined)[] {
    const texts = textsOf(this.#params[name] ?? null)
    const places = this.reading.tokens.filter(({ text }) => texts.includes(text))
    return places.map(({ at }) => this.reading.tokens[at - 1])
  }

  #parameter(name: string): Parameter | undefined {
    return this.reading.parameters.find((one) => one.name === name)
  }
}

function leavesOf(name: string, value: JsonValue): Leaf[] {
  if (isList(value)) return value.flatMap((item) => leavesOf(name, item))
  if (!isObject(value)) return [{ name, value }]
  return Object.entries(value).flatMap(([key, member]) => leavesOf(key, member))
}

/** The texts and numbers of a value or a list. */
function textsOf(value: JsonValue): string[] {
  if (isList(value)) return value.flatMap(textsOf)
  return typeof value === 'string' || typeof value === 'number' ? [plainText(value)] : []
}

function isRequiredDefault(value: JsonValue, parameter: Parameter | undefined): boolean {
  return parameter?.required === true && isDeepStrictEqual(parameter.default, value)
}

/** Whether a text contains a piece that does not end inside a word or a number. */
function occursIn(piece: string, text: string): boolean {
  return occurrences(piece, text) > 0
}

function occurrences(piece: string, text: string): number {
  if (piece === '') return 0
  const [lower, wanted] = [text.toLowerCase(), piece.toLowerCase()]
  const isWord = (at: number): boolean => /[\p{L}\p{N}]/u.test(lower.charAt(at))
  const isInside = (outer: number, inner: number) =>
    isWord(outer) && isWord(inner) && isDigit(lower, outer) === isDigit(lower, inner)
  let count = 0
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
    const end = at + wanted.length
    if (!isInside(at - 1, at) && !isInside(end, end - 1)) count++
  }
  return count
}

function isDigit(text: string, at: number): boolean {
  return /\d/.test(text.charAt(at))
}
