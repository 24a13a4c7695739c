import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createZstdDecompress } from 'node:zlib'
import { isObject, type JsonObject, parseJson } from '#core/json'
import { withoutMark } from '#core/text'

/** A JSON object; undefined for a line that is not one, is not UTF-8, is cut off, or is too long. */
export type JsonLine = JsonObject | undefined

/** Some lines contain pictures. */
export const maxLineBytes = 64 * 1024 * 1024

/**
 * Reads a file of JSON lines that can be larger than the memory, also a compressed one (`.zst`). Empty lines
 * are left out. Throws the system
 * error, and an error if the file is not regular.
 */
export async function* jsonLines(path: string, maxBytes = maxLineBytes): AsyncGenerator<JsonLine> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    if (!(await file.stat()).isFile()) throw new Error('it is not a regular file')
    const bytes = file.createReadStream({ highWaterMark: 1 << 20, autoClose: false })
    const chunks = path.endsWith('.zst')
      ? pipeline(bytes, createZstdDecompress(), () => undefined)
      : bytes
    for await (const line of linesOf(chunks, maxBytes)) {
      if (line === tooLong) yield undefined
      else if (line.length > 0) yield* jsonLine(line)
    }
  } finally {
    await file.close()
  }
}

const tooLong = Symbol('too long')
const lineFeed = 10

async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Buffer | typeof tooLong> {
  let parts: Buffer[] = []
  let size = 0
  const add = (part: Buffer): void => {
    size += part.length
    if (size <= maxBytes) parts.push(part)
    else parts = []
  }
  const take = (): Buffer | typeof tooLong => {
    const line = size > maxBytes ? tooLong : Buffer.concat(parts)
    parts = []
    size = 0
    return line
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      add(chunk.subarray(start, end))
      yield take()
      start = end + 1
    }
    add(chunk.subarray(start))
  }
  yield take()
}

function* jsonLine(bytes: Buffer): Generator<JsonLine> {
  if (!isUtf8(bytes)) return yield undefined
  const text = withoutMark(bytes.toString()).trim()
  if (text === '') return
  const value = parseJson(text)
  yield isObject(value) ? value : undefined
}
