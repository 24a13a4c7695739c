import { StringDecoder } from 'node:string_decoder'

/** What was kept of a stream: its beginning and its end; the bytes between are only counted. */
export interface CapturedOutput {
  head: string
  /** Empty unless something was left out; then the last bytes, beginning at a line where possible. */
  tail: string
  totalBytes: number
  droppedBytes: number
}

export interface Capture {
  add(chunk: Buffer): void
  finish(): CapturedOutput
}

/** Collects a stream in at most `limit` bytes: half of them from the start, half from the end. */
export function createCapture(limit: number): Capture {
  const headLimit = Math.ceil(limit / 2)
  const tailLimit = limit - headLimit
  const head: Buffer[] = []
  let tail: Buffer[] = []
  let headBytes = 0
  let tailBytes = 0
  let totalBytes = 0

  function keepInTail(chunk: Buffer): void {
    tail.push(chunk)
    tailBytes += chunk.length
    // Trimmed only now and then, so that a million small writes stay linear.
    if (tailBytes > tailLimit * 2 + 65_536) {
      tail = [lastBytes(Buffer.concat(tail), tailLimit)]
      tailBytes = tail[0]?.length ?? 0
    }
  }

  return {
    add(chunk) {
      totalBytes += chunk.length
      const room = headLimit - headBytes
      if (room > 0) {
        head.push(chunk.subarray(0, room))
        headBytes += Math.min(room, chunk.length)
      }
      if (chunk.length > room) keepInTail(chunk.subarray(Math.max(room, 0)))
    },
    finish() {
      const end = Buffer.concat(tail)
      const kept = lastBytes(end, tailLimit)
      const droppedBytes = totalBytes - headBytes - kept.length
      const start = Buffer.concat(head)
      if (droppedBytes === 0) {
        return {
          head: decode(Buffer.concat([start, kept])),
          tail: '',
          totalBytes,
          droppedBytes,
        }
      }
      return { head: decode(start), tail: fromLineStart(decode(kept)), totalBytes, droppedBytes }
    },
  }
}

/** The kept text in one piece, with a line that says how much is missing. */
export function capturedText(output: CapturedOutput): string {
  if (output.droppedBytes === 0) return output.head
  return `${output.head}\n… ${output.droppedBytes} bytes left out …\n${output.tail}`
}

function lastBytes(bytes: Buffer, count: number): Buffer {
  return bytes.length > count ? bytes.subarray(bytes.length - count) : bytes
}

/** Bytes that are no UTF-8 become U+FFFD; a character cut at the end is dropped. */
function decode(bytes: Buffer): string {
  return new StringDecoder('utf8').write(bytes)
}

function fromLineStart(text: string): string {
  const newline = text.indexOf('\n')
  return newline === -1 ? text : text.slice(newline + 1)
}
