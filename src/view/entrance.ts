import type { LocalRoute } from '../base/index.ts'

/** A way to the token for whoever comes first with a code. */
export interface Entrance {
  /** A new code, which is good for one use. */
  invite(invitation?: Invitation): string
  route: LocalRoute
}

export interface Invitation {
  /** Default: as long as the entrance. */
  lifetimeMs?: number | undefined
  /** Called when somebody has come in with it. */
  onUsed?: (() => void) | undefined
}

/**
 * What an address has in the place of the token: the arguments of a browser can be read by other users
 * of this machine and its history keeps every address, but a code that was used is worth nothing.
 */
export function openEntrance(token: string, now: () => number): Entrance {
  const { randomBytes, timingSafeEqual } = process.getBuiltinModule('node:crypto')
  const invited = new Map<string, { end: number; onUsed: (() => void) | undefined }>()
  return {
    invite({ lifetimeMs = Number.POSITIVE_INFINITY, onUsed } = {}) {
      const code = randomBytes(32).toString('hex')
      invited.set(code, { end: now() + lifetimeMs, onUsed })
      return code
    },
    route: {
      method: 'POST',
      isPublic: true,
      answer(body, response) {
        const given = Buffer.from(codeIn(body))
        const code = [...invited.keys()].find(
          (one) => one.length === given.length && timingSafeEqual(given, Buffer.from(one)),
        )
        const invitation = code === undefined ? undefined : invited.get(code)
        if (code !== undefined) invited.delete(code)
        const isGood = invitation !== undefined && now() < invitation.end
        response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' })
        response.end(isGood ? JSON.stringify({ token }) : '{}')
        if (isGood) invitation.onUsed?.()
      },
    },
  }
}

function codeIn(body: unknown): string {
  if (typeof body !== 'object' || body === null || !('code' in body)) return ''
  return typeof body.code === 'string' ? body.code : ''
}
