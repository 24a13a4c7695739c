import type { IncomingMessage } from 'node:http'

export interface ReadBodyOptions {
  /** Bytes; default 1 MiB. */
  largestBody?: number | undefined
}

/** A request that is answered with an HTTP status alone. */
export class RequestRefused extends Error {
  readonly status: number

  constructor(status: number) {
    super(`HTTP ${status}`)
    this.status = status
  }
}

/**
 * The JSON that was sent; `{}` for nothing.
 * @throws {RequestRefused} 413 for too much, 400 for what is no JSON.
 */
export async function readJsonBody(
  request: IncomingMessage,
  { largestBody = 1_048_576 }: ReadBodyOptions,
): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > largestBody) throw new RequestRefused(413)
  const parts: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    const part = Buffer.from(chunk)
    bytes += part.length
    if (bytes > largestBody) throw new RequestRefused(413)
    parts.push(part)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8') || '{}')
    return value
  } catch {
    throw new RequestRefused(400)
  }
}
