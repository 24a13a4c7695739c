import { isUtf8 } from 'node:buffer'
import {
  blanksAndLineEnds,
  forward,
  lineEnds,
  markOf,
  peek,
  type StrictCursor,
  StrictFailure,
} from './cursor.ts'
import { createToken, type Token } from './token.ts'

const uriCharacter = /^[0-9A-Za-z\-;/?:@&=+$,_.!~*'()[\]%#]$/
const handleCharacter = /^[0-9A-Za-z_-]$/

/** `&name` or `*name`. It is refused later; here only what is no name at all. */
export function scanAnchor(cursor: StrictCursor, kind: 'alias' | 'anchor'): Token {
  const start = markOf(cursor)
  forward(cursor)
  let length = 0
  while (!' \t\n\0\u0085,[]{}\uFEFF'.includes(peek(cursor, length))) length++
  forward(cursor, length)
  if (length === 0 || peek(cursor) === '\uFEFF') {
    throw new StrictFailure('syntax', `expected a name for the ${kind}`, cursor)
  }
  return createToken(kind, start, markOf(cursor))
}

/** A tag in any of its forms: `!<uri>`, `!`, `!handle!suffix`, `!suffix`. */
export function scanTag(cursor: StrictCursor): Token {
  const start = markOf(cursor)
  if (peek(cursor, 1) === '<') {
    forward(cursor, 2)
    skipUri(cursor)
    expect(cursor, '>')
  } else if (blanksAndLineEnds.includes(peek(cursor, 1))) {
    forward(cursor)
  } else {
    skipHandle(cursor)
    skipUri(cursor)
  }
  if (peek(cursor) !== ' ' && !lineEnds.includes(peek(cursor))) {
    throw new StrictFailure('syntax', "expected ' ' behind a tag", cursor)
  }
  return createToken('tag', start, markOf(cursor))
}

/** `!` alone, or up to a second `!` where one follows before the next blank. */
function skipHandle(cursor: StrictCursor): void {
  let length = 1
  while (peek(cursor, length) !== ' ' && !lineEnds.includes(peek(cursor, length))) {
    if (peek(cursor, length) === '!') return skipNamedHandle(cursor)
    length++
  }
  forward(cursor)
}

function skipNamedHandle(cursor: StrictCursor): void {
  forward(cursor)
  while (handleCharacter.test(peek(cursor))) forward(cursor)
  expect(cursor, '!')
}

function skipUri(cursor: StrictCursor): void {
  const from = cursor.index
  while (uriCharacter.test(peek(cursor))) {
    if (peek(cursor) === '%') skipEscapes(cursor)
    else forward(cursor)
  }
  if (cursor.index === from) throw new StrictFailure('syntax', 'expected a URI in a tag', cursor)
}

function skipEscapes(cursor: StrictCursor): void {
  const bytes: number[] = []
  while (peek(cursor) === '%') {
    const digits = peek(cursor, 1) + (peek(cursor, 1) === '\0' ? '' : peek(cursor, 2))
    if (!/^[0-9A-Fa-f]{2}$/.test(digits)) {
      throw new StrictFailure('syntax', 'expected two hexadecimal numbers in a tag', cursor)
    }
    bytes.push(Number.parseInt(digits, 16))
    forward(cursor, 3)
  }
  if (!isUtf8(Uint8Array.from(bytes))) {
    throw new StrictFailure('syntax', 'the escapes in a tag are no UTF-8', cursor)
  }
}

function expect(cursor: StrictCursor, character: string): void {
  if (peek(cursor) !== character) {
    throw new StrictFailure('syntax', `expected '${character}' in a tag`, cursor)
  }
  forward(cursor)
}
