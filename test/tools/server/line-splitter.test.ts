import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitLines } from '../../../src/tools/server/open-stdio.ts'

function split(chunks: readonly Buffer[], limit: number): { lines: string[]; dropped: number[] } {
  const lines: string[] = []
  const dropped: number[] = []
  const feed = splitLines(
    limit,
    (text) => lines.push(text),
    (_ends, bytes) => dropped.push(bytes),
  )
  for (const chunk of chunks) feed(chunk)
  return { lines, dropped }
}

describe('lines of a stream', () => {
  it('are the same for all boundaries of its chunks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' })),
        fc.integer({ min: 1, max: 9 }),
        (texts, size) => {
          const wanted = texts
            .map((text) => text.replace(/[\r\n]/g, ''))
            .filter((text) => text !== '')
          const bytes = Buffer.from(wanted.map((text) => `${text}\n`).join(''))
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
            bytes.subarray(index * size, (index + 1) * size),
          )
          expect(split(chunks, 10_000).lines).toEqual(wanted)
        },
      ),
    )
  })

  it('end with a line feed, or with a carriage return before it', () => {
    expect(split([Buffer.from('a\r\n\r\n\nb\nc')], 10).lines).toEqual(['a', 'b'])
  })

  it('over the limit are dropped, and later lines are not', () => {
    const long = Buffer.from('x'.repeat(25))
    expect(split([long, long, Buffer.from('\nshort\n'), long, Buffer.from('\n')], 20)).toEqual({
      lines: ['short'],
      dropped: [50, 25],
    })
  })
})
