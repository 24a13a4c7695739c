import { splitLines } from '../../../src/tools/server/open-stdio.ts'
import { demand, same } from '../target.ts'

export const name = 'lines'
export const seeds: readonly string[] = [
  '\u0003\u0040{"jsonrpc":"2.0"}\n{"id":1}\r\n\nrest',
  '\u0001\u0004é😀long line over the limit\nshort\n',
  '\u0007\u0002\r\n\r\r\n\n',
]
export const words: readonly string[] = ['\n', '\r\n', '\r', 'é', '\0']

/** The same lines however the stream is cut; never more of a line than the limit. */
export function fuzz(data: Uint8Array): void {
  const size = 1 + ((data[0] ?? 0) % 16)
  const limit = 1 + (data[1] ?? 0)
  const stream = Buffer.from(data.subarray(2))
  const whole = linesOf([stream], limit)
  const pieces = Array.from({ length: Math.ceil(stream.length / size) }, (_, at) =>
    stream.subarray(at * size, (at + 1) * size),
  )
  demand(same(linesOf(pieces, limit), whole), 'other lines when it is cut', size, limit)
  const expected = stream.toString('latin1').split('\n').slice(0, -1)
  const kept = expected.flatMap((line): (string | number)[] => {
    if (line.length > limit) return [line.length]
    const text = Buffer.from(line.replace(/\r$/, ''), 'latin1').toString('utf8')
    return text === '' ? [] : [text]
  })
  demand(same(whole, kept), 'other lines than those of the stream', whole, kept)
}

/** Texts of lines, and the lengths of those that were dropped. */
function linesOf(chunks: readonly Buffer[], limit: number): (string | number)[] {
  const lines: (string | number)[] = []
  const add = splitLines(
    limit,
    (text) => {
      demand(text.length <= limit, 'a line over the limit', text.length)
      lines.push(text)
    },
    (ends, bytes) => {
      demand(ends.length <= 1024, 'more than the ends', bytes)
      lines.push(bytes)
    },
  )
  for (const chunk of chunks) add(chunk)
  return lines
}
