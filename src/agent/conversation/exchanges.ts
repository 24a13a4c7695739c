import type { ModelMessage } from 'ai'

/**
 * A conversation in pieces that can be left out without breaking it: calls of tools stay with their
 * results. Every message is in one piece, in order.
 */
export function exchanges(messages: readonly ModelMessage[]): readonly (readonly ModelMessage[])[] {
  const pieces: ModelMessage[][] = []
  for (const message of messages) {
    const last = pieces.at(-1)
    if (message.role === 'tool' && last !== undefined) last.push(message)
    else pieces.push([message])
  }
  return pieces
}
