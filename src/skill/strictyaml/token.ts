import type { Mark } from './cursor.ts'

export type TokenKind =
  | 'stream-start'
  | 'stream-end'
  | 'directive'
  | 'document-end'
  | 'sequence-start'
  | 'mapping-start'
  | 'block-end'
  | 'flow-start'
  | 'flow-end'
  | 'flow-entry'
  | 'block-entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'
  | 'comment'

export interface Token {
  kind: TokenKind
  start: Mark
  end: Mark
  text: string
  /** A plain scalar; quoted and block scalars are not. */
  plain: boolean
  comment: CommentSlots | undefined
}

/**
 * Whether a comment is attached behind and before a token. The reference validator carries comments
 * along and ends with an exception where two of them claim one place, which decides its verdict.
 */
export interface CommentSlots {
  after: boolean
  before: boolean
}

export function createToken(kind: TokenKind, start: Mark, end: Mark, text = ''): Token {
  return { kind, start, end, text, plain: false, comment: undefined }
}
