import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isObject } from '../../core/json.ts'
import type { KeptProcess } from '../../exec/kept-process.ts'
import { noteSent, type SentCalls, unusableAnswer } from './read-answers.ts'

interface StdioTransportOptions {
  process: KeptProcess
  sent: SentCalls
  /** Bytes of one message; a longer one is dropped and its call fails. */
  messageLimit: number
  parse: (value: unknown) => JSONRPCMessage
  onGarbage: (line: string) => void
}

/** How long output may still come after the server itself has ended. */
const drainMs = 250

/**
 * The protocol over the pipes of a process: one message a line. Unlike the official one it takes an
 * answer of any size in linear time, survives one that is too large, and sees the end of a server
 * whose children hold its pipes open.
 */
export function stdioTransport(options: StdioTransportOptions): Transport {
  const { process, sent, messageLimit, parse, onGarbage } = options
  const waiting = new Set<string | number>()
  let isClosed = false
  const transport: Transport = {
    async start() {
      const read = splitLines(messageLimit, receive, refuse)
      process.stdout.on('data', read)
      process.stdout.on('end', closed)
      void process.ended.then(() => setTimeout(closed, drainMs).unref())
    },
    send(message) {
      noteSent(message, sent)
      if ('method' in message && 'id' in message) waiting.add(message.id)
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      process.stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) reject(error)
        else resolve()
      })
      return promise
    },
    async close() {
      await process.end()
      closed()
    },
  }
  return transport

  function receive(text: string): void {
    let value: unknown
    try {
      value = JSON.parse(text)
      deliver(parse(value))
    } catch {
      const id = isObject(value) && !('method' in value) ? value['id'] : undefined
      const isAwaited = (typeof id === 'string' || typeof id === 'number') && waiting.has(id)
      if (isAwaited) fail(id, 'it is not a result as the protocol knows it')
      else onGarbage(text)
    }
  }

  function deliver(message: JSONRPCMessage): void {
    if ('method' in message) {
      transport.onmessage?.(message)
      return
    }
    if (message.id !== undefined) waiting.delete(message.id)
    // The client takes notes of progress a turn later; its answer must not overtake them.
    queueMicrotask(() => transport.onmessage?.(message))
  }

  function fail(id: string | number, message: string): void {
    deliver({ jsonrpc: '2.0', id, error: { code: unusableAnswer, message } })
  }

  /** @param ends beginning and end of it: the id stands before or after the result */
  function refuse(ends: string, bytes: number): void {
    const named = [...ends.matchAll(/"id"\s*:\s*(\d+)/g)].map(([, id]) => Number(id))
    const [only] = waiting
    const id = waiting.size === 1 ? only : named.find((number) => waiting.has(number))
    if (id === undefined) return
    fail(id, `its answer of ${bytes} bytes is over the limit of ${messageLimit}`)
  }

  function closed(): void {
    if (isClosed) return
    isClosed = true
    transport.onclose?.()
  }
}

const keptEnds = 512

/** Cuts a stream into lines without ever holding more than `limit` bytes of one. */
export function splitLines(
  limit: number,
  onLine: (text: string) => void,
  onDropped?: (ends: string, bytes: number) => void,
): (chunk: Buffer) => void {
  let parts: Buffer[] = []
  let bytes = 0

  function add(part: Buffer): void {
    bytes += part.length
    parts.push(part)
    if (bytes <= limit) return
    const whole = Buffer.concat(parts)
    parts = [whole.subarray(0, keptEnds), whole.subarray(-keptEnds)].map((end) => Buffer.from(end))
  }

  function finish(): void {
    const [only] = parts
    const line = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
    const end = line.at(-1) === 13 ? line.length - 1 : line.length
    const text = line.toString('utf8', 0, end)
    if (bytes > limit) onDropped?.(text, bytes)
    else if (text !== '') onLine(text)
    parts = []
    bytes = 0
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
