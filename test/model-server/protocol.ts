import type { IncomingHttpHeaders } from 'node:http'

/** One request as it came over the wire. */
export interface ModelRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** What a protocol answers: one JSON document, or the events of a stream. */
export type ModelAnswer =
  | { kind: 'json'; value: unknown }
  | { kind: 'events'; events: readonly { event?: string; data: unknown }[] }

/** Whether the request asks for a stream in its body. */
export function wantsStream({ body }: ModelRequest): boolean {
  return /"stream"\s*:\s*true/.test(body)
}
