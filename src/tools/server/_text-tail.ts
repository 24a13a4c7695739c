/** Keeps the end of a stream of text. */
export interface TextTail {
  add(chunk: Buffer): void
  /** The last lines, without the escapes that colour a terminal. */
  text(): string
}

const keptBytes = 8192
const keptLines = 20

export function createTextTail(): TextTail {
  let kept = Buffer.alloc(0)
  return {
    add(chunk) {
      const all = Buffer.concat([kept, chunk.subarray(-keptBytes)])
      kept = all.length > keptBytes ? all.subarray(all.length - keptBytes) : all
    },
    text() {
      const lines = kept.toString('utf8').trim().split('\n')
      return lines.slice(-keptLines).join('\n').replace(escapes, '')
    },
  }
}

const escapes = /\u001b\[[0-9;]*[A-Za-z]/g
