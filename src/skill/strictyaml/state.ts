import { createCursor, forward, type Mark, markOf, type StrictCursor } from './cursor.ts'
import { createToken, type Token, type TokenKind } from './token.ts'

/** Where a key without `?` may have begun: its token becomes a key when a `:` follows in time. */
interface PossibleKey {
  tokenNumber: number
  required: boolean
  index: number
  mark: Mark
}

/** The tokens of a document, read as lazily as the reference validator reads them. */
export interface StrictScanner {
  cursor: StrictCursor
  tokens: Token[]
  tokensTaken: number
  done: boolean
  indent: number
  indents: number[]
  keyAllowed: boolean
  /** By flow level. */
  possibleKeys: Map<number, PossibleKey>
  flows: ('[' | '{')[]
}

export function createScanner(text: string): StrictScanner {
  const cursor = createCursor(text)
  if (cursor.characters[0] === '\uFEFF') forward(cursor)
  return {
    cursor,
    tokens: [createToken('stream-start', markOf(cursor), markOf(cursor))],
    tokensTaken: 0,
    done: false,
    indent: -1,
    indents: [],
    keyAllowed: true,
    possibleKeys: new Map(),
    flows: [],
  }
}

/** Adds a token that spans the next `length` characters. */
export function push(scanner: StrictScanner, kind: TokenKind, length: number): void {
  const start = markOf(scanner.cursor)
  forward(scanner.cursor, length)
  scanner.tokens.push(createToken(kind, start, markOf(scanner.cursor)))
}
