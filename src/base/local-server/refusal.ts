import type { IncomingMessage } from 'node:http'
import type { LocalRoute } from './open-local-server.ts'

/**
 * The HTTP status that a request is refused with; undefined where it may be answered. What comes from
 * elsewhere learns nothing about which paths there are, nor does anybody without the token.
 */
export function refusalOf(
  request: IncomingMessage,
  token: string,
  route: LocalRoute | undefined,
): number | undefined {
  if (isFromElsewhere(request)) return 403
  if (route?.isPublic !== true && !isSame(request.headers.authorization, `Bearer ${token}`)) {
    return 401
  }
  if (route === undefined) return 404
  const { method } = request
  if (![route.method].flat().some((allowed) => allowed === method)) return 405
  // A form of a page can send no such type; asking for leave to send it gets none.
  const isTyped = jsonType.test(request.headers['content-type'] ?? '')
  return method !== 'POST' || isTyped ? undefined : 415
}

const jsonType = /^application\/json(?:; ?charset=utf-8)?$/i

/** Whether it names another host (a name bound to this machine) or comes from a page that is not ours. */
function isFromElsewhere({ headers, headersDistinct, socket }: IncomingMessage): boolean {
  const own = `127.0.0.1:${socket.localPort}`
  const hosts = headersDistinct['host'] ?? []
  const site = headers['sec-fetch-site'] ?? 'none'
  return (
    hosts.length !== 1 ||
    hosts[0] !== own ||
    (headers.origin !== undefined && headers.origin !== `http://${own}`) ||
    (site !== 'none' && site !== 'same-origin')
  )
}

/** Takes as long wherever the first difference is. */
function isSame(given = '', expected: string): boolean {
  const { createHash, timingSafeEqual } = process.getBuiltinModule('node:crypto')
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
