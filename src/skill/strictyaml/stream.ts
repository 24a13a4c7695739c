import { StrictFailure } from './cursor.ts'
import { fetchMoreTokens, needsMoreTokens } from './scanner.ts'
import type { StrictScanner } from './state.ts'
import type { Token, TokenKind } from './token.ts'

const refusals: Partial<Record<TokenKind, { kind: 'tag' | 'flow' | 'anchor'; message: string }>> = {
  tag: { kind: 'tag', message: 'Found disallowed tag tokens (do not specify types in markup)' },
  'flow-start': {
    kind: 'flow',
    message:
      "Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally)",
  },
  anchor: {
    kind: 'anchor',
    message:
      "Found confusing disallowed anchor token (surround with ' and ' to make text appear literally)",
  },
}

/** Whether the next token is of one of the kinds. Tags, flow collections and anchors end here. */
export function nextIs(scanner: StrictScanner, ...kinds: readonly TokenKind[]): boolean {
  const token = peekToken(scanner)
  if (!kinds.includes(token.kind)) return false
  const refusal = refusals[token.kind]
  if (refusal !== undefined) throw new StrictFailure(refusal.kind, refusal.message, token.start)
  return true
}

export function peekToken(scanner: StrictScanner): Token {
  fillTokens(scanner)
  gatherComments(scanner)
  return firstToken(scanner)
}

export function takeToken(scanner: StrictScanner): Token {
  fillTokens(scanner)
  gatherComments(scanner)
  const token = firstToken(scanner)
  if (token.kind === 'scalar' || token.kind === 'value' || token.kind === 'flow-end') {
    attachFollowingComments(scanner, token)
  }
  scanner.tokensTaken++
  scanner.tokens.shift()
  return token
}

/** Hands the comments of a taken token on to the next one; two claims on one place are a crash. */
export function moveComment(token: Token, target: Token): void {
  const { comment } = token
  if (comment === undefined || target.kind === 'stream-end') return
  token.comment = undefined
  if (target.comment === undefined) {
    target.comment = comment
    return
  }
  const overlap =
    (comment.after && target.comment.after) || (comment.before && target.comment.before)
  if (overlap) throw new StrictFailure('crash', 'two comments claim one place', target.start)
  target.comment.after ||= comment.after
  target.comment.before ||= comment.before
}

function fillTokens(scanner: StrictScanner): void {
  while (needsMoreTokens(scanner)) fetchMoreTokens(scanner)
}

function firstToken(scanner: StrictScanner): Token {
  const token = scanner.tokens[0]
  if (token === undefined) throw new StrictFailure('crash', 'no token is left', scanner.cursor)
  return token
}

function gatherComments(scanner: StrictScanner): void {
  let gathered = takeComment(scanner)
  while (needsMoreTokens(scanner)) {
    fetchMoreTokens(scanner)
    gathered = takeComment(scanner) || gathered
  }
  if (gathered) {
    const token = firstToken(scanner)
    if (token.comment?.before === true) {
      throw new StrictFailure('crash', 'two comments claim one place', token.start)
    }
    token.comment = { after: token.comment?.after ?? false, before: true }
  }
  if (!scanner.done && scanner.tokens.length < 2) fetchMoreTokens(scanner)
}

function takeComment(scanner: StrictScanner): boolean {
  if (scanner.tokens[0]?.kind !== 'comment') return false
  scanner.tokens.shift()
  scanner.tokensTaken++
  return true
}

function attachFollowingComments(scanner: StrictScanner, token: Token): void {
  const next = scanner.tokens[1]
  if (next?.kind !== 'comment') return
  if (token.kind !== 'scalar' && token.end.line !== next.start.line) return
  do {
    scanner.tokensTaken++
    scanner.tokens.splice(1, 1)
    fetchMoreTokens(scanner)
  } while (scanner.tokens[1]?.kind === 'comment')
  token.comment = { after: true, before: token.comment?.before ?? false }
}
