import type { JSONRPCMessage } from '@modelcontextprotocol/client'

/** What a transport saw of one call. */
export interface CallRecord {
  /** Whether the request was handed to the server's pipe or socket. */
  sent: boolean
  /** Bytes of the answer; 0 where the transport does not know. */
  size: number
}

/** Follows calls on their way through the client, which keeps the identity of the arguments object. */
export interface CallRecords {
  open(callArguments: object): CallRecord
  sent(message: JSONRPCMessage): void
  received(message: JSONRPCMessage, bytes: number): void
}

export function createCallRecords(): CallRecords {
  const byArguments = new WeakMap<object, CallRecord>()
  const byId = new Map<unknown, CallRecord>()
  return {
    open(callArguments) {
      const record = { sent: false, size: 0 }
      byArguments.set(callArguments, record)
      return record
    },
    sent(message) {
      if (!('method' in message) || message.method !== 'tools/call' || !('id' in message)) return
      const given = message.params?.['arguments']
      const record =
        typeof given === 'object' && given !== null ? byArguments.get(given) : undefined
      if (record === undefined) return
      record.sent = true
      byId.set(message.id, record)
    },
    received(message, bytes) {
      if (!('id' in message) || 'method' in message) return
      const record = byId.get(message.id)
      if (record === undefined) return
      record.size = bytes
      byId.delete(message.id)
    },
  }
}
