import { findSlots, maxRequestLength, type Slot, type SlotKind } from '../parameters/slots.ts'
import { abbreviations } from './abbreviations.ts'
import { weakWords } from './stop-words.ts'
import { weights } from './weights.ts'
import { plainWords, scoredForm, scoredWords } from './words.ts'

/** A request as it is scored. */
export interface RequestWords {
  /** Scored form and weight, in the order of their first place; each word once. */
  words: ReadonlyMap<string, number>
  /** Words of the manners of asking: they stand for no subject. */
  weak: ReadonlySet<string>
  /** How a word was first written, by its scored form. */
  spelled: ReadonlyMap<string, string>
  slots: readonly Slot[]
  intent: readonly string[]
}

/** Reads at most {@link maxRequestLength} characters and {@link mostWords} different words. */
export function readWords(request: string): RequestWords {
  const text = request.slice(0, maxRequestLength)
  const slots = findSlots(text)
  const words = new Map<string, number>()
  const weak = new Set<string>()
  const spelled = new Map<string, string>()
  const intent: string[] = []
  const put = (word: string, weight: number): void => {
    if (words.size < mostWords || words.has(word)) {
      words.set(word, Math.max(words.get(word) ?? 0, weight))
    }
  }
  for (const piece of pieces(text, slots)) {
    const phrases = new Phrases(intent)
    for (const plain of plainWords(piece.text)) {
      const word = scoredForm(plain)
      if (!spelled.has(word) && spelled.size < mostWords) spelled.set(word, plain)
      if (word === '') phrases.end()
      else if (weakWords.has(plain)) {
        weak.add(word)
        put(word, weights.weakWord * piece.weight)
        phrases.end()
      } else {
        put(word, piece.weight)
        for (const meant of expanded(plain)) put(meant, weights.abbreviation * piece.weight)
        if (piece.weight === 1) phrases.add(plain)
      }
    }
    phrases.end()
    for (const word of piece.kind === undefined ? [] : kindWords[piece.kind]) {
      put(word, weights.typedKind)
    }
  }
  return { words, weak, spelled, slots, intent }
}

/** What people say before an address when they want its page; tools call it to navigate. */
const going =
  /(?<![\p{L}\p{N}])(?:(?:go|head|jump|browse|surf)(?: over)? to|browse|open(?: up)?|visit)(?=(?: the)?(?: (?:web ?)?(?:page|site|address|url))?(?: at)?\s*$)/iu
/** An address that is not to take the place of the page that is open. */
const elsewhere = /^\s*in (?:a|another) (?:new )?(?:tab|window)/i

function expanded(word: string): readonly string[] {
  const meant = abbreviations.get(word)
  return meant === undefined ? [] : scoredWords(meant)
}

const mostWords = 256
const mostPhrases = 16

/** What a piece whose form has one meaning says of the tool that takes it, in the scored form. */
const kindWords: Record<SlotKind, readonly string[]> = {
  quoted: [],
  url: ['url'],
  email: ['email'],
  sql: ['sql', 'queri'],
  repository: [],
  path: [],
  date: [],
  size: [],
  uid: [],
  number: [],
  identifier: [],
}

/** Pieces whose words are values and say little about the tool. */
const values: ReadonlySet<SlotKind> = new Set([
  'url',
  'email',
  'sql',
  'repository',
  'path',
  'date',
  'size',
  'uid',
  'number',
])

interface Piece {
  text: string
  weight: number
  kind?: SlotKind | undefined
}

/** The text cut at its values; other typed pieces are text. */
function* pieces(text: string, slots: readonly Slot[]): Generator<Piece> {
  let from = 0
  for (const { kind, start, end } of slots) {
    if (!values.has(kind) || start < from) continue
    const before = text.slice(from, start)
    const isGone = kind === 'url' && !elsewhere.test(text.slice(end, end + 100))
    yield { text: isGone ? before.replace(going, 'navigate to') : before, weight: 1 }
    yield { text: text.slice(start, end), weight: weights.typedPiece, kind }
    from = end
  }
  yield { text: text.slice(from), weight: 1 }
}

/** Neighbouring words that carry meaning, as the seed's trace shows them: `login page`. */
class Phrases {
  private words: string[] = []
  private readonly found: string[]

  constructor(found: string[]) {
    this.found = found
  }

  add(word: string): void {
    this.words.push(word)
    if (this.words.length === 4) this.end()
  }

  end(): void {
    const phrase = this.words.join(' ')
    this.words = []
    if (phrase === '' || this.found.length >= mostPhrases || this.found.includes(phrase)) return
    this.found.push(phrase)
  }
}
