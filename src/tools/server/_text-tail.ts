import type { Mask } from './mask-secrets.ts'

/** Keeps the end of a stream of text. */
export interface TextTail {
  add(chunk: Buffer): void
  /** The last lines, masked, without the escapes that colour a terminal. */
  text(): string
}

const keptBytes = 16_384
const keptLines = 20

export function createTextTail(mask: Mask): TextTail {
  let kept = Buffer.alloc(0)
  let isCut = false
  return {
    add(chunk) {
      const all = Buffer.concat([kept, chunk.subarray(-keptBytes)])
      isCut ||= all.length > keptBytes || chunk.length > keptBytes
      kept = all.length > keptBytes ? all.subarray(all.length - keptBytes) : all
    },
    text() {
      const whole = mask(kept.toString('utf8').replace(escapes, ''))
      const lines = (isCut ? withoutBeginning(whole) : whole).trim().split('\n')
      return lines.slice(-keptLines).join('\n')
    },
  }
}

/** It may begin within a secret, which no mask knows then; of what is kept, half is for that. */
function withoutBeginning(text: string): string {
  const half = text.trimEnd().slice(text.length / 2)
  return half.slice(half.indexOf('\n') + 1)
}

const escapes = /\u001b\[[0-9;]*[A-Za-z]/g
