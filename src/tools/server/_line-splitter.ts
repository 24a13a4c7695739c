export interface LineListener {
  line(text: string, bytes: number): void
  /** A line over the limit was dropped; head and tail are its first and last bytes. */
  dropped(line: { head: string; tail: string; bytes: number }): void
}

const keptEnds = 512

/** Cuts a stream into lines without ever holding more than `limit` bytes of one. */
export function splitLines(limit: number, listener: LineListener): (chunk: Buffer) => void {
  let parts: Buffer[] = []
  let bytes = 0
  let overflow: { head: string; tail: Buffer } | undefined

  function add(part: Buffer): void {
    bytes += part.length
    if (overflow !== undefined) {
      overflow.tail = Buffer.concat([overflow.tail, part.subarray(-keptEnds)]).subarray(-keptEnds)
      return
    }
    parts.push(part)
    if (bytes <= limit) return
    const whole = Buffer.concat(parts)
    parts = []
    overflow = {
      head: whole.toString('utf8', 0, keptEnds),
      tail: Buffer.from(whole.subarray(-keptEnds)),
    }
  }

  function finish(): void {
    if (overflow !== undefined) {
      listener.dropped({ head: overflow.head, tail: overflow.tail.toString('utf8'), bytes })
    } else {
      const [only] = parts
      const line = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
      const end = line.at(-1) === 13 ? line.length - 1 : line.length
      if (end > 0) listener.line(line.toString('utf8', 0, end), bytes)
    }
    parts = []
    bytes = 0
    overflow = undefined
  }

  return (chunk) => {
    let start = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, at))
      finish()
      start = at + 1
    }
    if (start < chunk.length) add(chunk.subarray(start))
  }
}
